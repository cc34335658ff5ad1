# addrmrc --sample: counts against a list, the claimed errors against those found; curves of programs against the exact ones
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
"$BUILD/test/sampletest" || exit 1
tap_n=100       # the numbers of sampletest come first

# near EXACT SAMPLED: the mean error of the ratio at most 4 times the mean of the errors that are claimed. An error of
# 16 classes follows Student's distribution with 15 degrees of freedom: once in 900 programs it is more.
near() {
	awk -F, 'FNR == 1 { next } FILENAME == ARGV[1] { exact[$2] = $4; next }
		{ d = exact[$2] - $4; sum += d < 0 ? -d : d; claimed += $5; n++ }
		END { printf "# mean absolute error %.5f, claimed %.5f, %d sizes\n", sum / n, claimed / n, n >"/dev/stderr"
			print (n >= 4 && claimed > 0 && sum <= 4 * claimed) }' "$1" "$2"
}

# lines of which few have most of the accesses, and a loop over some
awk 'BEGIN { srand(7); for (i = 0; i < 150000; i++) {
	n = i % 3 ? int(exp(rand() * log(40000))) : i % 9000
	printf " %s %x,8\n", i % 5 ? "L" : "S", (n * 7919 % 65536) * 64 + 268435456 } }' | addrconv -o s.ref
addrmrc -f csv --points 4 s.ref >exact
addrmrc -f csv --points 4 -r 0.05 s.ref >got 2>err
is "a rate of 0.05" "$? $(cat err) $(near exact got)" "0  1"
addrmrc -f csv --points 4 --sample-size 1500 s.ref >got
is "a size of 1500" "$(near exact got)" 1
is "it is kept" "$(addrmrc --json --sample-size 1500 s.ref | tr -d , | awk '/"sampled_lines"/ { print ($2 <= 1500 && $2 > 600) }')" 1
addrmrc -f csv --sample 1 s.ref | sed 's/,[^,]*$//' >got
addrmrc -f csv s.ref >want && same "a rate of 1 is exact" want got
is "and has no error" "$(addrmrc -f csv -r 1 s.ref | awk -F, 'NR > 1 && $5 != 0')" ""
addrmrc -f csv --sample-size 1M s.ref | sed 's/,[^,]*$//' >got && same "so is a size that has all lines" want got
is "sizes of which a class has less than a line are left out" "$(addrmrc -f csv -r 0.05 s.ref | awk -F, 'NR == 2 { print $2 }')" 512
is "text and JSON have the same error" "$(addrmrc -r 0.05 s.ref | awk '$2 == 4096 { print $5 }')" \
	"$(addrmrc --json -r 0.05 s.ref | tr -d , | awk '/"lines": 4096/ { on = 1 } on && /"error"/ { printf "%.4f%%\n", 100 * $2; exit }')"
is "--histogram: about as many accesses" "$(addrmrc --histogram -r 0.05 s.ref | awk '/distance/ { on = 1; next } on { n += $2 } END { print (n > 75000 && n < 300000) }')" 1

cp "$SRC/examples/matrix.c" .
aecc -O1 matrix.c -o matrix && AE_OUT=matrix.out ./matrix >/dev/null || exit 1
addrmrc -l 1 -f csv matrix matrix.out >exact
addrmrc -l 1 -f csv -r 0.1 matrix matrix.out >got
is "a program, whose array fits in one of the sizes only just" "$(near exact got)" 1
why=$(able) && {
	wscap -o l.ws sort "$SRC/NEWS" >/dev/null
	addrmrc -l 8 -k all -f csv l.ws >exact
	addrmrc -l 8 -k all -f csv -r 0.1 l.ws >got
	is "a capture" "$(near exact got)" 1
} || skip "captures: $why"

awk 'BEGIN { for (i = 0; i < 50; i++) printf " L %x,8\n", 268435456 + 64 * i }' | addrconv -o few.ref
gives "few lines: a warning" 0 "addrmrc: few.ref: only 5 lines are in the sample: the errors say little" sh -c 'addrmrc -r 0.1 few.ref >/dev/null'
for v in 0 1.1 -1 nan 0x1 "" .1k " .1"; do
	gives "a rate of '$v'" 2 "addrmrc: -r $v: not a number above 0, at most 1; see addrmrc --help" addrmrc -r "$v" s.ref
done
gives "too small a size" 2 "addrmrc: --sample-size 3: not a number from 16 to 1099511627776; k, M and G after it are 1024, 1024k and 1024M; see addrmrc --help" addrmrc --sample-size 3 s.ref
tap_end
