# --names all: functions, lines and variables of a run are known when its program has been compiled again, or is gone
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

# build FACTOR LINES: a program and its library; LINES move all that follows
build() {
	{
		seq "$2" | sed 's/.*//'
		cat <<-'C'
		int table[4];
		int times(int x);
		static int part(int i) { table[i] = times(i); return table[i]; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 4; i++)
				sum += part(i);
			return sum;
		}
		C
	} >p.c
	echo "int times(int x) { return x * $1; }" >lib.c
	rm -f p libtimes.so
	# shellcheck disable=SC2086  # the words of the compiler
	$GCC -g -O0 -shared -fPIC -o libtimes.so lib.c && $GCC -g -O0 -o p p.c -L. -ltimes -Wl,-rpath,"$PWD"
}

# names FILE: what wetq knows of the program and its library, and no complaint
names() {
	printf '%s\n' list 'why times#2' | wetq -i "$1" 2>err |
		awk '$0 == "" { why = 1 } why { sub(/ \(.*/, ""); print } !why && $4 ~ /(p|lib)\.c$/ { print $2, $4, $5, $6 }'
	cat err
}

build 3 0
wscap --names no -o plain.ws ./p
wscap --names all -o kept.ws ./p
is "the program runs as without" $? 18
names kept.ws >want
is "no name is missing" "$(grep 'not known\|No such' want)" ""
grep -q 'lib.c times 1$' want && grep -q 'p.c part 3$' want && pass "lines of both are known" || fail "lines of both are known" "$(cat want)"
wstrim --names -o later.ws plain.ws
is "wstrim keeps two files" "$(wsinfo later.ws | sed -n 's/^names of  *\(.*\),.*/\1/p' | sort | sed 's/.*\///' | tr '\n' ' ')" "libtimes.so p "
wstrim -o trimmed.ws kept.ws
wetz -m replay -o kept.wet kept.ws
sh -c "wscap --names all -o tree.ws sh -c './p; ./p; exit 0'"

wscap -o own.ws ./p
is "own is the default" "$(wsinfo own.ws | grep '^names of')" "$(wscap --names own -o own2.ws ./p; wsinfo own2.ws | grep '^names of')"
is "own keeps the same" "$(wsinfo own.ws | grep '^names of')" "$(wsinfo kept.ws | grep '^names of')"
wscap --names no -o no.ws ./p
is "no keeps none" "$(wsinfo no.ws | grep -c '^names of')" 0
gives "neither" 125 "wscap: --names maybe: neither no, own nor all; see wscap --help" wscap --names maybe ./p

build 5 3
names plain.ws >got
if grep -q 'libtimes.so: is not the file that was captured' got && ! grep -q 'lib.c times 1$' got; then
	pass "without --names, a program that was compiled again is not used"
else
	fail "without --names, a program that was compiled again is not used" "$(cat got)"
fi
wstrim --names -o none.ws plain.ws 2>err
is "it is too late to keep it" "$(cat err) $(wsinfo none.ws | grep -c '^names of')" \
	"wstrim: plain.ws: none of its files has symbols, or is there as it was: no names are kept 0"
for f in kept.ws later.ws trimmed.ws kept.wet; do
	names $f | grep -v 'has been changed since the run' >got
	same "$f: as before" want got
done
rm -f p libtimes.so
names kept.ws | grep -v 'has been changed since the run' >got
same "the program is gone" want got
names tree.ws:3 | grep -v 'has been changed since the run' >got
is "a run of several" "$(grep -c 'lib.c times 1$' got)" "$(grep -c 'lib.c times 1$' want)"
is "each file is kept once" "$(wsinfo tree.ws | grep -c '^names of')" "2"
if command -v gdb >/dev/null; then
	gdb -nx -q -batch -ex 'set pagination off' -ex 'set remotetimeout 600' -ex "target remote | wsgdb kept.ws" -ex 'break times' -ex continue \
		-ex 'info args' -ex up -ex 'info locals' >out 2>&1 </dev/null
	is "gdb" "$(grep -c '^x = 0$\|^#1.*part (i=0) at p.c:3' out)" 2
else
	skip "gdb is not installed"
fi

# the capture itself is the same, and can be read from a pipe
ws2addr kept.ws >a
ws2addr - <kept.ws >b
# shellcheck disable=SC2002
cat kept.ws | ws2addr /dev/stdin >c
ws2addr plain.ws >d
same "references: as without --names" a d
same "references: standard input" a b
same "references: a pipe" a c

# damage is told, and what came before it is not lost
places=5
[ "${MATRIX-}" = full ] && places=15
size=$(wc -c <trimmed.ws)
first=$(LC_ALL=C grep -abo WSkf trimmed.ws | head -n 1 | cut -d : -f 1)
n=$(ws2addr -c trimmed.ws | sed -n 's/^instructions //p')
bad=0 tried=0 at=$((first + 1))
while [ $at -lt "$size" ]; do
	head -c $at trimmed.ws >cut.ws
	tried=$((tried + 1))
	ws2addr -c cut.ws >out 2>err
	[ $? = 1 ] && grep -q "^instructions $n\$" out && [ "$(wc -l <err)" = 1 ] &&
		grep -q '^ws2addr: cut.ws: byte [0-9]*[: ]' err || { bad=$((bad + 1)); echo "# $at: $(cat err)"; }
	at=$((at + 1 + (size - first) / places))
done
is "cut off in the files: the run, then one line, $tried times" $bad 0
first=$(LC_ALL=C grep -abo WSkf kept.ws | head -n 1 | cut -d : -f 1)
head -c $((first + 1000)) kept.ws >cut.ws
cp cut.ws was.ws
wstrim cut.ws 2>err
is "wstrim: cut off in the files: it stays" "$? $(cmp cut.ws was.ws && sed 's/byte [0-9]*/byte N/' err)" "1 wstrim: cut.ws: byte N: cut off in a kept file"
wstrim -o short.ws cut.ws 2>err
is "wstrim -o: the run, then one line" "$? $(sed 's/byte [0-9]*/byte N/' err) $(ws2addr -c short.ws | sed -n 's/^instructions //p')" \
	"1 wstrim: cut.ws: byte N: cut off in a kept file $n"
first=$(LC_ALL=C grep -abo WSkf trimmed.ws | head -n 1 | cut -d : -f 1)
bad=0 at=$((first + 5))
while [ $at -lt "$size" ]; do
	cp trimmed.ws bad.ws
	printf '\377' | dd of=bad.ws bs=1 seek=$at conv=notrunc 2>/dev/null
	at=$((at + 1 + (size - first) / places))
	cmp -s bad.ws trimmed.ws && continue
	wsinfo bad.ws >out 2>err
	# in a head, the file is not read on; in the contents, its name is known, and what is wrong
	if ! grep -q '^wsinfo: bad.ws: byte [0-9]*: ' err && ! grep -q '^names of .*: is damaged$' out; then
		bad=$((bad + 1))
		echo "# $at: $(cat err)"
	fi
	wetq list bad.ws >out 2>err
	[ $? -lt 2 ] || bad=$((bad + 1))
done
is "a wrong byte is found" $bad 0
gives "wstrim: --fetch and --names" 2 "wstrim: --fetch only copies: --names is for another call; see wstrim --help" wstrim --fetch --names kept.ws
tap_end
