# The replay's processor: its stops, single instructions and whole programs against the machine
. "$SRC/testdata/tap.sh"

"$BUILD/test/cputest" >stops || touch failed
cat stops
"$BUILD/test/cpumaker" || touch failed
"$BUILD/test/cpuallow" || touch failed
if grep -q '^# skip' stops; then exit 0; fi

# Helpers run while the guest's vector registers are in the hardware: they may call nothing (rp_base and rp_mask are variables)
if [ -z "$SAN" ]; then
	for h in helpers helpers_refs; do
		is "helpers call nothing: $h" "$(nm -u "$BUILD/obj/src/replay/cpu/$h.o" | grep -v -w -e _GLOBAL_OFFSET_TABLE_ -e rp_base -e rp_mask)" ""
		is "helpers use no vector register: $h" "$(objdump -d "$BUILD/obj/src/replay/cpu/$h.o" | grep -c -E '%[xyz]mm|%st')" 0
	done
fi

if ! setarch "$(uname -m)" -R true 2>/dev/null; then
	skip "no ptrace or personality here"
else
	n=600
	[ "${MATRIX-}" = full ] && n=6000
	for s in 1 2; do
		ok "random instructions, $s" "$BUILD/test/cpufuzz" -n $n -s $s
	done
	ok "vector instructions at the end of memory" "$BUILD/test/cpufuzz" -e -n $((5 * n)) -s 4
	ok "random instructions without BMI2" "$BUILD/test/cpufuzz" -b -n $n -s 3
	seq 1 3000 >numbers
	ok "true" "$BUILD/test/cpudiff" -q -n 60000 true
	ok "sort" "$BUILD/test/cpudiff" -q -x 60000 -n 40000 -s 3 sort -r numbers
	ok "gzip" "$BUILD/test/cpudiff" -q -x 80000 -n 40000 -s 4 gzip -9c numbers
	ok "sed, instruction by instruction" "$BUILD/test/cpudiff" -q -b 1 -x 90000 -n 5000 sed s/1/2/ numbers
fi
[ ! -f failed ] && tap_end
