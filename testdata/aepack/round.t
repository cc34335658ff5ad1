# Unpacked, every event file is what it was, byte for byte; ae2addr and addrstat read packed ones
# shellcheck shell=sh
# shellcheck disable=SC3045    # ulimit -c and -s: not in POSIX, but in every sh here
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
ulimit -c 0

# round NAME PROGRAM EVENTS [MOST]: packed and unpacked; it has at most MOST bytes packed
round() {
	if ! aepack -o packed "$2" "$3" 2>err; then
		fail "$1: packs" "$(cat err)"
		return
	fi
	aepack -d -o back "$2" packed 2>err || fail "$1: unpacks" "$(cat err)"
	same "$1: the same bytes" back "$3"
	[ -z "${4-}" ] || ok "$1: small" [ "$(wc -c <packed)" -le "$4" ]
}

# reads NAME PROGRAM EVENTS: the same references of both, said and counted alike
reads() {
	ae2addr -o plain.ref "$2" "$3" 2>plain.err
	echo $? >>plain.err
	ae2addr -o packed.ref "$2" packed 2>packed.err
	echo $? >>packed.err
	sed -i "s|packed|$3|" packed.err
	same "$1: ae2addr gives the same" packed.ref plain.ref
	same "$1: ae2addr says the same" packed.err plain.err
}

aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
round 'a small program' matrix ae.out
reads 'a small program' matrix ae.out
is '--sites: all bytes of the event file' "$(ae2addr --sites matrix packed | awk '{ n += $1 } END { print n }')" "$(wc -c <ae.out)"
is 'addrstat' "$(addrstat matrix packed)" "$(addrstat matrix ae.out)"
ok 'standard input' sh -c 'aepack matrix <ae.out | aepack -d matrix | cmp - ae.out'
ok 'a pipe of packed events' sh -c 'cat packed | ae2addr matrix | cmp - plain.ref'
ok 'compressed events' sh -c 'gzip -c ae.out >ae.gz; aepack matrix ae.gz | cmp - packed'
ok 'compressed packed events' sh -c 'gzip -c packed >p.gz; ae2addr matrix p.gz | cmp - plain.ref'
aec -b matrix || fail 'aec'
gives 'a regenerator does not unpack' 1 'matrix.regen: packed: byte 0: packed events, which aepack -d unpacks' ./matrix.regen packed

# pointers, calls through them, callbacks, longjmp, string instructions; each way of compiling
for o in -O2 -O0 -O3 '-Os -static' '-O2 -pie -fPIE' '-O1 --paper'; do
	turn 2 || continue
	for p in aepack/lists ae2addr/crash; do
		# shellcheck disable=SC2086
		aecc $o "$SRC/testdata/$p.c" -o prog || fail "$p $o: aecc"
		case $p in
		aepack/lists) AE_OUT=p.ae ./prog >/dev/null ;;
		*) (ulimit -s 512; AE_OUT=p.ae; export AE_OUT; exec ./prog c) 2>/dev/null ;;
		esac
		round "$p $o" prog p.ae
		reads "$p $o" prog p.ae
	done
done
aecc -O2 "$SRC/testdata/aepack/lists.c" -o prog
AE_OUT=p.ae ./prog 200 >/dev/null
round 'lists' prog p.ae $(($(wc -c <p.ae) / 40))

# threads, libraries, children
aecc -O2 "$SRC/testdata/aert/thread.c" -o thread -pthread || fail 'aecc'
AE_OUT=t.ae ./thread 3 200000 >/dev/null
round 'threads' thread t.ae $(($(wc -c <t.ae) / 40))
reads 'threads' thread t.ae
ok 'one thread from a pipe' sh -c 'ae2addr --task 3 -o a3.ref thread t.ae; cat packed | ae2addr --task 3 thread | cmp - a3.ref'
is 'counts' "$(ae2addr -c thread packed)" "$(ae2addr -c thread t.ae)"
aecc -O2 -fPIC -shared -DLIB "$SRC/testdata/ae2addr/library.c" -o libpart.so &&
    aecc -O2 -fPIC -shared -DPLUG "$SRC/testdata/ae2addr/library.c" -L. -lpart -o plug.so &&
    aecc -O2 -DPROG "$SRC/testdata/ae2addr/library.c" -L. -lpart -Wl,-rpath,"$PWD" -pthread -o main || fail 'libraries: aecc'
rm -f run*
AE_OUT=run ./main ./plug.so fork thread ./plug.so >/dev/null
for e in run run.*; do
	round "libraries: ${e%%.*}" main "$e"
	cp packed "pack.$e"
	reads "libraries: ${e%%.*}" main "$e"
done
child=$(echo run.*)
ae2addr -o plain.ref main "$child"
ae2addr -o packed.ref -p pack.run main "pack.$child"
same 'a child whose parent is packed, too' packed.ref plain.ref
mv libpart.so other.so
aepack -d -o back main pack.run 2>err
is 'a library that is missing' "$? $(sed 's/byte [0-9]*/byte N/' err)" \
    '1 aepack: pack.run: byte N: the program does not have these events: it is not the one that they were packed with'
aepack -o packed main run || fail 'packs without it'
aepack -d -o back main packed
same 'packs without it, and unpacks' back run
mv other.so libpart.so

# regions and limits of a recording
aecc -O2 -I"$SRC/src/lib" -I"$SRC/src" "$SRC/testdata/aert/limit.c" -o limit 2>/dev/null && {
	AE_LIMIT=100k AE_OUT=l.ae ./limit >/dev/null 2>&1
	[ ! -e l.ae ] || { round 'a limit' limit l.ae; reads 'a limit' limit l.ae; }
}

# other machines, made by hand
"$BUILD/test/regentest" dump || exit 1
for u in u*.*.ae; do
	turn 7 || continue
	round "$u" "${u%%.*}" "$u"
	reads "$u" "${u%%.*}" "$u"
done
tap_end
