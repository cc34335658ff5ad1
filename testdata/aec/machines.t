# prog.regen and ae2addr: the same references of programs for other machines, and with the paper's numbers of blocks
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

# one TARGET OPTION...: deep.c, its own events, changed ones and early ends
one() {
	t=$1
	shift
	run=
	if [ "$t" != x86-64 ]; then
		if ! command -v "$t-linux-gnu-gcc" >/dev/null || ! command -v "qemu-$t" >/dev/null; then
			skip "$t: no cross compiler or no qemu-$t"
			return
		fi
		run="qemu-$t -L /usr/$t-linux-gnu"
	fi
	ok "$t $*: builds" aecc --target="$t" "$@" "$SRC/testdata/aec/deep.c" -o deep
	# shellcheck disable=SC2086
	AE_OUT=deep.ae $run ./deep >out 2>&1 || fail "$t $*: runs" "$(cat out)"
	ok "$t $*: aec -b" aec -b deep
	if both deep deep.ae && [ ! -s a.err ]; then pass "$t $*: the same"; else fail "$t $*: the same" "$(cat a.err b.err)"; fi
	kind=branches
	[ "$1" = --paper ] && kind=block-numbers
	is "$t $*: what decides jumps" "$(ae2addr -c deep deep.ae | awk '/^(branches|block-numbers)/ && $2 > 0 { print $1 }')" $kind
	bad=
	for seed in $(seq 1 $few 20); do
		"$BUILD/test/evmut" deep.ae "$seed" $((seed % 3 + 1)) >m.ae
		both deep m.ae || bad="$bad $seed"
		"$BUILD/test/evmut" deep.ae "$([ $((seed % 2)) = 0 ] && echo cut || echo stop)" $((seed * seed * seed)) >m.ae
		both deep m.ae || bad="$bad cut$seed"
	done
	is "$t $*: changed events" "$bad" ""
}

for t in mipsel mips; do
	one $t -O2
	# what is alike for both byte orders
	[ $t = mipsel ] || [ "${MATRIX-}" = full ] || continue
	one $t -O0
	one $t --paper -O1
done
one x86-64 --paper -O2
tap_end
