# tracemill help, tracemill TOOL: what is listed, what is run, what is said of what is not there
. "$SRC/testdata/tap.sh"

tracemill help >screen
is "help: status" $? 0
missing=
for tool in $TOOLS; do
	[ "$tool" = tracemill ] && continue
	nd=$(sed -n 's/^\.Nd //p' "$SRC/man/$tool.1")
	sed -n "s/^  $tool  *//p" screen | grep -q -x -F "$nd" ||
		missing="$missing $tool"
done
is "help lists each tool with its sentence" "$missing" ""
is "in the groups of tracemill(7)" "$(grep '^[A-Z]' screen | sed '1d; /:$/d')" \
	"$(sed -n '/^\.Sh DESC/,/^\.Ss Which/s/^\.Ss //p' "$SRC/man/tracemill.7" | grep -v Which)"
for page in "$SRC"/man/*.[2-8]; do
	page=${page##*/}
	[ "$page" = tracemill.7 ] || grep -q "^  ${page%.*}(${page##*.}) " screen || echo "$page"
done >missing
is "and each other page" "$(cat missing)" ""
is "its lines are not too long" "$(awk 'length > 110' screen)" ""

tracemill help wetz >got
{ echo "Its page: $(sed -n 's/^Its page: //p' got)"; echo; wetz --help; } >want
same "help of a tool" want got
case $(head -n 1 got) in
'Its page: man 1 wetz' | "Its page: man -l "*/wetz.1) pass "its page" ;;
*) fail "its page" "$(head -n 1 got)" ;;
esac
tracemill help tracemill | sed 1,2d >got
tracemill --help >want
same "help of itself" want got
is "help of a format" "$(tracemill help ref | head -n 1)" "ref(5): stream of memory references"
mkdir -p there/bin there/share/man/man1
cp "$BUILD/bin/tracemill" "$BUILD/bin/bifcm" there/bin
cp "$SRC/man/bifcm.1" there/share/man/man1
is "the page where it is installed" "$(there/bin/tracemill help bifcm | head -n 1)" "Its page: man -l $(cd there && pwd -P)/share/man/man1/bifcm.1"

# A tool runs with its arguments, input and status
is "a tool's output" "$(echo text | tracemill bifcm -w 1 | tracemill bifcm -d)" text
gives "a tool's status" 1 "bifcm: none: No such file or directory" tracemill bifcm -d none
gives "a tool's wrong usage" 2 "bifcm: --bogus: no such option; see bifcm --help" tracemill bifcm --bogus
is "from its own folder, also by a link" "$(ln -s there/bin/tracemill link; PATH=/usr/bin:/bin ./link bifcm --version)" "$(bifcm --version)"
is "else from PATH" "$(there/bin/tracemill wsinfo --version)" "$(wsinfo --version)"
gives "or it is not there" 127 "tracemill: wet2circ: not installed" env PATH=/usr/bin:/bin there/bin/tracemill wet2circ
gives "one that is built with other packages" 127 "tracemill: aerw: not installed; it is built with libzydis-dev libdw-dev libiberty-dev" \
	env PATH=/usr/bin:/bin there/bin/tracemill aerw
chmod 644 there/bin/bifcm
gives "a file that is no program is none" 127 "tracemill: bifcm: not installed" env PATH=/usr/bin:/bin there/bin/tracemill bifcm
chmod 755 there/bin/bifcm
echo text >there/bin/bifcm
gives "one that cannot be executed" 126 "tracemill: $(pwd -P)/there/bin/bifcm: Exec format error" there/bin/tracemill bifcm

gives "nothing else is run" 2 "tracemill: ls: no such tool; tracemill help lists them; see tracemill --help" tracemill ls
gives "no operand" 2 "tracemill: no tool is named; tracemill help lists them; see tracemill --help" tracemill
gives "help of what is none" 2 "tracemill: ls: no such tool; tracemill help lists them; see tracemill --help" tracemill help ls
gives "a format is no tool" 2 "tracemill: ref: no such tool; tracemill help lists them; see tracemill --help" tracemill ref
gives "help of two" 2 "tracemill: wscap: one operand too many; see tracemill --help" tracemill help wetz wscap
gives "doctor of one" 2 "tracemill: wscap: one operand too many; see tracemill --help" tracemill doctor wscap
if [ -c /dev/full ]; then
	for args in help 'help ref' doctor; do
		# shellcheck disable=SC2086
		tracemill $args >/dev/full 2>err
		is "$args: a full disk" "$? $(cat err)" "1 tracemill: standard output: No space left on device"
	done
fi
tap_end
