# --store: what a store remembers of files, so that they are not read again
. "$HERE/lib.sh"
gcc -shared -fPIC -DLATER -o later.so "$HERE/later.c" && gcc -O1 -o prog "$HERE/later.c" || exit 1
cp prog was
TRACEMILL_STORE=$PWD/st
export TRACEMILL_STORE

# cap NAME [STATUS]: captures prog
cap() {
	LD_PRELOAD=$PWD/later.so wscap --store st -o "$1.ws" ./prog 2>err
	is "$1: status, and what is said" "$? $(cat err)" "${2:-6} "
	ok "$1: replayed" ws2addr -o /dev/null "$1.ws"
}

# of FILE: where the store has what it knows of it
of() { printf 'st/file.%x.%x\n' "$(stat -c %d "$1")" "$(stat -c %i "$1")"; }

# edit FILE PYTHON: d is what is there, which gets its checksum
edit() {
	chmod u+w "$1"
	python3 - "$1" "$2" <<-'END'
		import struct, sys
		def crc(b):
		    c = 2 ** 64 - 1
		    for x in b:
		        c ^= x
		        for _ in range(8):
		            c = c >> 1 ^ (0xC96C5795D7870F42 if c & 1 else 0)
		    return c ^ (2 ** 64 - 1)
		d = bytearray(open(sys.argv[1], 'rb').read()[:-8])
		exec(sys.argv[2])
		open(sys.argv[1], 'wb').write(d + struct.pack('<Q', crc(d)))
	END
}

wscap --store st -o young.ws ./prog
is "a young file: status" $? 6
ok "a young file: nothing is remembered of it" test ! -e "$(of prog)"
cap first
x=$(of prog)
ok "remembered" test -s "$x"
cp "$x" x
blocks=$(find st -type f ! -name 'file.*' | wc -l)
cap second
is "nothing new" "$(find st -type f ! -name 'file.*' | wc -l)" "$blocks"
same "nothing new of the file" "$x" x
ws2addr first.ws >first.ref
ok "the same references" sh -c 'ws2addr second.ws | cmp - first.ref'
ok "the same as without a store" sh -c 'LD_PRELOAD=$PWD/later.so wscap -o plain.ws ./prog; ws2addr plain.ws | cmp - first.ref'
ok "verified" wsverify -n 0:20000 second.ws

# it is believed: the blocks of two pieces are exchanged, and no replay comes to an end
edit "$x" 'n = struct.unpack_from("<I", d, 4)[0]
same = [56 + 56 * i for i in range(n) if d[56 + 56 * i + 8:56 + 56 * i + 12] == d[64:68] and any(d[80 + 56 * i:112 + 56 * i])]
a, b = same[0], [s for s in same if d[s + 24:s + 56] != d[same[0] + 24:same[0] + 56]][0]
d[a + 16:a + 56], d[b + 16:b + 56] = d[b + 16:b + 56], d[a + 16:a + 56]'
LD_PRELOAD=$PWD/later.so wscap --store st -o wrong.ws ./prog
is "another's blocks: status" $? 6
ok "another's blocks: they are used" sh -c '! ws2addr -o /dev/null wrong.ws 2>err'

# unless there is a reason not to
bad() { # WHAT
	cap "$1"
	ok "$1: the same references" sh -c "ws2addr '$1.ws' | cmp - first.ref"
	same "$1: remembered anew" "$(of prog)" x
}
restore() { rm -rf "$x" && cp x "$x"; }
chmod g+w "$x"
bad "others may write it"
: >"$x.x" && mv "$x.x" "$x"
bad empty
head -c 100 x >"$x.x" && mv "$x.x" "$x"
bad short
restore
printf x | dd of="$x" bs=1 seek=70 conv=notrunc 2>/dev/null
bad damaged
restore
edit "$x" 'struct.pack_into("<I", d, 4, 0xffffffff)'
bad "a large number"
restore
edit "$x" 'struct.pack_into("<Q", d, 48, 2 ** 63)'
cap "many notes"
ok "many notes: the same references" sh -c "ws2addr 'many notes.ws' | cmp - first.ref"
rm "$x" && ln -s /dev/zero "$x"
bad "a link"
ok "a link: replaced" test ! -L "$x"
rm "$x" && mkfifo "$x"
bad "a pipe"
rm "$x" && mkdir "$x"
cap "a folder"
rmdir "$x"
# blocks that have gone, or were written to, are written again
restore
find st -type f ! -name 'file.*' -exec rm {} +
cap gone
is "gone: nothing is missing" "$(wsinfo gone.ws | grep -c ^missing)" 0
chmod u+w st/*
for f in st/*; do case $f in */file.*) ;; *) printf x | dd of="$f" bs=1 seek=100 conv=notrunc 2>/dev/null ;; esac done
cap "written to"
ok "written to: the same references" sh -c "ws2addr 'written to.ws' | cmp - first.ref"

# a file that has changed, with its old time
python3 - <<'END'
d = bytearray(open('prog', 'rb').read())
i = d.index(b'what it does: 3')
d[i + 14] = ord('4')
open('new', 'wb').write(d)
END
cat new >prog && touch -r was prog
cap changed 8
cat was >prog && touch -r was prog
cap "changed back"

# several at once
for i in 1 2 3 4; do LD_PRELOAD=$PWD/later.so wscap --store st -o p$i.ws ./prog & done
wait
for i in 1 2 3 4; do ok "four at once: $i" sh -c "ws2addr p$i.ws | cmp - first.ref"; done

# processes of one capture: where one made calls, the next has jumps; other programs, and other places of the same file
cat >many.sh <<'END'
i=0
while [ $i -lt 3 ]; do ./prog; echo $? | cat | tr 6 7; ls prog was >/dev/null; i=$((i + 1)); done
END
for i in cold warm; do
	rm -rf st2.$i
	LD_PRELOAD=$PWD/later.so wscap --store st2 -o many.ws sh many.sh >out
	is "many, $i: output" "$(sort out | uniq -c | tr -s ' ')" " 3 7"
	TRACEMILL_STORE=$PWD/st2
	ok "many, $i: replayed" ws2addr -o /dev/null many.ws
	n=$(wsinfo many.ws | sed -n 's/^runs *\([0-9]*\),.*/\1/p')
	for k in 2 5 $((n - 1)) "$n"; do
		ok "many, $i: verified, run $k" wsverify -e 60000 -l 2000 "many.ws:$k"
	done
	TRACEMILL_STORE=$PWD/st
done
tap_end
