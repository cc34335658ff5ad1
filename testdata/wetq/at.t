# wetq at: registers, variables and callers are those that gdb finds, in the same run by wsgdb; at -O0 to -O2
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v gdb >/dev/null || { skip "no gdb"; exit 0; }

cat >head <<'X'
set confirm off
set pagination off
set width 0
set print symbol off
set print elements 32
set remotetimeout 600
set print repeats unlimited
set print null-stop on
set print entry-values no
set print frame-arguments all
set backtrace past-main on
X

# both TEXT: the program's own functions with their variables, without numbers, addresses and lines.  gdb lists no constant
# of 16 bytes (wide), and has frames for calls that are jumps.  Lines are those of list: gdb takes another row of the table.
# Of a pointer before its first value gdb says that there is no memory; whether there is depends on where the stack is.
# When main needs argc and argv no more, what its caller had for them tells; gdb looks for main's caller only past-main.
both() {
	sed -n '/^at /p; /^rip /p; /^rax /p; /^#/p; /^   *[a-zA-Z_]* = /p' "$1" |
	    sed 's/^#[0-9]* *0x[0-9a-f]* in /# /; s/^#[0-9]* */# /; s/^  */  /; s/ at [^ ]*:[0-9]*$//; s/ from target:.*//; s/ at 0x[0-9a-f]*$//; s/ <error: [^>]*>//g' |
	    awk '/^at /{ own = 0 } /^#/ { own = /^# (main|twice|mix|weigh|walk|text|compare) \(/ }
		/^at / || /^r/ || (own && !/^  wide = /)'
}

for o in 0 1 2; do
	# a pointer to a function holds what was on the stack before it got a value: gdb has a name for libc's data, too
	${CC:-gcc} -g -O$o -w $static "$HERE/at/prog.c" -o prog && objcopy -N main_arena prog && wscap -o prog.ws ./prog >out || { fail "-O$o: a capture"; continue; }
	{ cat head && echo "target remote | wsgdb prog.ws"; } >script
	# points of all functions, in the middle of their executions; not at the beginning of an inlined one, where gdb shows its caller
	wetq list prog.ws | awk -v every=$((o == 0 ? 30 : 18)) '$4 ~ /prog.c$/ && seen[$5]++ % every == 2 { print $1 "#" int($2 / 2) }' >points
	# one session answers all
	sed 's/^/at /' points | wetq -i prog.ws >answers 2>err || fail "-O$o: at" "$(cat err)"
	awk 'NR == FNR { p[NR] = $0; next } FNR == 1 || !$0 { if (p[++n]) print "at " p[n] } { print }' points answers |
	    sed 's/^rip \(0x[0-9a-f]*\).*/rip \1/; s/^rax \(0x[0-9a-f]*\).*/rax \1/' >ours
	sed -n 's/^before instruction \([0-9]*\) .*/\1/p' answers | paste points - | while read -r p n; do
		printf 'monitor goto %s\nstepi\necho at %s\\n\nprintf "rax 0x%%lx\\n", $rax\nprintf "rip 0x%%lx\\n", $rip\nbt full\n' "$n" "$p" >>script
	done
	DEBUGINFOD_URLS='' timeout 300 gdb -nx -q -batch -x script prog >theirs 2>err </dev/null
	both ours >got
	both theirs >want
	is "-O$o: points" "$(($(grep -c '^at' want) > 9))" 1
	is "-O$o: variables" "$(($(grep -c '^  ' want) > 60))" 1
	same "-O$o: what gdb says ($(grep -c . want) lines)" got want
done

# What is inlined was called in a file that has the name that list prints, by which a point can be given
cp "$HERE/at/prog.c" own.c
${CC:-gcc} -g -O2 -w $static own.c -o own && wscap -o own.ws ./own >out
wetq list own.ws | awk '$4 == "own.c" { print "at " $1 }' | wetq -i own.ws 2>err | sed -n 's/^#[0-9].* at \(.*own\.c\):[0-9]*$/\1/p' | sort -u >names
is "files of what was inlined" "$(cat names)" own.c

# -n is for all answers that are lists
is "-n: list" "$(wetq -n 3 list own.ws | grep -c .)" 3
is "-n: statements of a slice" "$(wetq -n 3 -c slice end own.ws 2>err | grep -c .)" 3
is "-n: dependences as JSON" "$(wetq --json deps main own.ws 2>err | grep -c '"port"') $(wetq --json -n 0 deps main own.ws 2>err | grep -c '"port"')" \
	"$(wetq deps main own.ws 2>err | grep -c .) 0"

# the same as JSON, from the last capture; and where things are
p=$(sed -n 1p points)
wetq --json at "$p" prog.ws >json
is "JSON: instruction" "$(sed -n 's/^  "instruction": \([0-9]*\),/\1/p' json)" "$(wetq at "$p" prog.ws | sed -n 's/^before instruction \([0-9]*\) .*/\1/p')"
is "JSON: with -n, so many functions" "$(wetq --json -n 1 at "$p" prog.ws | grep -c '"function": ')" 1
is "JSON: frames" "$(grep -c '"function": ' json)" "$(wetq at "$p" prog.ws | grep -c '^#')"
is "at most one frame" "$(wetq -n 1 at "$p" prog.ws | grep -c '^#')" 1
${CC:-gcc} -g -O0 -w $static "$HERE/at/prog.c" -o prog && wscap -o prog.ws ./prog >out
is "where it is" "$(wetq --json at walk#1 prog.ws | awk '/"name": "depth"/ { on = 1 } on && /"where": "\*0x7f/ { print "in memory"; exit }')" "in memory"

for q in "html main" "walk main"; do
	# shellcheck disable=SC2086
	gives "no JSON: $q" 2 "wetq: --json is for all questions but html and walk; see wetq --help" wetq --json $q prog.ws
done
for o in "-b:-b and -f are for cf" "-f 1#0:-b and -f are for cf" "-c:-c is for slice" "-a:-a is for why" \
	"--forward:--forward is for slice, dot and annotate"; do
	gives "list ${o%%:*}" 2 "wetq: ${o#*:}; see wetq --help" wetq ${o%%:*} list prog.ws
	is "list ${o%%:*}: a line of -i" "$(echo "${o%%:*} list" | wetq -i prog.ws 2>&1 >got)" "wetq: ${o#*:}"
done
is "no JSON: a line of -i" "$(echo "--json html main" | wetq -i prog.ws 2>&1 >got)" "wetq: --json is for all questions but html and walk"

# from all that has a capture in it, and from nothing else
wetz -1 -m replay -o prog.replay prog.ws && wetz -1 -o prog.full prog.ws
wetq at walk#2 prog.ws >want
wetq at walk#2 prog.replay >got 2>err
same "from kind replay" got want
gives "from kind full" 1 "wetq: prog.full: only captures and files of kind replay tell registers and memory" wetq at walk#2 prog.full
wstrim -o trimmed.ws prog.ws
wetq at walk#2 trimmed.ws >got 2>err
is "trimmed: the same functions" "$(grep '^#' got | sed 's/ .*//')" "$(grep '^#' want | sed 's/ .*//')"
printf 'at walk#2\nwhy walk#1\nat walk#2\n' | wetq -i prog.ws >got 2>err
is "in a session, twice the same" "$(grep -c '^#.* walk (' got)" "$(($(grep -c '^#.* walk (' want) * 2))"
strip -o bare prog && wscap -o bare.ws ./bare >out
is "without names" "$(wetq at @5000 bare.ws 2>err | grep -c '^#0 ')" 1
tap_end
