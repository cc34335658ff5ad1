# Wrong usage: one line about the option and the synopsis, status 2 (125: wscap), nothing on standard output
. "$SRC/testdata/tap.sh"

for tool in $TOOLS; do
	[ "$tool" = aecc ] && continue  # its options are the compiler's
	for o in --bogus --help -@%; do
		timeout 20 "$tool" $o </dev/null >out 2>err
		status=$?
		[ $status = 0 ] && continue
		is "$tool $o: status, lines about options, of output" "$status $(grep -c 'option' err) $(wc -c <out | tr -d ' ')" "2 1 0"
	done
done

echo text >text
mkdir folder
is "bifcm -r addr of no reference stream writes nothing" "$(bifcm -r addr text 2>err | wc -c | tr -d ' ') $(cat err)" \
	"0 bifcm: text: byte 0: not a reference stream (of references without its header: -H 0)"
is "nor does bifcm of a folder" "$(bifcm folder 2>err | wc -c | tr -d ' ') $(cat err)" "0 bifcm: folder: Is a directory"
is "nor wetz of what is no WET" "$(wetz text 2>err | wc -c | tr -d ' ') $(grep -c . err)" "0 1"
for tool in bifcm wetz; do
	"$tool" -10 text >out 2>err
	is "$tool has no level 10" "$? $(wc -c <out | tr -d ' ')" "2 0"
done
seq 100 >private
chmod 600 private
bifcm -w 1 -o x.bif private
is "what is made of a private file is private" "$(stat -c %a x.bif)" 600
bifcm -w 1 <private >plain.bif
cat plain.bif plain.bif >twice.bif
gives "two compressed streams" 1 "bifcm: twice.bif: byte $(wc -c <plain.bif | tr -d ' '): something follows the end of the stream" bifcm -d twice.bif
same "the first was written" tap.out private
tap_end
