# The example of a readable schema in ae-schema(5) is what the library prints, and what the paper has
. "$SRC/testdata/tap.sh"
sed -n '/^\.Sh TEXT/,/^\.Ed/p' "$SRC/man/ae-schema.5" | sed -n '/aec --print-schema$/,/^\.Ed/p' | sed '1d; /^\./d; s/^\\&//' >page
cut -c39- page | sed 's/ *$//; /^$/d' >ours
"$BUILD/test/schematexttest" example | sed -n '/^start_function sub/,/^end_function/p' | sed '/^$/d' >printed
[ -s printed ] && same "the example of the manual" ours printed
# what the paper has in figure 3, line for line
cut -c1-38 page | sed 's/ *$//; /^$/d; /omitted\|includes\|^uneventful\|^end_block 3/d' >paper
[ -s paper ] && is "is the paper's but for combined placeholders" "$(grep -v -x -F -f printed paper)" ""
tap_end
