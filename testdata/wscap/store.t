# --store: pages of files in a folder, for many captures; and pages that processes of a tree have in common
. "$HERE/lib.sh"
unset TRACEMILL_STORE
echo 'echo one; (echo two); (echo three); exec true' >prog.sh

sums() { ws2addr -c "$1" 2>&1 | tail -n 4; }
wscap -o plain.ws true
sums plain.ws >want

wscap --store st -o a.ws true
is "status" $? 0
wscap --store st -o b.ws true
ls st | grep -v '^file\.' >files
is "names are hashes" "$(grep -v -c -x '[0-9a-f]\{64\}' files)" 0
# the name, by other means: of a block of one page and one of more
for f in $(head -n 3 files); do
	python3 - "st/$f" <<-'END'
		import hashlib, sys
		d = open(sys.argv[1], 'rb').read()
		print(hashlib.sha256(b''.join(hashlib.sha256(d[i:i + 4096]).digest() for i in range(0, len(d), 4096))).hexdigest())
	END
done >named
is "hashes of hashes of pages" "$(cat named)" "$(head -n 3 files)"
ok "small" test "$(wc -c <b.ws)" -lt 40000
ws2addr -c a.ws >out 2>err
is "no store: status" $? 1
ok "no store: said" grep -q 'a.ws: byte [0-9]* (record [0-9]*): pages are in a store, block [0-9a-f]\{64\}: TRACEMILL_STORE must name' err

TRACEMILL_STORE=$PWD/st
export TRACEMILL_STORE
is "replayed" "$(sums a.ws)" "$(cat want)"
is "replayed, by two" "$(ws2addr -c -j 2 b.ws)" "$(cat want)"
ok "verified" wsverify -n 0:20000 b.ws
wsinfo a.ws >info
is "what it needs: nothing" "$(grep -c ^missing info)" 0
is "what it needs: blocks" "$(sed -n 's/^store .* in \([0-9]*\) blocks/\1/p' info)" "$(wc -l <files | tr -d ' ')"

# trimmed, it refers to the same blocks, and is smaller
wstrim -v -o trimmed.ws a.ws 2>err
is "trimmed: status" $? 0
stay=$(wsinfo trimmed.ws | sed -n 's/^store .* in \([0-9]*\) blocks/\1/p')
is "trimmed: said" "$(sed -n 1p err)" "wstrim: a.ws: $stay blocks of pages stay in the store; --alone takes what is needed of them"
ok "trimmed: not all blocks, but some" test "$stay" -gt 0 -a "$stay" -lt "$(wc -l <files)"
ok "trimmed: smaller" test "$(wc -c <trimmed.ws)" -lt "$(wc -c <a.ws)"
is "trimmed: its size is told" "$(sed -n '2s/.* to \([0-9]*\) .*/\1/p' err)" "$(wc -c <trimmed.ws | tr -d ' ')"
is "trimmed: replayed" "$(sums trimmed.ws)" "$(cat want)"
ws2addr a.ws >a.ref
ok "trimmed: the same references" sh -c 'ws2addr trimmed.ws | cmp - a.ref'
ok "trimmed: verified" wsverify -n 0:20000 trimmed.ws
TRACEMILL_STORE='' ws2addr -c trimmed.ws >out 2>err
is "trimmed: no store: status" $? 1
ok "trimmed: no store: said" grep -q 'trimmed.ws: byte [0-9]* (record [0-9]*): pages are in a store, block [0-9a-f]\{64\}: TRACEMILL_STORE must name' err
cp trimmed.ws again.ws
wstrim again.ws 2>err
is "trimmed again" "$? $(cat err)" "0 wstrim: again.ws: is trimmed already, and stays as it is"
wstrim <trimmed.ws >again.ws 2>err
is "trimmed again: copied" "$(sed -n 1p err)" "wstrim: standard input: is trimmed already, and is copied"
same "trimmed again: the same" again.ws trimmed.ws
# what is needed of the store, taken now or later
wstrim --alone -o trimmed.ws a.ws 2>err
is "alone: says nothing" "$? $(cat err)" "0 "
wstrim --alone again.ws 2>err
is "alone: later" "$? $(cat err)" "0 "

# captures that need none
wstrim --fetch -o whole.ws a.ws
cp b.ws c.ws
wstrim --fetch c.ws
wetz -m replay -o a.wet a.ws 2>err || cat err
(
	unset TRACEMILL_STORE
	for f in trimmed again whole c; do
		is "without a store: $f" "$(sums $f.ws)" "$(cat want)"
	done
	wetq list a.wet >out 2>err
	is "without a store: .wet: status" $? 0
	is "without a store: .wet: statements" "$(($(grep -c . out) > 100))" 1
	ws2addr -c <whole.ws >out 2>err
	is "a pipe is refused, or not needed" "$(cat err)" ""
	cat whole.ws | ws2addr -c >out 2>err
	ok "a pipe: said" grep -q 'a capture with a store can be read from a file only, not from a pipe' err
	exit $tap_bad
)

# a store that is wrong; the first block that the capture needs is among those of the program itself
bad() { # WHAT WORDS
	ws2addr -c a.ws >out 2>err
	is "$1: status" $? 1
	ok "$1: said" grep -q "block [0-9a-f]\{64\} of the store $PWD/st: $2" err
	ok "$1: wsinfo names it" sh -c "wsinfo a.ws 2>/dev/null | grep -q '^missing  *block .*: $2'"
}
fresh() { rm -rf st; cp -R good st; chmod -R u+w st; }
cp -R st good
rm st/*
bad empty 'No such file'
fresh
for f in st/*; do printf x | dd of="$f" bs=1 seek=100 conv=notrunc 2>/dev/null; done
bad damaged 'the file is damaged'
wscap --store st -o d.ws true
is "mended by the next capture" "$(sums a.ws)" "$(cat want)"
fresh
for f in st/*; do : >"$f"; done
bad short 'the file is damaged'
fresh
for f in st/*; do mv "$f" "$f.x"; ln -s "${f#st/}.x" "$f"; done
bad links 'Too many levels of symbolic links'
fresh
for f in st/*; do rm "$f"; mkfifo "$f"; done
bad pipes 'the file is damaged'
rm -rf st
bad "no folder" 'No such file'
: >st
bad "no folder but a file" 'Not a directory'
wscap --store st -o d.ws true 2>err
is "not a folder: status" $? 125
is "not a folder: said" "$(cat err)" "wscap: st: Not a directory"
rm st

# several at once, and a store that cannot be written
# (what the program does depends on its environment)
wscap -o plain.ws true
sums plain.ws >want
for i in 1 2 3 4; do wscap --store st -o p$i.ws true & done
wait
is "four at once" "$(ls st | grep -v '^file\.')" "$(cat files)"
for i in 1 2 3 4; do is "four at once: $i" "$(sums p$i.ws)" "$(cat want)"; done
if [ -w /proc/self/mem ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
	wscap --store full -o f.ws true 2>err
	is "a full disk: status" $? 0
	is "a full disk: said" "$(cat err)" "wscap: full: No space left on device: what could not be written there is in the capture"
	store=$TRACEMILL_STORE TRACEMILL_STORE=$PWD/full
	is "a full disk: replayed" "$(sums f.ws)" "$(cat want)"
	is "a full disk: nothing unfinished" "$(ls full | grep -c '^new')" 0
	TRACEMILL_STORE=$store
	umount full
else
	skip "a full disk: no tmpfs can be mounted here"
fi

# a tree: each page once
for o in '' "--store st"; do
	want=0
	sh prog.sh >want.out
	# shellcheck disable=SC2086
	wscap $o -o t.ws sh prog.sh >got.out
	same "tree $o: output" got.out want.out
	ok "tree $o: replayed" ws2addr -c t.ws
	is "tree $o: pages of all" "$(wsinfo t.ws | grep -c '^pages ')" 1
done
wstrim --alone -o tt.ws t.ws
is "tree: trimmed" "$(TRACEMILL_STORE='' ws2addr -c tt.ws)" "$(ws2addr -c t.ws)"
wstrim -o ts.ws t.ws 2>err
ok "tree: trimmed, with the store: said" grep -q '^wstrim: t.ws: [1-9][0-9]* blocks of pages stay in the store' err
is "tree: trimmed, with the store" "$(ws2addr -c ts.ws)" "$(ws2addr -c t.ws)"
ok "tree: trimmed, with the store: smaller" test "$(wc -c <ts.ws)" -lt "$(wc -c <tt.ws)" -a "$(wc -c <ts.ws)" -lt "$(wc -c <t.ws)"
wstrim -o again.ws ts.ws 2>err
same "tree: trimmed again" again.ws ts.ws
wstrim --alone ts.ws 2>err
is "tree: alone later" "$(TRACEMILL_STORE='' ws2addr -c ts.ws)" "$(ws2addr -c t.ws)"
tap_end
