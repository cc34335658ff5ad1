# Captures that are not what they should be: drift is seen and placed, truncation keeps what is whole, another processor is named
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program is captured" tiny
change=$BUILD/test/wschange
ws2addr -f text tiny.ws >all.txt
n=$(grep -c ^inst all.txt)

# one byte of memory: the status that the program ends with
ok "a byte is changed" "$change" tiny.ws other.ws "0x$(nm tiny | sed -n 's/^0*\([0-9a-f]*\) D answer/\1/p')"
ws2addr -f text other.ws >out 2>err
is "status" $? 1
pc=$(objdump -d tiny | awk '/syscall/ { a = $1 } END { sub(":", "", a); print a }')
is "drift is told with instruction and address" "$(sed 's/byte [0-9]* (record [0-9]*)/byte N/' err)" \
	"ws2addr: other.ws: byte N: drifted at instruction $n, 0x$(printf %x $((0x$pc + 2))): argument 1 of system call exit_group is 0x2b, not 0x2a"
same "and what came before is written" all.txt out
ws2addr -o file.ref other.ws 2>/dev/null
is "no half output under its name" "$(ls file.ref 2>/dev/null)" ""
ws2addr -j 2 -f text other.ws >out2 2>err2
is "two jobs: status" $? 1
same "two jobs: references" out out2
same "two jobs: words" err err2

ok "a hash is changed" "$change" tiny.ws other.ws @0
ws2addr -c other.ws >out 2>err
is "registers: status" $? 1
is "registers" "$(sed 's/.*: \(registers\)/\1/' err)" "registers at system call write are not those of the program"

ok "another processor" "$change" tiny.ws other.ws cpuid
ws2addr other.ws >out 2>err
is "another processor: status" $? 1
is "another processor: named" "$(sed 's/lacks: .*/lacks/' err)" \
	"ws2addr: other.ws: captured on a processor (A Better One) with what this one lacks"
is "another processor: one line" "$(wc -l <err | tr -d ' ')" 1

# every truncation: one line, status 1, and what is written is the beginning of the whole
size=$(bytes tiny.ws)
is "truncated anywhere" "$(damaged -s $((1 + few * size / 400)) tiny.ws cut.ws all.txt ws2addr -f text cut.ws)" ""

# flipped bits: found, or without consequence
is "other bytes anywhere" \
	"$(damaged -0 -b aa -o 7 -s $((1 + few * size / 300)) tiny.ws flip.ws all.txt ws2addr -f text flip.ws)" ""
tap_end
