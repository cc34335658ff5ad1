# oracle.sh: shell functions shared by the exactness tests; sourced, with $ae the folder of this file.
#
# Every run of a program happens as ./prog in the current directory, with an environment of the same size: AE_OUT of
# three letters and PAD.  An oracle puts the stack elsewhere; PAD moves it so that the distance is a multiple of 64,
# because code that aligns a frame (AVX, alignas) would otherwise see another layout.

top=${SRC:-$(cd "$ae/../.." && pwd)}
bin=${BUILD:-$top/build}/bin
# found out once for all rows of a test
if [ -z "${EXACT_TOOLS-}" ]; then
	if setarch -R true 2>/dev/null; then EXACT_NOASLR="setarch -R"; else EXACT_NOASLR=; fi
	EXACT_TOOLS="$(command -v valgrind):$(command -v env)"
	export EXACT_NOASLR EXACT_TOOLS
fi
noaslr=$EXACT_NOASLR valgrind=${EXACT_TOOLS%:*} env=${EXACT_TOOLS#*:}

# target MACHINE: what it takes to build and run for it, as aecc's --target has it.  Programs of MIPS run under qemu, with
# the options of the oracle, so that all runs have one layout.
target() {
	machine=$1
	case $machine in
	x86-64)
		# aecc is gcc with options that only gcc has
		case ${CC:-} in *clang*) cc=gcc ;; *) cc=${CC:-gcc} ;; esac
		as=as qemu=$(command -v qemu-x86_64) emulate='' qopts='-cpu max -s 67108864' oracles='lackey qemu' ;;
	mipsel | mips)
		cc=$machine-linux-gnu-gcc as=$machine-linux-gnu-as qemu=$(command -v qemu-$machine) oracles='qemu'
		qopts="-L /usr/$machine-linux-gnu -s 67108864" emulate="$qemu $qopts" ;;
	*)
		echo "no target $machine: x86-64, mipsel or mips" >&2
		return 2 ;;
	esac
}

# can: is everything here that the target needs?  If not, say what is missing
can() {
	for _t in $cc valgrind "qemu-$(echo $machine | tr - _)"; do
		[ $_t = valgrind ] && [ $machine != x86-64 ] && continue
		command -v $_t > /dev/null || { echo "$_t is not here"; return 1; }
	done
}

# run AE_OUT PAD program [arg ...]: as users do
run() {
	_out=$1 _pad=$2
	shift 2
	if [ "$emulate" ]; then
		$env -i $noaslr $emulate -E AE_OUT="$_out" -E PAD="$_pad" "$@"
	else
		$env -i AE_OUT="$_out" PAD="$_pad" $noaslr "$@"
	fi
}

# lackey log PAD program [arg ...]: without the optimiser, which drops loads whose value nobody uses
lackey() {
	_log=$1 _pad=$2
	shift 2
	$env -i AE_OUT=off PAD="$_pad" $noaslr "$valgrind" -q --tool=lackey --trace-mem=yes --log-file="$_log" \
	    --vex-iropt-level=0 --vex-guest-chase=no --child-silent-after-fork=yes --main-stacksize=67108864 "$@"
}

# fetchmem file PAD lo-hi program [arg ...]: the qemu-user plugin, for the instructions in [lo, hi)
fetchmem() {
	_ref=$1 _pad=$2 _lo=${3%-*} _hi=${3#*-}
	shift 3
	$env -i $noaslr "$qemu" $qopts -E AE_OUT=off -E PAD="$_pad" \
	    -plugin "$plugin,out=$_ref,lo=$_lo,hi=$_hi" "$@"
}

# captured file PAD program [arg ...]: the references that the processor makes, by a capture
captured() {
	_ref=$1 _pad=$2
	shift 2
	$env -i AE_OUT=off PAD="$_pad" "$bin/wscap" -o "$_ref.ws" "$@"
	_status=$?
	"$bin/ws2addr" "$_ref.ws" >"$_ref" || return 125
	rm -f "$_ref.ws"
	return $_status
}

# Build what the oracles need, unless it is there: the plugin and, for x86-64 in the current directory, the pads.  They
# hold for this directory only, since valgrind's stack depends on the path.
prepare() {
	plugin=${ALL:-$PWD}/fetchmem.so lpad='' qpad='' wpad=''
	# in a folder of all tests two of them may make it at once
	[ -f "$plugin" ] || {
		${CC:-gcc} -std=gnu17 -O2 -fPIC -shared -fvisibility=hidden "$ae/qemu/fetchmem.c" -o fetchmem.new &&
		    mv fetchmem.new "$plugin"
	} || return 1
	[ -z "$emulate" ] || return 0
	[ -f pads ] || {
		echo 'int main(void) { register long sp __asm__("rsp"); return sp / 16 & 63; }' > prog.c
		$cc -O2 -no-pie prog.c -o prog || return 1
		_native=0 _l=0 _q=0 _w=0
		run off "" ./prog || _native=$?
		# valgrind and qemu do not know what this is for
		case $oracles in *wscap*)
			$env -i AE_OUT=off PAD= "$bin/wscap" -o probe.ws ./prog || _w=$?
			rm -f probe.ws ;;
		esac
		lackey probe.log "" ./prog || _l=$?
		fetchmem probe.ref "" 0-0 ./prog || _q=$?
		rm -f prog prog.c probe.log probe.ref
		echo "lpad=$(pad $_l $_native) qpad=$(pad $_q $_native) wpad=$(pad $_w $_native)" > pads
	}
	. ./pads
}

# pad oracle native: as many characters as bring the oracle's stack to the same place modulo 64
pad() {
	_n=$(( ($1 - $2 + 64) % 4 * 16 ))
	printf '%.*s' $_n xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
}

# text prog [load]: the address range of its own code, lo-hi; load: where it is loaded, hexadecimal
text() {
	readelf -SW "$1" | awk '$2 == ".text" || $3 == ".text" {
		for (i = 2; i <= NF; i++) if ($i == ".text") { a = $(i + 2); n = $(i + 4) } }
		END { print a "+" n }' | {
		IFS=+ read -r a n
		printf '%x-%x\n' $((0x${2:-0} + 0x$a)) $((0x${2:-0} + 0x$a + 0x$n))
	}
}

# option file word: $option is the rest of a line ` * word: ...` of the comment at its head
option() {
	option=
	while IFS= read -r _line; do
		case $_line in
		" * $2:"*)
			_line=${_line#*:}
			option=${_line#"${_line%%[! ]*}"} ;;
		esac
		case $_line in *'*/'*) break ;; esac
	done <"$1"
}
