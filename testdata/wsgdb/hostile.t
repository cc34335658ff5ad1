# Packets of any kind, captures that are damaged or end early, files that are not those of the run, one connection only
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
cp "$HERE/story.c" .
$GCC -O0 -g -Wl,--build-id -o story story.c
wscap --names no -o story.ws ./story >/dev/null
talk() { timeout 120 python3 "$HERE/packets.py" "$@" 2>&1; }

# answers to packets that are wrong: an error or nothing, and the conversation goes on
cat >in <<'EOF'
qSupported:multiprocess+;swbreak+
m0,10
m10000000000000000,4
m7,
mzz,4
m0,ffffffffffffffffff
M1000,4:00000000
X1000,0:
X1000,5:,0:ab
p0
p99999
pfffffffffffffffff
P0=00
G00
Z0,zz,1
Z0,400000
Z2,7fffffffffff0000,8
Z2,1000,0
Z2,1000,ffffffffffffffff
Z5,1000,1
z0,1000,1
Hgp1.1
Hgp2.5
Hg
Tp1.1
Tp1.7
vCont
vCont;
vCont;x
vCont;r1
c1000
vFile:open:2f,0,0
vFile:open:zz,0,0
vFile:open:2f6574632f706173737764,0,0
vFile:pread:0,10,0
vFile:pread:ffffffffffffffff,10,0
vFile:close:10
vFile:fstat:x
vFile:
vFile:bogus:1
qXfer:features:read:target.xml:ffffffff,10
qXfer:features:read:other.xml:0,10
qXfer:features:read:target.xml:0
qXfer:auxv:read::0,
qRcmd,zz
qRcmd,
qRcmd,776865
QPassSignals:
QPassSignals:1;zz;;ffffffffffffffff
bs
bogus
vBogus
qBogus
EOF
talk story.ws <in >got
cat >want <<'EOF'
E01
E01
E01
E01
E01
E01
OK
E01
0000000000000000
E01
E01
E.a captured run cannot be changed
E.a captured run cannot be changed
E01
E01
E01
E01
E01

OK
OK
E01
E01
OK
E01

E01
E01
E01
E.the program counter cannot be changed
F-1,d
F-1,16
F-1,d
F-1,9
F-1,9
F-1,9
F-1,9


EOF
sed -e '/^wsgdb: memory is not/d' got | sed -n '2,$p' | head -n "$(wc -l <want)" >some
is "packets that are wrong" "$(diff some want)" ""
has "and the rest" "$(tail -n 18 got)" '^l$' '^E00$' '^E01$' '^E01$' '^E01$' '^> : no such command' '^OK' '^> whe: no such command' \
	'^OK$' '^OK$' '^OK$' '^T05replaylog:begin;thread:p1.1;'
is "it ends well" "$(tail -n 1 got)" "status 0"

# garbage between packets: sums that are wrong, packets without end, very long ones
python3 - >in <<'EOF'
import random
r = random.Random(7)
for k in range(400):
    kind = r.randrange(4)
    if kind == 0:
        b = bytes(r.randrange(256) for _ in range(r.randrange(200)))
    elif kind == 1:
        b = b"$" + bytes(r.randrange(32, 127) for _ in range(r.randrange(60))) + b"#zz"
    elif kind == 2:
        b = b"$" + r.choice([b"m", b"Z0,", b"vFile:open:", b"qXfer:auxv:read::", b"qRcmd,", b"vCont;r"]) + \
            bytes(r.randrange(48, 103) for _ in range(r.randrange(80)))
        b += b"#%02x" % (sum(b[1:]) & 255)
    else:
        b = b"\x03+-$$##"
    print("!" + b.hex())
print("!" + (b"$" + b"a" * 100000 + b"#00").hex())
print("!" + (b"$" + b"m" * 70000).hex())
print("!" + b"$#00".hex())
print("qC")
print("qC")
EOF
sed -i 's/^!\(.*\)$/!\1/' in
talk story.ws <in >got
has "garbage between packets" "$(cat got)" '^QC1' '^status 0'

# every packet, cut off and damaged at each byte
python3 - >in <<'EOF'
for p in [b"m400000,10", b"vCont;s:p1.1", b"Z2,7ffff7ff0000,8", b"vFile:open:2f62696e2f6c73,0,0", b"qXfer:auxv:read::0,1000", b"QPassSignals:e;10;14"]:
    for i in range(len(p)):
        for c in (p[:i], p[:i] + b"\xff" + p[i + 1:], p[:i] + b";" + p[i + 1:], p[:i] + p[i] * 1 * b"9" + p[i:]):
            if b"\n" not in c and c[:1] not in (b"", b"!", b"$"):
                print(c.decode("latin-1").encode("latin-1").hex())
EOF
python3 -c '
import sys
for l in sys.stdin:
    sys.stdout.buffer.write(bytes.fromhex(l) + b"\n")' <in | grep -a -v '[#$}]' >bytes
talk story.ws <bytes >got
is "packets damaged at each byte" "$(tail -n 1 got)" "status 0"
[ "$(wc -l <got)" -gt 300 ] && pass "each is answered" || fail "each is answered" "$(wc -l <got)"

# gdb goes away, in the middle of a run, too
printf '+$vCont;c#a8' | timeout 60 wsgdb story.ws >out
is "gdb is gone" $? 0
wsgdb story.ws </dev/null >out
is "at once" "$? $(wc -c <out | tr -d ' ')" "0 0"

# an interrupt, before a long run is over; the end of gdb is one, too
cat >spin.c <<'EOF'
int main(void)
{
	for (volatile long i = 0; i < 200000000; i++)
		;
	return 0;
}
EOF
$GCC -O0 -o spin spin.c
wscap -o spin.ws ./spin
printf '+$vCont;c#a8\003+$qC#b4+$k#6b' | timeout 300 wsgdb spin.ws | tr '$' '\n' >out
has "an interrupt stops it" "$(cat -v out)" '^T02thread:1' '^QC1'
# between two stops, as where gdb looks at a condition: what runs next is stopped, once
printf 'qC\n!03\nvCont;c\nvCont;s\n' | talk spin.ws >out
is "an interrupt before it runs" "$(sed -n 's/^T\([0-9]*\).*/\1/p' out | tr '\n' ' ')" "02 05 "

# a port: one connection, of this machine
# listen CAPTURE: wsgdb is $pid, at port $n
listen() {
	wsgdb -l 0 "$1" 2>port &
	pid=$!
	for k in 1 2 3 4 5 6 7 8 9 10; do
		grep -q localhost port && break
		sleep 0.5
	done
	n=$(sed -n 's/.*localhost:\([0-9]*\)$/\1/p' port)
}
listen story.ws
printf 'qC\nbs\nk\n' | talk -p "$n" >got
wait $pid
is "a port, and its end" "$? $(head -n 1 got)" "0 QC1"
python3 - "$n" <<'EOF' >got 2>&1
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10)
    print("open")
except ConnectionRefusedError:
    print("refused")
EOF
is "and nobody after that" "$(cat got)" refused
# gdb that is killed resets the connection: that is no fault of wsgdb
listen spin.ws
python3 - "$n" <<'EOF'
import socket, struct, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
s.sendall(b"$qC#b4")
s.recv(10)
s.sendall(b"$vCont;c#a8" + b"$g#67" * 9)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.close()
EOF
wait $pid
is "a connection that is reset" "$? $(sed 1d port)" "0 "
gives "no port" 2 "wsgdb: -l 70000: not a port, 0 to 65535 (0: any that is free); see wsgdb --help" wsgdb -l 70000 story.ws
gives "no place" 2 "wsgdb: -a x: neither the number of an instruction nor end; see wsgdb --help" wsgdb -a x story.ws
gives "not standard input" 2 "wsgdb: the capture must be a file: gdb speaks on standard input; see wsgdb --help" wsgdb -
mkfifo pipe
gives "no pipe" 1 "wsgdb: pipe: not a regular file, which is read at several places" wsgdb pipe

# cut off: what there is can be gone through, and why it ends is said
size=$(wc -c <story.ws)
for part in 60 80 95; do
	head -c $((size * part / 100)) story.ws >cut.ws
	t=$(run_gdb cut.ws continue 'monitor when' reverse-stepi stepi stepi reverse-continue 'monitor when')
	case $t in
	*'wsgdb: cut.ws: '*) pass "cut off at $part %: nothing can be shown" ;;
	*) has "cut off at $part %" "$t" 'the capture ends here: ' '^No more reverse' '^before instruction [1-9]' \
		'the capture ends here: ' '^No more reverse' '^before instruction 0' ;;
	esac
done
# damaged anywhere: an end or an error, never more
python3 - <<'EOF'
import random
r = random.Random(3)
b = open("story.ws", "rb").read()
for k in range(40):
    c = bytearray(b)
    for i in range(1 + k % 3):
        c[r.randrange(len(c))] ^= 1 << r.randrange(8)
    open("bad%d.ws" % k, "wb").write(c)
EOF
printf 'g\nbs\nvCont;c\nvCont;c\nbc\nZ2,%x,8\nvCont;c\nbc\n' 140737488347136 >in
for k in $(seq 0 $few 39); do
	talk bad$k.ws <in >got
	case $(tail -n 1 got) in 'status 0' | 'status 1') ;; *) tail -n 3 got >>wrong ;; esac
done
is "damaged captures" "$(cat wrong 2>/dev/null)" ""

# a program that is another one by now is not taken for the one that ran
sed 's/amount == 13/amount == 14/' story.c >other.c
$GCC -O0 -g -Wl,--build-id -o story other.c
t=$(run_gdb story.ws 'break main' 'info registers rip')
has "another program of that name" "$t" 'story: not the file that the program ran: its build id is another' 'rip '
wstrim -o trimmed.ws story.ws
has "a trimmed capture" "$(run_gdb trimmed.ws 'info registers rip')" 'trimmed: memory that the program did not read is shown as zero' 'rip '
tap_end
