# CVP-1 and CBP 2025: every record, value, access and branch, as an independent reader understands them
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
$GCC -O2 -o cvpread "$HERE/cvpread.c" || exit 1
ok "a program with every kind of branch" captured flow "$HERE/flow.s"
ok "a program with instructions of every shape" captured values "$HERE/values.s" -Wl,-Ttext=0x401000 -Wl,-Tdata=0x602000

# each record: class, access, branch, what is read > what is written; stack addresses are S. Flags are left out where
# the processor leaves them undefined, after mul and xor, and where they depend on the address of the stack.
cat >want <<'!'
alu < > 0=123
load [602000]8 < > 3=1122334455667788
load [602001]1 < > 1=77
load [602000]1 < > 27=88
alu < 27 1 > 1=8877
store [602010]8 < 3 >
store [602018]8 < 4 >
alu < > 6=602010
alu < > 2=0 64=44
store [602010]8 < 6 6 >
store [602018]1 < 6 2 4 >
load [602018]8 < 6 > 27=9
alu < 27 0 > 0=12c 64=0
load [602010]4 < 6 2 > 27=602010
alu < 27 0 > 64=4 29=60213c
store [602010]4 < 6 2 29 >
alu < > 8=100000000
alu < 8 > 0=100000000
slow < 8 0 > 0=0 2=1 64=
alu < 31 > 31=S
store [S]8 < 31 0 >
load [602010]8 < > 27=60213c
alu < 31 > 31=S
store [S]8 < 31 27 >
load [S]8 < 31 > 9=60213c
alu < 31 > 31=S
load [S]8 < 31 > 27=0
alu < 31 > 31=S
store [602010]8 < 27 >
load [602000]16 < > 33=1122334455667788:99aabbccddeeff00
load [602000]16 < > 63=1122334455667788:99aabbccddeeff00
fp < 63 33 > 33=22446688aaccef10:33557799bbddfe00
store [602010]16 < 33 >
load [602000]8 < > 34=1122334455667788:0
alu < > 0=3
fp < 33 0 > 33=4008000000000000:0
alu < 0 > 64=44
alu < 64 > 29=1
store [602010]1 < 29 >
alu < > 64=45
alu < 0 64 > 0=4 64=0
alu < > 6=602000
alu < > 7=602010
alu < > 1=2
load [602000]8 < 6 > 27=1122334455667788
store [602010]8 < 7 27 >
load [602008]8 < 6 > 27=99aabbccddeeff00
store [602018]8 < 7 27 >
alu < 27 7 6 1 64 > 1=0 7=602020 6=602010
load [602010]4 < 6 > 27=55667788
alu < 27 6 64 > 0=55667788 6=602014
load [602000]8 < > 27=1122334455667788
fp < 27 24 >
fp < 24 > 29=1122334455667788
store [602010]8 < 29 >
slow < >
alu < 31 > 31=S
store [S]8 < 31 4 >
jump 1 4010c0 < > 30=4010c0
alu < 31 > 31=S 64=
cond 0 0 < 64 >
alu < 31 > 31=S
store [S]8 < 31 4 >
jump 1 4010d7 < > 30=4010cb
load [S]8 < 31 > 30=4010cb
alu < 31 > 31=S
jump-ind 1 4010cb < 30 >
alu < > 0=e7
alu < > 7=7
!
addrconv -f cvp values.ws | ./cvpread - | cut -d' ' -f2- | sed '$d
	s/7ff[0-9a-f]\{9\}/S/g
	s/^\(slow .* 2=1 64=\).*/\1/; s/^\(alu < 31 > 31=S 64=\).*/\1/; s/\(2=0 64=\)54/\144/' >got
ok "all records and values" diff want got

# in CBP 2025, calls and returns have their own classes, and three registers are read at most
addrconv -f cbp2025 values.ws | ./cvpread -b - | cut -d' ' -f2- | sed '$d
	s/7ff[0-9a-f]\{9\}/S/g
	s/^\(slow .* 2=1 64=\).*/\1/; s/^\(alu < 31 > 31=S 64=\).*/\1/; s/\(2=0 64=\)54/\144/' >got
sed 's/^jump 1 \(.*\) 30=/call 1 \1 30=/; s/^jump-ind 1 \(.* < 30\)/return 1 \1/
	s/\(< [0-9]* [0-9]* [0-9]*\) [0-9 ]*>/\1 >/; s/^\(store .* <\) \([0-9]*\) >/\1 4 \2 >/' want >want2
ok "the same in CBP 2025" diff want2 got

# compared NAME [HANDLER]: the records of NAME.ws are its references, and loads have the values that were stored
compared() {
	ws2addr -f text -o "$1.txt" "$1.ws"
	addrconv -f cvp -o "$1.cvp" "$1.ws" || fail "$1: converts"
	addrconv -f cbp2025 -o "$1.cbp" "$1.ws" || fail "$1: converts"
	./cvpread "$1.cvp" "$1.txt" ${2:+"$2"} >"$1.out"
	is "$1: what the reader says" "$? $(grep -v '^[a-z-]* [0-9]*$' "$1.out")" "0 "
	./cvpread -b "$1.cbp" "$1.txt" ${2:+"$2"} >"$1.out2"
	is "$1: of CBP 2025" "$? $(grep -v '^[a-z-]* [0-9]*$' "$1.out2")" "0 "
	is "$1: all loads and stores" "$(grep -e '^load' -e '^store' "$1.out")" "load $(grep -c -e '^load' -e '^modify' "$1.txt")
store $(grep -c -e '^store' -e '^modify' "$1.txt")"
}
count() { sed -n "s/^$1 //p" "$2"; }
compared flow "$(nm flow | sed -n 's/ t handler//p')"
# as champsim.t has them: 100 rounds
is "branches" "$(for k in cond jump jump-ind; do count $k flow.out; done | tr '\n' ' ')" "602 300 1102 "
is "branches of CBP 2025" "$(for k in cond jump jump-ind call call-ind return; do count $k flow.out2; done | tr '\n' ' ')" \
	"602 100 300 200 300 502 "
wscap -o ls.ws sh -c 'echo /*' >/dev/null
compared ls
ok "many loads have a value that is known to the reader" test "$(count known ls.out)" -gt 5000

addrconv -f cvp ls.ws | gzip -1 | gzip -d | cmp -s - ls.cvp
is "through a pipe, compressed" $? 0
for f in cvp cbp2025; do
	pieces $f
	broken $f
done
tap_end
