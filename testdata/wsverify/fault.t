# Whatever goes wrong in a replay is found, and where
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
fault=$BUILD/test/wsfault
ok "a small program" tiny
n=$(ws2addr -c tiny.ws | sed -n 's/^instructions //p')
is "nothing is wrong" "$("$fault" tiny.ws none)" "no difference in $n"
ws2addr -f text tiny.ws >all.txt

# references of the replay in blocks: a fetch, a load, a store, the last
stores=$(grep -n ^store all.txt | sed -n '5{s/:.*//;p;}')
loads=$(grep -n ^load all.txt | sed -n '7{s/:.*//;p;}')
for k in 1 "$stores" "$loads" "$(wc -l <all.txt)"; do
	at=$(head -n "$k" all.txt | grep -c ^inst)
	for what in address size kind drop double; do
		[ "$what" = double ] && [ "$k" = "$(wc -l <all.txt)" ] && continue
		where=$at
		[ "$what" = double ] && where=$(head -n $((k + 1)) all.txt | grep -c ^inst)
		case $("$fault" tiny.ws $what $((k - 1))) in
		"instruction $((where - 1)): "*) pass "$what of reference $k" ;;
		*) fail "$what of reference $k" "$("$fault" tiny.ws $what $((k - 1))), not at $((where - 1))" ;;
		esac
	done
done
is "registers behind a batch" "$("$fault" tiny.ws register 12 | sed 's/.*: in blocks: \(r12\) .*/\1/')" r12

# memory of the first replay: a datum that is loaded, code, a byte that nobody uses
addr() { echo "0x$(nm "$1" | sed -n "s/^0*\([0-9a-f]*\) . $2\$/\1/p")"; }
is "memory" "$("$fault" tiny.ws memory "$(addr tiny answer)")" "instruction $((n - 3)): rdi is 0x2a, and 0x2b in the replay"
case $("$fault" tiny.ws memory $(($(addr tiny twice) + 3))) in
"instruction "*) pass "code" ;;
*) fail "code" ;;
esac
ok "another program" made odd
case $("$fault" odd.ws memory "$(addr odd vec)") in
"instruction "*" in the replay"*) pass "a vector" ;;
*) fail "a vector" "$("$fault" odd.ws memory "$(addr odd vec)")" ;;
esac
case $("$fault" odd.ws memory "$(addr odd idle)") in
*": memory at $(addr odd idle) is 0x00, and 0x01 in the replay" | *": memory at $(addr odd idle) is 0x07, and 0x06 in the replay") pass "memory that nobody uses" ;;
*) fail "memory that nobody uses" "$("$fault" odd.ws memory "$(addr odd idle)")" ;;
esac

# a capture in which something else is written: both sides believe it up to where it shows
"$BUILD/test/wschange" tiny.ws other.ws "$(addr tiny answer)"
wsverify other.ws >out 2>err
is "a capture that is not the program's: status" $? 2
grep -q 'drifted at instruction' err && pass "and it is said" || fail "and it is said" "$(cat out err)"
tap_end
