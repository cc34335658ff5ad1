# The commands of README.md and of the pages' examples work as they are printed, and print what is shown with them
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; tap_end; exit; }

# run NAME FILE [page]: by bash, as most readers would, in a folder with the examples and, for a page, what it may take them to have
run() {
	cp -R "$TMPDIR/has${3-}" "$TMPDIR/run" && cd "$TMPDIR/run" || exit 1
	[ "$1" = bifcm.1 ] && head -c $((40000000 / few)) /dev/zero >values
	awk -v page="${3:+1}" -f "$HERE/examples.awk" "$2" >script
	# it asks for references far behind the beginning
	case $1 in addrconv.1) quick= ;; *) quick=$short ;; esac
	PATH=$quick$PATH AE=$BUILD timeout 300 bash script >log 2>&1
	awk -v name="$1" -v after="$tap_n" -f "$HERE/examples.judge.awk" >judged || fail "$1: judged"
	cat judged
	if grep -q '^not ok' judged; then tap_bad=1; fi
	read -r n <commands
	read -r tap_n <results
	total=$((total + n))
	cd "$TMPDIR" && rm -rf run
}

cp -R "$SRC/examples" "$TMPDIR/has"
# short: programs of few instructions as ls, true, gzip and sort, which are what most pages capture, smaller ones of the gallery, and no drawing of maps, which addrplot's test does
short=
if [ "${MATRIX-}" != full ]; then
	sed -i 's/1 \.\. 20000/1 .. 300/' "$TMPDIR/has/numbers.pl"
	sed -i 's/define N 256/define N 96/' "$TMPDIR/has/matrix.c"
	mkdir "$TMPDIR/short"
	echo 'int puts(const char *); int main(void) { return puts("order.c") < 0; }' >ls.c
	${CC:-gcc} -g -O1 -static -o "$TMPDIR/short/ls" ls.c || exit 1
	cp "$TMPDIR/short/ls" "$TMPDIR/short/true"
	# gzip -9 and sort FILE: what they read, as it is, with some work for each byte; all else is for the real ones
	cat >copy.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static volatile unsigned sum;
	static char b[4096];
	ssize_t n;
	int fd = argc != 2 ? -1 : argv[1][0] != '-' ? open(argv[1], O_RDONLY) : argv[1][1] == '9' ? 0 : -1;

	if (fd < 0)
		return execv(REAL, argv);
	while ((n = read(fd, b, sizeof b)) > 0) {
		for (ssize_t i = 0; i < 4 * n; i++)
			sum = 31 * sum + b[i / 4];
		if (write(1, b, n) != n)
			return 1;
	}
	return 0;
}
END
	for tool in gzip sort; do
		${CC:-gcc} -g -O1 -static -DREAL="\"$(command -v $tool)\"" -o "$TMPDIR/short/$tool" copy.c || exit 1
	done
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
	grep -q '^\(\.Dl \)*\$ ' "$page" || continue
	name=${page##*/}
	run "$name" "$page" page
done
is "pages: commands" "$((total > 60))" 1
echo "# $total commands"
# what is no command there is only how to install it
is "README: other blocks" "$(awk '/^    / { if (!b && !/^    \$ /) print; b = 1; next } { b = 0 }' "$SRC/README.md" | grep -v -E '^    (make |any program )')" ""
ok "README has at most 6 KB" test "$(wc -c <"$SRC/README.md")" -le 6144
tap_end
