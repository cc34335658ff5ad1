# shellcheck disable=SC2034,SC2154
# measure.sh: functions of demo, bench and ae/run; sourced, with $top the tree and BUILD the build folder set.
# Everything happens in $work, a folder below the build folder.

here=$top/experiments
bin=$BUILD/bin
CC=${CC:-gcc}
if setarch -R true 2>/dev/null; then noaslr='setarch -R'; else noaslr=''; fi

need() {
	for _t; do
		command -v "$_t" > /dev/null || { echo "$0: $_t is missing (apt-get install $_t?)" >&2; exit 1; }
	done
}

# start NAME: the folder, and the clock
start() {
	work=$BUILD/$1
	rm -rf "$work"
	mkdir -p "$work" && cd "$work" || exit 1
	$CC -O2 -std=gnu17 "$here/cpu.c" -o cpu || exit 1
}

# cpu [-n runs] [-i file] [-o file] command ...: CPU seconds, user and system together
cpu() {
	./cpu "$@" > cpu.out || [ $? -lt 126 ] || { echo "$0: cannot run $*" >&2; exit 1; }
	awk '{ print $1 + $2 }' cpu.out
}

# tally PROG: build PROG.tally, an application of PROG's regenerator
tally() {
	rm -rf "$1.d"
	"$bin/aec" -o "$1.d" "$1" && cp "$here/tally.c" "$1.d/ae_main.c" &&
	    make -s -C "$1.d" CC="$CC" CFLAGS=-O3 && mv "$1.d/prog.regen" "$1.tally" || exit 1
	rm -rf "$1.d"
}

# icount: build the plugin that counts instructions
icount() {
	$CC -O2 -std=gnu17 -fPIC -shared -fvisibility=hidden "$here/icount.c" -o icount.so || exit 1
}

# executed AE_OUT [argument ...]: how many instructions prog executes; after target of oracle.sh
executed() {
	_out=$1
	shift
	# shellcheck disable=SC2086
	AE_OUT=$_out $qemu $qopts -plugin ./icount.so,out=icount ./prog "$@" > /dev/null || exit 1
	cat icount
}

# calc FORMAT EXPRESSION: one number
calc() {
	awk "BEGIN { printf \"$1\", $2 }"
}

# note TEXT: say on a terminal what is being done
note() {
	[ -t 2 ] && printf '\r\033[K%s' "$*" >&2
	return 0
}
