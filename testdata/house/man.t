# Manual pages: no warning from the linter; a page for each tool; options and pages agree
. "$SRC/testdata/tap.sh"
cd "$SRC/man" || exit 1

command -v mandoc >/dev/null || { skip "no mandoc"; exit 0; }
# what says nothing of the page: long lines, a machine without some manuals
noise='longer than 80 bytes|^an 80 bytes|mandoc\.db|referenced manual not found'
# each page once, and one run of each program for all of them
mandoc -T lint -W style ./* >"$TMPDIR/lint.out" 2>"$TMPDIR/lint.err"
cat "$TMPDIR/lint.out" "$TMPDIR/lint.err" | grep -v -E "$noise" >"$TMPDIR/lint"
map=" $(sed -n 's/^\.\(It \)\{0,1\}Xr \([^ ]*\) \([0-9]\).*/\2.\3/p' tracemill.7 | tr '\n' ' ')"
awk 'FNR == 1 { if (NR > 1) say(); page = FILENAME; os = nm = "" }
	/^\.Os/ { os = os $0 }
	/^\.Nm / && nm == "" { nm = $2 }
	END { say() }
	function say() { print page "|" os "|" nm }' * >"$TMPDIR/pages"
while IFS='|' read -r page os nm; do
	lint=
	while read -r line; do case $line in *" ./$page:"*) lint="$lint$line " ;; esac; done <"$TMPDIR/lint"
	is "$page: lint" "$lint" ""
	is "$page: whose system" "$os" .Os
	name=${page%.*}
	is "$page: names itself" "$nm" "$name"
	[ "$name" = tracemill ] && continue
	case $map in *" $page "*) pass "$page: in tracemill(7)" ;; *) fail "$page: in tracemill(7)" ;; esac
done <"$TMPDIR/pages"
is "the linter says no other" "$(grep -v ' \./[^ ]*:' "$TMPDIR/lint")" ""

# pages named anywhere exist, or are the system's
system=' cmp(1) gcc(1) cc(1) ld(1) as(1) valgrind(1) qemu(1) nm(1) make(1) elf(5) a.out(5) zstd(1) xz(1) gzip(1) compress(1) head(1) g++(1)'
system="$system execve(2) fork(2) signal(7) setarch(8) backtrace(3) sigaltstack(2) sigaction(2) write(2) true(1) gdb(1) ar(1) gnuplot(1) environ(7) env(1) vfork(2) clone(2) "
missing=
for ref in $(sed -n 's/^\.\(It \)\{0,1\}Xr \([^ ]*\) \([1-9]\).*/\2.\3/p' ./* | sort -u); do
	case $system in *" ${ref%.*}(${ref##*.}) "*) continue ;; esac
	[ -f "$ref" ] || missing="$missing $ref"
done
is "every page referred to exists" "$missing" ""

# order of the sections that style wants
awk 'FNR == 1 { if (NR > 1) print page "|" got; page = FILENAME; got = "" }
	/^\.Sh (NAME|SYNOPSIS|DESCRIPTION|EXIT STATUS|EXAMPLES|SEE ALSO|BUGS)$/ { got = got substr($0, 5) " " }
	END { print page "|" got }' *.1 >"$TMPDIR/sections"
while IFS='|' read -r page got; do
	case $got in
	'NAME SYNOPSIS DESCRIPTION EXIT STATUS EXAMPLES SEE ALSO ' | 'NAME SYNOPSIS DESCRIPTION EXIT STATUS EXAMPLES SEE ALSO BUGS ')
		pass "$page: sections" ;;
	*) fail "$page: sections" "$got" ;;
	esac
done <"$TMPDIR/sections"

# of each page of a tool: its options of one letter, those of them that have a value, its sentence
awk 'FNR == 1 { if (NR > 1) say(); page = FILENAME; sub(/\.1$/, "", page); options = with = nd = "" }
	/^\.Nd / { nd = substr($0, 5) }
	/^\.It Fl [A-Za-z0-9]( .*)?$/ && !index(options, $3) { options = options $3 }
	/^\.It Fl [A-Za-z0-9]( , Fl -[a-z-]*)? Ar/ { with = with $3 }
	END { say() }
	function say() { print page "|" options "|" with "|" nd }' *.1 >"$TMPDIR/tools"
listed="
$(grep '^\.It Xr .* 1$' tracemill.7)
"
version=$(sed -n 's/^VERSION = //p' "$SRC/GNUmakefile")

cd "$TMPDIR" || exit 1
for tool in $TOOLS; do
	page=$SRC/man/$tool.1
	if [ -f "$page" ]; then pass "$tool has a page"; else fail "$tool has a page"; continue; fi
	# one sentence for each tool, the same everywhere
	while IFS='|' read -r name options with nd && [ "$name" != "$tool" ]; do :; done <tools
	# the overview lists those that do something with traces
	case $tool$listed in
	tracemill*) ;;
	*"
.It Xr $tool 1
"*) pass "$tool: tracemill(7)" ;;
	*) fail "$tool: tracemill(7)" ;;
	esac
	for f in "$SRC/bin/$tool" "$SRC"/src/*/"$tool.c" "$SRC"/src/*/"$tool/main.c" "$SRC"/src/*/"$tool/$tool.c"; do
		[ -f "$f" ] && break
	done
	sentence="$tool: $nd" awk '{ text = text " " $0 } NR == 6 { exit }
		END { gsub(/[*# ]+/, " ", text); exit !index(text, ENVIRON["sentence"]) }' "$f" && pass "$tool: first comment" ||
		fail "$tool: first comment" "${f#"$SRC"/}: $tool: $nd"
	# aecc's options are gcc's
	case $tool in aecc | ae++) continue ;; esac
	rest=$options
	while [ "$rest" ]; do
		o=${rest%"${rest#?}"} rest=${rest#?} arg=
		case $with in *$o*) arg=1 ;; esac
		err=$("$tool" -"$o" $arg </dev/null 2>&1 >/dev/null)
		case $err in
		*'no such option'* | *'value is missing'* | *'has no value'*) fail "$tool -$o is accepted" "$err" ;;
		*) pass "$tool -$o is accepted" ;;
		esac
	done
	# what --help lists is what the page has, long names and values included; -0 stands for all levels
	"$tool" --help >help
	is "$tool --help: status, width, lines" "$? $(awk 'length > 110 { wide = wide $0 } END { print wide, (NR > 6 && NR < 40) }' help)" "0  1"
	awk '$1 == ".It" && $2 == "Fl" && $3 !~ /^[0-9]/ {
		for (i = 3; i <= NF && $i ~ /^(,|Fl|Ns|=|-?[A-Za-z][a-z0-9-]*)$/ && $i != "Ar"; i++)
			if ($i ~ /^-?[A-Za-z]/ && $i != "Fl" && $i != "Ns") printf "-%s ", $i
		print (/ Ar / ? "=" : "")
	}' "$page" | sort >want
	awk '/^  (-[A-Za-z]|   ).*--[a-z]/ {
		sub(/,/, " ")
		name = $1 ~ /^--/ ? $1 : $1 " " $2
		print (name ~ /=/ ? substr(name, 1, index(name, "=") - 1) " =" : name " ")
	}' help | sort >got
	same "$tool: options of the page and of --help" want got
	is "$tool --version" "$("$tool" --version)" "$tool (tracemill) $version"
	# and an option that the page does not have is not
	wrong=2
	[ "$tool" = wscap ] && wrong=125
	undocumented=
	for o in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
		case $options in *$o*) continue ;; esac
		"$tool" -$o </dev/null >/dev/null 2>err
		[ $? = $wrong ] || undocumented="$undocumented -$o"
	done
	is "$tool has no option that its page lacks" "$undocumented" ""
done

# the build has them, too, where man(1) looks for those of programs in PATH
if [ -z "$SAN" ]; then
	is "pages of the build" "$(cat "$BUILD"/share/man/man[1-9]/* | cksum)" "$(cat "$SRC"/man/*.1 "$SRC"/man/*.3 "$SRC"/man/*.5 "$SRC"/man/*.7 | cksum)"
	! man -w ls >/dev/null 2>&1 || is "are found" "$(man -w wscap)" "$BUILD/share/man/man1/wscap.1"
fi
tap_end
