# Wrong usage: one line that names the option, status 2 (125: wscap), nothing on standard output
. "$SRC/testdata/tap.sh"

for tool in $TOOLS; do
	case $tool in aecc | ae++) continue ;; esac     # their options are the compiler's
	status=2
	[ "$tool" = wscap ] && status=125       # others may be the program's
	for o in --bogus -@; do
		gives "$tool $o" $status "$tool: $o: no such option; see $tool --help" "$tool" $o
	done
done

echo text >text
mkdir folder
is "bifcm -r addr of no reference stream writes nothing" "$(bifcm -r addr text 2>err | wc -c | tr -d ' ') $(cat err) $(ls text*)" \
	"0 bifcm: text: byte 0: not a reference stream; if its header is missing, use -H 0 text"
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
gives "two compressed streams" 1 "bifcm: twice.bif: byte $(wc -c <plain.bif | tr -d ' '): something follows the end of the stream" bifcm -dc twice.bif
same "the first was written" tap.out private
# A file that cannot be opened is named with the reason, and nothing else, by each of them, wherever it is among its arguments;
# %: the file
forms() {
	case $1 in
	addrdiff) printf '%s\n' '-e % text text' '% text' ;;
	aec) printf '%s\n' '-b %' '-o made %' ;;
	ae2addr) printf '%s\n' '% text' ;;
	aepack) printf '%s\n' '% text' ;;
	bifcm) printf '%s\n' % '-d %' '-dc %' '-l %' '-r addr %' ;;
	laplace-merge) printf '%s\n' '-o made % text' '-s text %' ;;
	laplace-text) printf '%s\n' % '-b %' '-b -m %' ;;
	wetq) printf '%s\n' 'list %' 'cf %' 'slice 1 %' 'arch %' ;;
	wetz) printf '%s\n' % '-d %' '-m full %' ;;
	ws2laplace) printf '%s\n' '-k made %' ;;
	aecc | ae++ | laplace-pages | laplace-schedule | laplace-stat | tracemill | wscap) ;;     # it is a compiler's input, a folder, a tool, or a program
	*) echo % ;;
	esac
}
: >text
for tool in $TOOLS; do
	forms "$tool" | while read -r args; do
		for file in none folder none/below; do
			why='No such file or directory'
			[ $file = folder ] && why='Is a directory'
			# shellcheck disable=SC2086    # arguments, which are to be split
			"$tool" ${args%%\%*}$file${args#*%} </dev/null >out 2>err
			status=$? said='' more=''
			{ IFS= read -r said; IFS= read -r more; } <err
			echo "$tool $args $file: $status $said$more"
			trouble=1
			case $tool in addrdiff | wsverify) trouble=2 ;; esac
			[ "$status $said$more" = "$trouble $tool: $file: $why" ] || echo "$tool $args: status $status, $said$more" >>wrong
		done
	done
done >tried
[ "$(grep -c . tried)" -gt 60 ] && pass "$(grep -c . tried) tried" || fail "too few were tried"
is "files that cannot be opened: others than tool: file: why" "$(cat wrong 2>/dev/null)" ""
# A file of another tool is named for what it is
printf '\211TMCAP\r\n and more' >cap
printf '\211TMREF\r\n and more' >ref
gives "a capture for its text" 1 "wet2circ: cap: line 1: a capture, not text of an execution trace: ws2wet makes that of it" wet2circ cap
gives "a stream for text" 1 "wetz: ref: line 1: a reference stream, not text of an execution trace: cachesim, addrconv and others read it" wetz ref
gives "a capture for its trace" 1 "wetz: cap: byte 0: a capture, not a .wet file: wetz makes one of it" wetz -d cap
gives "by wetq, too" 1 "wetq: cap: byte 0: a capture, not a .wet file: wetz makes one of it" wetq arch cap
gives "a stream for values" 1 "bifcm: ref: byte 0: a reference stream, not a value stream of bifcm(5): cachesim, addrconv and others read it" bifcm -dc ref
rm cap ref
# What is read at any place cannot be compressed, and is told from what is something else
set -- gzip xz bzip2 zstd
for with do
	"$with" -c private >x.pack
	for tool in 'wsinfo' 'ws2addr' 'wetq list' 'wetz -d' 'bifcm -dc' 'bifcm -l'; do
		# shellcheck disable=SC2086
		gives "$tool of what $with made" 1 \
			"${tool%% *}: x.pack: byte 0: compressed ($with): decompress it first, as it is read at any place" $tool x.pack
	done
done
is "what no file has made" "$(ls -d made 2>/dev/null)" ""

# Standard input has a name, too, however it is asked for: damaged, and empty where that is wrong
printf '\211TM?\r\n\032\n and what follows it' >garbage
: >empty
for tool in $TOOLS; do
	forms "$tool" | while read -r args; do
		[ "$tool $args" = 'bifcm %' ] && continue       # nothing is damaged for it
		for file in - /dev/stdin ''; do
			# no operand, if the file is the last one
			case $file$args in -* | /* | *%) ;; *) continue ;; esac
			for input in garbage empty; do
				said=''
				# a pipe; shellcheck disable=SC2086
				cat $input | "$tool" ${args%%\%*}$file${args#*%} 2>err >out
				IFS= read -r said <err
				case $input:$file:$said in
				*"; see $tool --help") continue ;;      # the operand is needed, or another option
				"empty:"*":$tool: text: "*) continue ;; # that one is empty, too
				empty:*: | *":$tool: standard input: "*) ;;
				*) echo "$tool $args $file, $input: $said" >>misnamed ;;
				esac
				echo "$said" >>named
			done
		done
	done
done
[ "$(grep -c . named)" -gt 80 ] && pass "standard input is named $(grep -c . named) times" || fail "too few were named" "$(cat named)"
is "messages that do not name it" "$(cat misnamed 2>/dev/null)" ""
for name in - /dev/stdout; do
	is "standard output as -o $name" "$(laplace-text -b -o $name <empty 2>&1 >/dev/full; echo text | bifcm -w 1 -o $name 2>&1 >/dev/full)" \
		"bifcm: standard output: No space left on device"
done

# Nothing binary goes to a terminal, which script(1) is; text does
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; tap_end; exit; }
command -v script >/dev/null || { skip "no script"; tap_end; exit; }
echo 'int main(void) { return 0; }' >p.c
aecc p.c -o p && AE_OUT=p.ae ./p && aec -b p && wscap -o p.ws true && ws2laplace -k k -o r p.ws || fail "files to begin with"
laplace-merge -s -o m r k
while read -r command; do
	script -qec "$command" /dev/null </dev/null >out 2>&1
	status=$?
	want=1
	case $command in wscap*) want=125 ;; esac
	is "$command, to a terminal" "$status $(tr -d '\r' <out | sed 's/^[^:]*: an* [a-z -]* is not/it is not/')" \
		"$want it is not written to a terminal: name a file with -o, or pipe it to another tool"
done <<'E'
ae2addr p p.ae
./p.regen p.ae
bifcm -c -w 1 text
laplace-merge -s -b r k
laplace-text -b -m m
ws2addr p.ws
ws2laplace -k k2 p.ws
ws2laplace -k - -o r2 p.ws
wetz p.ws
wscap -o /dev/tty true
wstrim -o - p.ws
E
ln p.ws before
ok "wstrim may replace what it reads" wstrim -o p.ws p.ws
is "which it does by a new file" "$(test "$(wc -c <p.ws)" -lt "$(wc -c <before)" && echo less)" less
for command in 'ae2addr -f text p p.ae' './p.regen -c p.ae' 'ws2addr -c p.ws' 'laplace-text r' 'laplace-merge -s r k'; do
	script -qec "$command" /dev/null </dev/null >out 2>&1
	is "$command, to a terminal" "$? $(grep -c terminal out) $(test -s out && echo some)" "0 0 some"
done
tap_end
