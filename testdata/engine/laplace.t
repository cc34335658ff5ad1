# Laplace's address spaces: a plain model beside; damaged traces
. "$SRC/testdata/tap.sh"
n=1500000 f=20000
[ -z "$SAN" ] || { n=150000 f=6000; }
ok "random processes: canonical pages as in a plain model" "$BUILD/test/laplacemodel" $n
ok "and others" "$BUILD/test/laplacemodel" $((n / 3)) 7
ok "damaged traces" "$BUILD/test/laplacefuzz" $f
ok "and others" "$BUILD/test/laplacefuzz" $f 3
tap_end
