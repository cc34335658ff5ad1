# The x86-64 lifter and the computations made of what it says: facts in words, then against this processor; lengths of instructions
t=$BUILD/test/x86test
"$t" || bad=1
for seed in 1 2 3; do
	"$t" run $seed 100000 >tap || bad=1
	sed "s/^\(not ok\|ok\) [0-9]* - /\1 - seed $seed: /" tap
done
"$t" lengths 1 1000000 || bad=1
[ ! "$bad" ]
