# Files that tools of before wrote are read as they were then
. "$SRC/testdata/tap.sh"
for folder in "$HERE" "$HERE/before"; do
	[ -f "$folder/expect" ] || continue
	while read -r sum command; do
		what="${folder##*/}: $command"
		got=$(cd "$folder" && sh -c "$command" 2>"$TMPDIR/err" | sha256sum | cut -d ' ' -f 1)
		# what is said beside, of the program that is not here, is no part of it
		[ "$got" = "$sum" ] && pass "$what" || fail "$what" "$got, not $sum; $(cat "$TMPDIR/err")"
	done <"$folder/expect"
done
for f in "$HERE"/*.*; do
	case ${f##*/} in golden.t) continue ;; esac
	grep -q -w -e "${f##*/}" "$HERE/README" || fail "README says what ${f##*/} proves"
done
tap_end
