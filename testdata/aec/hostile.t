# Executables that are anybody's: names that would be C, schemas that were damaged, schemas that never end
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
schmut=$BUILD/test/schmut

aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
ae2addr matrix ae.out >right

# Each name would leave a comment, a string, an identifier or a line, and leave a file INJECTED if it is compiled and run
evil='extern int system(const char *); __attribute__((constructor)) static void pwn(void) { system("touch INJECTED"); }'
cat >names <<END
*/ $evil /*
x\\n$evil
x??/\\n$evil
x\\\\\\n$evil
x\\r\\n$evil\\n
*??/\\n/ $evil /*
*\\\\\\n/ $evil /*
"; $evil //
\\n#line 1 "/etc/passwd"\\n$evil\\n#define x
%:include "/etc/passwd"
\\n#error\\n
f(void) { } $evil int g
a.sma.c\\n\\ttouch INJECTED\\nall:\\n\\ttouch INJECTED
\$(shell touch INJECTED)
\`touch INJECTED\`.c
../../INJECTED
-o INJECTED
"""
\\n
??/
END
printf '%5000s\n' '' | tr ' ' x >>names
bad=
for first in $(seq 1 "$(wc -l <names)"); do     # each name is once the file's and once that of each function
	turn 5 || continue
	{ tail -n +"$first" names; head -n $((first - 1)) names; } >turned
	"$schmut" names matrix hostile turned || bad="$bad make:$first"
	rm -rf dir
	aec -o dir hostile || bad="$bad aec:$first"
	for f in dir/*.c dir/*.h; do
		gcc -trigraphs -std=c17 -E -fpreprocessed -dD -P "$f" 2>&1 | grep -q 'system(\|"touch\|/etc\|: error\|# *error\|warning' && bad="$bad $f:$first"
	done
	grep -v '^#' dir/Makefile | grep -q 'touch IN\|(shell\|`' && bad="$bad Makefile:$first"
done
is "no name comes through" "$bad" ""
"$schmut" names matrix hostile names
ok "what is made of them compiles" env CFLAGS="${CFLAGS:--O0} -trigraphs" aec -b hostile
./hostile.regen ae.out >got 2>err
same "and regenerates" got right
is "nothing else was done" "$(find . -name '*INJECTED*')" ""
# the name of the executable, too
name=$(printf 'a*/ %s /*\n\tx??/\nend' 'int injected;')
mkdir -p "${name%/*}" && cp matrix "$name"
ok "an executable's own name" aec -b -o plain.regen "$name"
ok "as text" aec --print-schema -o text hostile
ok "and from there" aec -b -o text.regen --schema text hostile
./text.regen ae.out >got 2>err
same "the same" got right

# Damage
is "1000 damaged schemas" "$("$schmut" count matrix ae.out 1000)" "1000 refused, 0 the same, 0 other references"
"$schmut" flip matrix hurt 3 1
off=$(readelf -SW matrix | awk '$2 == ".aeschema" || $3 == ".aeschema" { for (i = 1; i < NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
at=$((0x$off))
gives "ae2addr: refused" 1 "ae2addr: hurt: byte $((at + 16)): bad schema: wrong check sum" ae2addr hurt ae.out
gives "aec: refused" 1 "aec: hurt: byte $((at + 16)): bad schema: wrong check sum" aec -b hurt
ok "aec: nothing made" test ! -e hurt.regen
gives "addrdiff: refused" 2 "addrdiff: hurt: byte $((at + 16)): wrong check sum" addrdiff -e hurt right right
"$schmut" version matrix old
gives "from an older aecc" 1 "ae2addr: old: byte $((at + 4)): bad schema: made by an older aecc: compile the program again" ae2addr old ae.out

# Schemas that are whole but nobody's: they end
"$schmut" bound matrix ae.out 500 >out
is "500 schemas with right check sums end" "$(sed 's/[0-9][0-9]* //g; 1q' out)" "refused, good, not what the events say, of them endless"
ok "some would not have" test "$(sed 's/.* \([0-9]*\) of them.*/\1/; 1q' out)" -gt 0
for seed in $(sed 1d out); do   # one of those, in both kinds of regeneration
	"$schmut" sealed matrix endless $seed
	ae2addr -m 2M -o x endless ae.out 2>err || ! grep -q 'without an event' err || break
done
ok "an endless one is found" grep -q 'ae2addr: ae.out: byte [0-9]*: too many references without an event: an endless loop?$' err
ok "compiled" env CFLAGS="${CFLAGS:--O0}" aec -b endless
./endless.regen -m 2M -o x ae.out 2>err
is "it ends as well: status" $? 1
ok "with the same words" grep -q 'too many references without an event: an endless loop?$' err
tap_end
