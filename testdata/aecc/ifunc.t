# Indirect functions, by attributes, as clones and as versions: they are traced as others are, and so are their resolvers when the loader
# calls them late.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
. "$HERE/exact.sh"

# what resolvers call before tracing begins is not in the trace
from=main

# traced HOW: all of it, since nothing was said
traced() { is "$1: nothing untraced" "$(cat err)" ''; }

if why=$(captures ws2addr); then
	for o in -O0 -O2 '-O1 -fPIC -fno-plt' '-O3 -masm=intel'; do
		turn 3 || continue
		for l in -no-pie '-pie -fPIE' -static '-static-pie -fPIE'; do
			# shellcheck disable=SC2086
			aecc $o $l -DLIB -DPROG "$HERE/ifunc.c" -o prog 2>err
			traced "$o $l"
			exact "$o $l" ./prog
		done
		# shellcheck disable=SC2086
		aecc $o -fPIC -shared -DLIB "$HERE/ifunc.c" -o libif.so 2>err
		traced "$o, a library"
		for l in -Wl,-z,lazy '-Wl,-z,now -pie -fPIE'; do
			# shellcheck disable=SC2086
			aecc $o $l -DPROG "$HERE/ifunc.c" -L. -lif -Wl,-rpath,"$PWD" -o prog
			exact "$o $l, a library" ./prog libif.so
			case $o$l in *-fno-plt* | *now*) ;; *) ok "$o: a resolver that is called late" sh -c 'addrstat --functions prog run | grep -q " pick_"' ;; esac
		done
		# shellcheck disable=SC2086
		aecc $o -DOPEN "$HERE/ifunc.c" -ldl -o prog
		from=opened
		exact "$o, a library that is opened" ./prog libif.so
		from=main
	done
	if command -v g++ >/dev/null; then
		for o in -O0 '-O2 -static-pie -fPIE' -O2; do
			turn 2 || continue
			# shellcheck disable=SC2086
			ae++ $o "$HERE/ifunc.cc" -o prog 2>err
			traced "C++, $o"
			exact "C++, $o" ./prog
		done
	fi
	if command -v clang >/dev/null; then
		AE_CC=clang aecc -O2 -DLIB -DPROG "$HERE/ifunc.c" -o prog 2>err
		traced 'clang'
		exact 'clang' ./prog
	fi
else
	skip "$why"
fi
tap_end
