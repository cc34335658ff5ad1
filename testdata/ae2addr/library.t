# Shared libraries of aecc: traced in programs of aecc, as valgrind sees them; what is told of them; elsewhere they run untraced
# shellcheck shell=sh
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

src=$SRC/testdata/ae2addr/library.c
if setarch -R true 2>/dev/null; then fixed='setarch -R'; else fixed=''; fi

# build OPTIONS: libpart.so, with which `main` is linked, and plug.so, which it opens
build() {
	# shellcheck disable=SC2086
	aecc $1 -g -fPIC -shared -DLIB "$src" -o libpart.so &&
	    aecc $1 -g -fPIC -shared -DPLUG "$src" -L. -lpart -o plug.so &&
	    aecc $1 $2 -g -DPROG "$src" -L. -lpart -Wl,-rpath,"$PWD" -pthread -o main
}

# loads FILE WORD LIBRARY SYMBOL: the load address of a library from the address that the program printed of its symbol
loads() { printf '%x\n' $(($(sed -n "s/^$2 //p" "$1" | tail -n 1) - 0x$(nm "$3" | sed -n "s/ t $4\$//p"))); }

# exact NAME [argument ...]: the references of a run and what lackey sees of one; both put the libraries at other places
exact() {
	how=$1
	shift
	AE_OUT=run $fixed ./main "$@" >on || fail "$how: runs traced"
	AE_OUT=off $fixed valgrind -q --tool=lackey --trace-mem=yes --log-file=log --vex-iropt-level=0 --vex-guest-chase=no \
	    ./main "$@" >off
	is "$how: the same output" "$(grep -v '^[a-z]' on)" "$(grep -v '^[a-z]' off)"
	ae2addr main run >refs 2>err || fail "$how: regenerates" "$(cat err)"
	base=$(ae2addr -c main run | sed -n 's/^load-address //p')
	set -- -e main ${base:+--load "$base:108000"} \
	    -e libpart.so --load "$(loads on lib libpart.so by_value):$(loads off lib libpart.so by_value)"
	if grep -q '^plug' on; then
		set -- "$@" -e plug.so --load "$(loads on plug plug.so own):$(loads off plug plug.so own)"
	fi
	addrdiff -lsv -a 1 "$@" refs log >diff 2>&1 || fail "$how: exact" "$(cat diff)"
	ok "$how: something was compared" [ "$(sed -n 's/.* are the same: \([0-9]*\) references.*/\1/p' diff)" -gt 2000 ]
	is "$how: the address that is told" "$(ae2addr -c main run | sed -n 's|^library 0x\([0-9a-f]*\) .*/libpart.so$|\1|p')" \
	    "$(loads on lib libpart.so by_value)"
}

if command -v valgrind >/dev/null; then
	for o in -O0 -O2 '-O1 -fno-plt' '-O3 -fno-semantic-interposition'; do
		turn 4 || continue
		build "$o" || fail "$o: compiles"
		exact "$o" ./plug.so ./plug.so
	done
	if turn 2; then
		build -O2 '-pie -fPIE' || fail '-pie: compiles'
		exact '-pie'
	fi
else
	skip 'compared with lackey' 'no valgrind'
fi

build -O2 || fail 'compiles'
AE_OUT=run ./main >out
ae2addr main run >refs
ok 'names of functions and lines' sh -c 'addrstat --functions main run | grep -q " lib_chain"'
ok '--sites' sh -c 'ae2addr --sites main run | grep -q " lib_add .*library.c:"'
is '-s: a function of the library' "$(ae2addr -s lib_sort -f text main run | sed -n '1s/.*\(...\) .*/\1/p')" \
    "$(nm libpart.so | sed -n 's/.*\(...\) T lib_sort$/\1/p')"
gives '-s: none of this name' 1 'ae2addr: main: no traced function lib_nothing' ae2addr -s lib_nothing main run
ok 'constructor and destructor' [ "$(ae2addr -f text main run | tail -n 1 | cut -d' ' -f 1)" = load ]

# children and threads
rm -f run.*
AE_OUT=run ./main fork >out
is 'fork: the child has its own file' "$(ls run.* | wc -l)" 1
ae2addr main run.* >child.ref 2>err || fail 'fork: regenerates' "$(cat err)"
ok 'fork: the child ran the library' sh -c 'addrstat --functions main run.* | grep -q " lib_chain"'
rm -f run.*
AE_OUT=run ./main ./plug.so fork ./plug.so >out
ok 'fork: a library that was closed before' ae2addr -c main run.*
ok 'fork: and opened in parent and child' ae2addr -c main run
AE_OUT=run ./main thread >out
is 'threads of the library' "$(ae2addr -f text main run | grep -c '^task')" 3

# it is not where it was
mv libpart.so other.so
gives 'a library that is missing' 1 "ae2addr: run: byte N: library $PWD/libpart.so: No such file or directory" \
    sh -c 'ae2addr -o /dev/null main run 2>&1 | sed "s/byte [0-9]*/byte N/" >&2; exit 1'
aecc -O1 -fPIC -shared -DLIB "$src" -o libpart.so
gives 'another build of it' 1 "ae2addr: run: byte N: library $PWD/libpart.so: another build than the run had" \
    sh -c 'ae2addr -o /dev/null main run 2>&1 | sed "s/byte [0-9]*/byte N/" >&2; exit 1'
mv other.so libpart.so

# programs that are not recorded
AE_OUT=off ./main ./plug.so >out.off && AE_OUT=run ./main ./plug.so >out
is 'off' "$(grep -v '^[a-z]' out.off)" "$(grep -v '^[a-z]' out)"
rm -f ae.out
gcc -O2 -DPROG "$src" -L. -lpart -Wl,-rpath,"$PWD" -pthread -o plain 2>err || fail 'a program of gcc links' "$(cat err)"
ok 'a program of gcc runs' ./plain fork thread ./plug.so
ok 'a program of gcc records nothing' [ ! -e ae.out ]

# a library of another version
cat >older <<'E'
#!/bin/sh
"${REAL_AERW:?}" "$@" | sed '/^\.Lae_n[0-9]*:/{ n; s/, [0-9]*$/, 0/; }'
E
chmod +x older
REAL_AERW=$BUILD/bin/aerw AERW=./older aecc -O2 -fPIC -shared -DLIB "$src" -o libpart.so
AE_OUT=run ./main >out 2>err
is 'another version: says' "$(cat err)" "ae: $PWD/libpart.so: of another version of aecc than the program: untraced"
is 'another version: the rest is traced' "$(ae2addr -c main run | grep -c '^library')" 0

# regenerators
build -O2
AE_OUT=run ./main ./plug.so ./plug.so >out
aec -b -o part.regen main libpart.so 2>err || fail 'aec' "$(cat err)"
ok 'a regenerator without a library says so' sh -c './part.regen run 2>&1 >part.ref | grep -q "a function of a shared library that"'
aec -b main libpart.so plug.so 2>err || fail 'aec' "$(cat err)"
ae2addr main run >refs
./main.regen run >again 2>err || fail 'a regenerator' "$(cat err)"
same 'a regenerator' refs again
AE_OUT=run ./main thread >out
ae2addr main run >refs
./main.regen run >again 2>err || fail 'a regenerator: threads' "$(cat err)"
same 'a regenerator: threads' refs again
tap_end
