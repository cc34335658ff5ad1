# The walk-through of the format's description: foo1 2 7
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
# with its libraries, so that --main leaves them out
static=
ok "foo1 is captured" foo1
is "its output" "$(cat foo1.out)" "result is 21"
ok "the text of the program" ws2wet --main -o main.wet foo1.ws
ok "and with its libraries" ws2wet -o all.wet foo1.ws

for text in main.wet all.wet; do
	id=$(awk '$4 == "foo1.c" && $5 == "main" && $6 == 8 { print $1; exit }' $text)
	block $text "$id" >block
	# gcc loads x first; clang multiplies it where it is
	ok "$text: the first statement of line 8 is executed once, and has the value 2, or 2 * 7" \
		grep -qxE 'VALUES 1 +0:[2e] ' <<-X
			$(sed -n '/^VALUES/,$p' block | tr '\n' ' ')
		X
	is "$text: it has two use ports" "$(head -n 1 block | cut -d ' ' -f 2) $(grep -c '^SIZE 1$' block)" "2 2"
	control=$(sed -n '3s/.*:\([0-9]*\) 0$/\1/p' block)
	data=$(sed -n '5s/.*:\([0-9]*\) 0$/\1/p' block)
	is "$text: it is control dependent on line 4" "$(block $text "$control" | head -n 1 | cut -d ' ' -f 4-)" "foo1.c main 4"
	is "$text: and data dependent on line 6" "$(block $text "$data" | head -n 1 | cut -d ' ' -f 4-)" "foo1.c main 6"
	is "$text: where nothing is defined, there are no values" "$(block $text "$data" | tail -n 1)" "NO VALUES"
	at=$(head -n 1 block | cut -d ' ' -f 3)
	wet2circ $text | grep "^0x$at#0 " >lines
	a=$(block $text "$control" | head -n 1 | cut -d ' ' -f 3)
	b=$(block $text "$data" | head -n 1 | cut -d ' ' -f 3)
	is "$text: its lines in the limited history" "$(cat lines)" "0x$at#0 --> 0x$a#0
0x$at#0 --> 0x$b#0"
done
is "ids are in order" "$(awk '$4 == "foo1.c" { if ($1 <= last) print; last = $1 }' all.wet)" ""
is "what the text says of line 10 is no more than it has" "$(block main.wet "$(awk '$6 == 12 { print $1; exit }' main.wet)" | sed -n 2p)" "SIZE 0"
tap_end
