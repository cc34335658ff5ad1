# Thread-local data through descriptors (-mtls-dialect=gnu2): in a program, where the linker makes other instructions of that, and
# in a library.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
. "$HERE/exact.sh"

if why=$(captures ws2addr); then
	for o in -O0 -O2 '-O1 -masm=intel' '-O3 -fcf-protection'; do
		turn 3 || continue
		o="$o -fPIC -mtls-dialect=gnu2"
		for l in -no-pie -pie -static -static-pie; do
			how="$o $l"
			# shellcheck disable=SC2086
			aecc $o $l -DLIB -DPROG "$HERE/tls.c" -o prog 2>err
			is "$how: nothing untraced" "$(cat err)" ''
			exact "$how" ./prog
		done
		ok "$how: packed and unpacked" sh -c 'aepack -o p prog run && aepack -d prog p | cmp - run'
		[ "$SAN" ] || ok "$how: a compiled regenerator" sh -c 'aec -b prog && ./prog.regen run | cmp - refs'
		# shellcheck disable=SC2086
		aecc $o -shared -DLIB "$HERE/tls.c" -o libtls.so 2>err && aecc $o -DPROG "$HERE/tls.c" -L. -ltls -Wl,-rpath,"$PWD" -o prog 2>>err
		is "$o, a library: nothing untraced" "$(cat err)" ''
		exact "$o, a library" ./prog libtls.so
	done
else
	skip "$why"
fi
tap_end
