# Names of files, functions, and sources that would be commands to a terminal: nobody prints them as they are
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
e=$(printf '\033[31m') f=$(printf 'a\033]0;b\007.c')
mkdir "d$e"
printf '%s\n' 'int mark_sum; __attribute__((noinline)) int mark_add(int i) { return mark_sum += i; }' \
    'int main(void)' '{' '	for (int i = 0; i < 9; i++)' '		mark_add(i);' '	return mark_sum != 36;' '}' >"$f"
${CC:-gcc} -g -O1 $static "$f" -o plain
# as long as before, so that the file is as it was
LC_ALL=C sed "s/mark_/m$(printf '\033[1m')/g" plain >"d$e/p"
chmod +x "d$e/p"
"d$e/p" && [ "$(wc -c <plain)" = "$(wc -c <"d$e/p")" ] || { fail "the program works"; exit 1; }
wscap -o p.ws "d$e/p" 2>err
quiet() {
	"$@" >shown 2>&1 </dev/null
	is "$*" "$(tr -d '\t\n -~' <shown | wc -c)" 0
	cat shown >>all
}
quiet wsinfo p.ws
quiet addrconv -f folded p.ws
quiet addrconv -f callgrind p.ws
quiet cachesim --lines p.ws
quiet cachesim --functions p.ws
quiet pp p.ws
quiet addrplot -p functions p.ws
quiet wetq list p.ws
quiet wetq -a why main p.ws
quiet ws2wet p.ws
echo qRcmd,6d617073 | python3 "$SRC/testdata/wsgdb/packets.py" p.ws | grep '^>' >shown
is "wsgdb: monitor maps" "$(tr -d '\t\n -~' <shown | wc -c) $(grep -c 'd?\[31m/p$' shown)" "0 4"
ok "they are shown" grep -q 'm?\[1mad' all
tap_end
