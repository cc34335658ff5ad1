# The counts of valgrind's cachegrind, for the same program and the same caches
. "$SRC/testdata/tap.sh"
command -v valgrind >/dev/null || { skip "no valgrind"; exit 0; }
cp "$HERE/walk.c" .
$GCC -O1 -static -o walk walk.c || { skip "no static programs"; exit 0; }

# the same environment for both, as it is on the stack
env -i valgrind --tool=lackey --trace-mem=yes ./walk >out 2>log
ok "there is a log" grep -q '^I ' log
# cachegrind counts lackey's load of a locked instruction, and its modify; a reader of logs leaves that load out (ref(5))
loads=$(grep -c '^ [LM]' log)

# counts I1 D1 LL: each SIZE,WAYS,LINE
counts() {
	env -i valgrind --tool=cachegrind --cache-sim=yes --I1=$1 --D1=$2 --LL=$3 --cachegrind-out-file=cg.out ./walk >out 2>err
	# Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
	want=$(sed -n 's/^summary: *//p' cg.out)
	cachesim --json --i1 $1 --d1 $2 --l2 $3 --l3 none log >got
	got=$(awk -f "$HERE/flat.awk" got | awk -v dr="$loads" '
		$1 == "i1" { ir = $3; i1 = $4 }
		$1 == "d1" { dw = $9; r1 = $7; w1 = $10 }
		$1 == "l2" { il = $4; rl = $7; wl = $10 }
		END { print ir, i1, il, dr, r1, rl, dw, w1, wl }')
	is "I1 $1, D1 $2, LL $3" "$got" "$want"
}
counts 32768,8,64 32768,8,64 262144,4,64
counts 4096,2,32 2048,1,64 16384,4,64
counts 8192,4,64 4096,2,32 32768,8,128
counts 1024,1,64 1024,16,64 8192,2,64
is "which are many" "$(echo "$want" | awk '{ print ($2 > 1000 && $5 > 1000 && $8 > 1000) }')" 1
tap_end
