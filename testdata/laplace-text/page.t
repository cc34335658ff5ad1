# The hex dumps in laplace(5) are the traces of the text beside them
. "$SRC/testdata/tap.sh"
# sed writes the backslashes: awks differ in what of them gsub() takes
sed 's/\\e/\\/g' "$SRC/man/laplace.5" | awk '/^\.Bd/ { b = ""; next } /^\.Ed/ { printf "%s", b > ("block" ++n); next } { b = b $0 "\n" }'
k=0
for f in block*; do
	grep -q '^00000000' "$f" || continue
	n=${f#block}
	k=$((k + 1))
	sed 's/^[0-9a-f]\{8\}//' "$f" | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
	case $k in
	1) o=-b ;;
	2) o='-b -w' ;;
	*) o='-b -m' ;;
	esac
	# shellcheck disable=SC2086
	laplace-text $o "block$((n - 1))" | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
	same "dump $k" page.hex real.hex
done
is "three dumps" $k 3
tap_end
