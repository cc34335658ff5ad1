# The runner itself: what fails must fail
. "$SRC/testdata/tap.sh"

mkdir -p t/testdata/x t/build/bin
cp "$SRC/testdata/run" t/testdata/
run() { (cd t && BUILD=build sh testdata/run "$@" >../out 2>&1); status=$?; last=$(tail -n 1 out); }

run
is "no test" "$status $last" "1 0 passed, 0 failed"
echo 'echo ok 1 - fine' >t/testdata/x/a.t
run
is "one test" "$status $last" "0 1 passed, 0 failed"
run x/b
is "no test of that name" "$status $last" "1 0 passed, 0 failed"
echo 'echo not ok 1 - bad; echo ok 2 - fine' >t/testdata/x/b.t
run
is "a test that fails" "$status $last" "1 2 passed, 1 failed"
run x/a
is "only the one asked for" "$status $last" "0 1 passed, 0 failed"
echo 'exit 0' >t/testdata/x/b.t
run
is "a test that says nothing" "$status $last" "1 1 passed, 1 failed"
echo 'echo ok 1; exit 3' >t/testdata/x/b.t
run
is "a test that ends early" "$status $last" "1 2 passed, 1 failed"
echo 'echo "# skip no such machine"' >t/testdata/x/b.t
run
is "a test that is skipped" "$status $last" "0 1 passed, 0 failed, 1 skipped"
grep -q '^# skip no such machine' out && pass "and its reason is there" || fail "and its reason is there" "$(cat out)"
run x/b
is "nothing but skipped" "$status $last" "1 0 passed, 0 failed, 1 skipped"
echo 'echo ok 1 - x; kill -9 $$' >t/testdata/x/b.t
run x/b
is "a test that is killed" "$status $last" "1 1 passed, 1 failed"
echo 'sleep 60; echo ok 1' >t/testdata/x/b.t
LIMIT=1 run x/b
is "a test that hangs" "$status $last" "1 0 passed, 1 failed"
rm t/testdata/x/b.t

mkdir t/testdata/x/case
echo 'cat; echo problem >&2; exit 4' >t/testdata/x/case/cmd
echo text >t/testdata/x/case/in
run x/case
is "a case without expectations" "$status $last" "1 0 passed, 1 failed"
echo text >t/testdata/x/case/out
echo problem >t/testdata/x/case/err
echo 4 >t/testdata/x/case/status
run x/case
is "a case as expected" "$status $last" "0 1 passed, 0 failed"
for f in out err status; do
	cp t/testdata/x/case/$f keep
	echo 5 >t/testdata/x/case/$f
	run x/case
	is "a case with another $f" "$status $last" "1 0 passed, 1 failed"
	cp keep t/testdata/x/case/$f
done
tap_end
