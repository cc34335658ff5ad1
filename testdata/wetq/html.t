# wetq html: a page that is well formed, with the lines of the thin slice and the values of why; hostile sources are data
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v python3 >/dev/null || { skip "no python3"; exit 0; }

# page NAME POINT: the page is right, and its figures are in `got`
page() {
	wetq html "$2" "$1.ws" >"$1.html" 2>err
	wetq -n 100000 --json why "$2" "$1.ws" >"$1.json" 2>err
	wetq -c -t thin slice "$2" "$1.ws" 2>err | awk '$5 != "?" && $5 !~ /^\.\// && $7 > 0 { print $5, $7 }' | sort -u >"$1.lines"
	python3 "$HERE/html/check.py" "$1.html" "$1.json" "$1.lines" >got 2>&1
	is "$1: $2: nothing is wrong" "$(sed '$d' got)" ""
}

cp "$SRC/examples/order.c" .
for o in 0 1; do
	${CC:-gcc} -g -O$o $static order.c -o order && wscap -o order$o.ws ./order <"$SRC/examples/order.txt" >out
	page order$o order.c:25#2
	is "-O$o: there is something" "$(sed -n '$p' got | awk '{ print ($1 > 3) ($3 > 2) ($5 > 9) }')" 111
	is "-O$o: the fault" "$(grep -c 'class="l in".*percent = 90;' order$o.html)" 1
	is "-O$o: which branch that is for" "$(awk '/^<section/ { on = 0 } /class="point"/ && /percent/ { on = 1 } on && /Executed because/ { print "yes"; exit }' order$o.html)" yes
done
is "at most 2" "$(wetq -n 2 html order.c:25#2 order1.ws | grep -c '^<section')" 2
is "which says so" "$(wetq -n 2 html order.c:25#2 order1.ws | grep -c '2 instances .*there are more')" 1
gives "no such point" 1 "wetq: order1.ws: no instance order.c:25#3: there are 3" wetq html order.c:25#3 order1.ws
wetz -1 -o order.full order1.ws && wetq html order.c:25#2 order.full >full.html 2>err
is "of kind full: the same but for names" "$(sed 's/<b>[^<]*<\/b> = //g' full.html | grep -c '^<section')" "$(grep -c '^<section' order1.html)"
ok "nothing is from elsewhere" awk '/https?:|src=|@import|url\(/ { exit 1 }' order1.html

# a name of a file, a source, and values that would be markup
f='a<img src=x onerror=alert(1)>&".c'
printf '%s\n' 'struct t { const char *s; int n; } t;' 'int main(int argc, char **argv)' '{' \
    '	t.s = argc > 1 ? "none" : "</script><script>alert(1)</script>"; /* </pre></div><img src=x onerror=alert(2)> */' \
    "	t.n = t.s[0] + argc; /* \"'><svg onload=alert(3)> $(printf '\342\200\256 \377 \033[31m') & */" '	return t.n == 1;' '}' >"$f"
${CC:-gcc} -g -O0 $static -x c "$f" -o hostile && wscap -o hostile.ws ./hostile
page hostile t@end
page hostile "$(wetq -n 1 slice "$f:5#0" hostile.ws 2>err | sed 's/ .*//')"
is "no markup of it" "$(grep -c '<img\|<svg\|alert([0-9])<' hostile.html)" 0
ok "it is text" grep -q '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;' hostile.html
ok "it is UTF-8, without what changes its direction" python3 -c 'import sys; s = open("hostile.html", "rb").read().decode(); sys.exit("\u202e" in s or "\x1b" in s)'

# the same in a terminal: no control character, however the source, a name or a message has it
wetq -a why t@end hostile.ws >shown 2>&1
wetq annotate t@end hostile.ws >>shown 2>&1
wetq at "$f:6" hostile.ws >>shown 2>&1
printf '1\nq\n' | wetq walk t@end hostile.ws >>shown 2>&1
e=$(printf 'e\033[31m')
wetq values "$e" hostile.ws >>shown 2>&1
wetq list "$e" >>shown 2>&1
is "a terminal gets nothing but text" "$(tr -d '\t\n -~' <shown | wc -c)" 0
ok "of all of them" sh -c 'grep -q "why\|31m & " shown && grep -q "^ .*:     5:.*[?]\[31m" shown && grep -q "^wetq: .*e?\[31m" shown'
tap_end
