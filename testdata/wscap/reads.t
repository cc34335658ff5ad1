# --store: what is read from files is in the store, and a replay has what was read
. "$HERE/lib.sh"
gcc -shared -fPIC -DLATER -o later.so "$HERE/later.c" && gcc -O1 -o reads "$HERE/reads.c" || exit 1
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "%015d\n", i * i % 999983 }' >data
head -c 300000 /dev/zero >>data
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "%018d\n", i * i % 999983 }' >>data
tr 0 9 <data >was
cp data kept
TRACEMILL_STORE=$PWD/st
export TRACEMILL_STORE
cp was own
./reads >want.out
want=0

# old WHAT OPTIONS: as files are that nobody has written to for a while
old() {
	cp was own
	# shellcheck disable=SC2086
	LD_PRELOAD=$PWD/later.so wscap --store st $2 -o c.ws ./reads >got.out 2>got.err
	is "$1: status and messages" "$? $(cat got.err)" "0 "
	same "$1: output" got.out want.out
	replayed "$1" got.out
}
old first ''
old second ''
ok "what was read is in the store: $(wc -c <c.ws)" [ "$(wc -c <c.ws)" -lt 1500000 ]
ok "verified" sh -c 'wsverify -e 2000000 -l 1000 c.ws >verified'
cp was own
LD_PRELOAD=$PWD/later.so wscap -o plain.ws ./reads >got.out
ok "without a store, it is in the capture: $(wc -c <plain.ws)" [ "$(wc -c <plain.ws)" -gt 5000000 ]
ok "the same references" sh -c 'ws2addr plain.ws >plain.ref; ws2addr c.ws | cmp - plain.ref'
ok "trimmed" wstrim -o t.ws c.ws
ok "trimmed: the same references" sh -c 'ws2addr t.ws | cmp - plain.ref'
ok "trimmed, with all that it needs" wstrim --alone -o t.ws c.ws
ok "alone: the same references" env TRACEMILL_STORE= sh -c 'ws2addr t.ws | cmp - plain.ref'
old "recorder off" "--recorder off"
rm data own
ok "a replay does not look at the files" ws2addr -o /dev/null c.ws
cp kept data

# files that were just written are not in the store
rm -rf st
cp was own
touch data
wscap --store st -o c.ws ./reads >got.out
same "young files: output" got.out want.out
replayed "young files" got.out

# the store's file of what was read has gone, or has other bytes
old "all anew" ''
for f in st/*; do case $f in */file.*) ;; *) rm -f "$f" ;; esac done
old "blocks gone" ''
chmod u+w st/*
for f in st/*; do case $f in */file.*) ;; *) printf x | dd of="$f" bs=1 seek=100 conv=notrunc 2>/dev/null ;; esac done
old "blocks written to" ''

for i in 1 2 3 4 5; do
	LD_PRELOAD=$PWD/later.so wscap --store st -o c.ws ./reads both
	ok "two processes at one file, $i" sh -c 'ws2addr -o /dev/null c.ws:1 && ws2addr -o /dev/null c.ws:2'
done
tap_end
