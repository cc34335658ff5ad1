# Files that tools of before wrote are read as they were then
. "$SRC/testdata/tap.sh"
for folder in "$HERE" "$HERE/before"; do
	[ -f "$folder/expect" ] || continue
	while read -r sum command; do
		is "${folder##*/}: $command" "$(cd "$folder" && sh -c "$command" 2>"$TMPDIR/err" | sha256sum | cut -d ' ' -f 1; cat "$TMPDIR/err")" "$sum"
	done <"$folder/expect"
done
for f in "$HERE"/*.*; do
	case ${f##*/} in golden.t) continue ;; esac
	grep -q -w -e "${f##*/}" "$HERE/README" || fail "README says what ${f##*/} proves"
done
tap_end
