# The commands of README.md and of the pages' examples work as they are printed, and print what is shown with them
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; tap_end; exit; }

# Addresses and counts depend on the machine: of what is shown, the shape is compared, with N for each number
shape() { sed 's/0x[0-9a-f][0-9a-f]*/N/g; s/[0-9a-f]*[0-9][0-9a-f]*/N/g; s/  */ /g' "$1"; }

# run NAME FILE [page]: by bash, as most readers would, in a folder with the examples and, for a page, what it may take them to have
run() {
	cp -R "$TMPDIR/has${3-}" "$TMPDIR/run" && cd "$TMPDIR/run" || exit 1
	[ "$1" = bifcm.1 ] && head -c $((40000000 / few)) /dev/zero >values
	awk -v page="${3:+1}" -f "$HERE/examples.awk" "$2" >script
	# it asks for references far behind the beginning
	case $1 in addrconv.1) quick= ;; *) quick=$short ;; esac
	PATH=$quick$PATH AE=$BUILD timeout 300 bash script >log 2>&1
	n=0
	[ -f commands ] && read -r n <commands
	for i in $(seq "$n"); do
		what="$1: $(head -n 1 "command.$i")"
		# `... | head` ends what writes to it: only the last command of a pipe has a status, and messages count
		want=0
		# it compares two runs, which are different, or one with what the reader has: examples.sh made another
		case $what in addrdiff.1:\ addrdiff\ a.ref* | bifcm.1:*'addrdiff - other.ref') want=1 ;; esac
		is "$what: status" "$(cat "status.$i" 2>/dev/null)" $want
		is "$what: messages" "$(grep -a -E '^(sh|[a-z0-9-]*|.*/[a-z0-9]*): ' "err.$i" | grep -v ' 0 left untraced$')" ""
		[ -s "want.$i" ] || continue
		shape "want.$i" >want
		shape "got.$i" | head -n "$(wc -l <want)" >got  # a page may show the beginning only
		same "$what: output" want got
	done
	total=$((total + n))
	cd "$TMPDIR" && rm -rf run
}

cp -R "$SRC/examples" "$TMPDIR/has"
# short: a program of few instructions as ls, which is what most pages capture, and no drawing of maps, which addrplot's test does
short=
if [ "${MATRIX-}" != full ]; then
	sed -i 's/1 \.\. 20000/1 .. 2000/' "$TMPDIR/has/numbers.pl"
	mkdir "$TMPDIR/short"
	echo 'int puts(const char *); int main(void) { return puts("order.c") < 0; }' >ls.c
	${CC:-gcc} -g -O1 -static -o "$TMPDIR/short/ls" ls.c || exit 1
	if command -v gnuplot >/dev/null; then
		printf '#!/bin/sh\ncat >gp\ngrep -q "^.map <<" gp || exec %s gp\n' "$(command -v gnuplot)" >"$TMPDIR/short/gnuplot"
		chmod +x "$TMPDIR/short/gnuplot"
	fi
	short=$TMPDIR/short:
fi
cp -R "$TMPDIR/has" "$TMPDIR/haspage"
(PATH=$short$PATH && cd "$TMPDIR/haspage" && sh "$HERE/examples.sh") >log 2>&1

total=0
run README "$SRC/README.md"
is "README: commands" "$((total > 10))" 1
run GALLERY "$SRC/examples/GALLERY.md"
for page in "$SRC"/man/*.[1-9]; do
	grep -q '^\$ ' "$page" || continue
	name=${page##*/}
	run "$name" "$page" page
done
is "pages: commands" "$((total > 60))" 1
echo "# $total commands"
# what is no command there is only how to install it
is "README: other blocks" "$(awk '/^    / { if (!b && !/^    \$ /) print; b = 1; next } { b = 0 }' "$SRC/README.md" | grep -v -E '^    (make |any program )')" ""
ok "README has at most 6 KB" test "$(wc -c <"$SRC/README.md")" -le 6144
tap_end
