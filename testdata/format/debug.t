# Debugging information that was damaged, or made to be read for ever: it is read to an end, with little memory
. "$SRC/testdata/tap.sh"
${CC:-gcc} -g -O2 -w "$SRC/testdata/wetq/at/prog.c" -o prog || exit 1
ok "damaged" "$BUILD/test/debugtest" prog 300
if ${CC:-gcc} -c "$HERE/debug/bad.s" -o bad.o && ld -o bad bad.o; then
	ok "in circles" "$BUILD/test/debugtest" bad 0
else
	fail "in circles" "not assembled"
fi
tap_end
