# The hex dump in ref(5) is the stream of the text beside it
. "$SRC/testdata/tap.sh"
sed -n '/^00000000 /,/^\.Ed/p' "$SRC/man/ref.5" | sed '/^\./d; s/^[0-9a-f]\{8\}//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
awk '/^\.Bd/ { b = "" } { b = b $0 "\n" } /^\.Ed/ && b ~ /\ninst / { print b }' "$SRC/man/ref.5" | sed '/^\./d; /^$/d' >text
"$BUILD/test/mkref" <text | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
is "40 bytes" "$(wc -l <page.hex)" 40
same "the same" page.hex real.hex
is "and it is what is shown as text" "$("$BUILD/test/mkref" text <text)" "$(cat text)"
tap_end
