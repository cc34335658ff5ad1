# Dinero IV, release 7: the numbers that it printed for this trace, with -informat d
. "$SRC/testdata/tap.sh"
awk 'BEGIN { s = 1; for (i = 0; i < 20000; i++) {
	s = s * 16807 % 2147483647; k = int(s / 65536) % 10
	s = s * 16807 % 2147483647; n = int(s / 65536) % (k < 5 ? 64 : k < 9 ? 400 : 3000)
	printf "%d %x\n", k % 3 == 0 ? 2 : k % 2, 65536 + 4 * n + (k % 3 == 0 ? 8192 : 0) } }' >t.din
# Dinero writes the dirty blocks back at the end: here, reads of other lines replace them
{ cat t.din; awk 'BEGIN { for (i = 0; i < 65536; i += 16) printf "0 %x\n", 1048576 + i }'; } >flush.din

# number KEY: the sum of the numbers with it in what --json says
number() { awk -v key="\"$1\":" '$1 == key { sub(/,$/, ""); n += $2 } END { print n + 0 }' json; }
# misses: of fetches, loads and stores in the caches whose names match $1
misses() {
	awk -v level="$1" '$1 == "\"name\":" { on = $2 ~ level } /"(fetches|loads|stores)": \{/ { kind = $1 } kind != "" && /"misses"/ {
		sub(/,$/, ""); if (on) n[kind] += $2; kind = "" } END { print n["\"fetches\":"] + 0, n["\"loads\":"] + 0, n["\"stores\":"] + 0 }' json
}

# the caches; demand misses of instructions, reads, writes; bytes to memory.  -repl l or f, -wback a or n (through),
# -walloc a or n (around), of I and D or of one
bad=0 n=0
while read -r how geometry words want; do
	line=${geometry##*,} first="--i1 $geometry,${words%%,*} --d1 $geometry,$words"
	[ "$how" = split ] || first="--l1 $geometry,$words"
	# shellcheck disable=SC2086
	cachesim --json $first --l2 none --l3 none t.din >json && got=$(misses .)
	# shellcheck disable=SC2086
	cachesim --json $first --l2 none --l3 none flush.din >json
	got="$got $(($(number written_back) * line + $(number stored_past) * 4))"
	n=$((n + 1))
	[ "$got" = "$want" ] || { fail "$how $geometry $words" "got: $got
want: $want"; bad=$((bad + 1)); }
done <<'END'
split 1k,1,16 lru 3690 1260 1776 37776
split 1k,4,32 lru 3240 777 1527 61152
split 2k,32,64 lru 2395 7 18 1600
split 1k,1,16 lru,around 3690 1070 1675 16444
split 1k,4,32 lru,around 3240 742 1515 23148
split 2k,32,64 lru,around 2395 25 56 1824
split 1k,1,16 lru,through 3690 1260 1776 23972
split 1k,4,32 lru,through 3240 777 1527 23972
split 2k,32,64 lru,through 2395 7 18 23972
split 1k,1,16 lru,through,around 3690 1070 1675 23972
split 1k,4,32 lru,through,around 3240 742 1515 23972
split 2k,32,64 lru,through,around 2395 25 56 23972
split 1k,1,16 fifo 3690 1260 1776 37776
split 1k,4,32 fifo 3713 1007 1631 74336
split 2k,32,64 fifo 2842 7 18 1600
split 1k,1,16 fifo,around 3690 1070 1675 16444
split 1k,4,32 fifo,around 3713 939 1603 32236
split 2k,32,64 fifo,around 2842 25 56 1824
split 1k,1,16 fifo,through 3690 1260 1776 23972
split 1k,4,32 fifo,through 3713 1007 1631 23972
split 2k,32,64 fifo,through 2842 7 18 23972
split 1k,1,16 fifo,through,around 3690 1070 1675 23972
split 1k,4,32 fifo,through,around 3713 939 1603 23972
split 2k,32,64 fifo,through,around 2842 25 56 23972
unified 1k,1,16 lru 6255 3148 3466 69808
unified 1k,4,32 lru 4565 1816 2884 112416
unified 2k,32,64 lru 3191 753 1455 117888
unified 1k,1,16 lru,around 5629 3787 4121 36180
unified 1k,4,32 lru,around 4055 1910 3161 36420
unified 2k,32,64 lru,around 2959 1029 1936 47040
unified 1k,1,16 lru,through 6255 3148 3466 23972
unified 1k,4,32 lru,through 4565 1816 2884 23972
unified 2k,32,64 lru,through 3191 753 1455 23972
unified 1k,1,16 lru,through,around 5629 3787 4121 23972
unified 1k,4,32 lru,through,around 4055 1910 3161 23972
unified 2k,32,64 lru,through,around 2959 1029 1936 23972
unified 1k,1,16 fifo 6255 3148 3466 69808
unified 1k,4,32 fifo 4912 2314 3156 131232
unified 2k,32,64 fifo 3730 1288 1902 177920
unified 1k,1,16 fifo,around 5629 3787 4121 36180
unified 1k,4,32 fifo,around 4418 2564 3516 54224
unified 2k,32,64 fifo,around 3388 1688 2555 91500
unified 1k,1,16 fifo,through 6255 3148 3466 23972
unified 1k,4,32 fifo,through 4912 2314 3156 23972
unified 2k,32,64 fifo,through 3730 1288 1902 23972
unified 1k,1,16 fifo,through,around 5629 3787 4121 23972
unified 1k,4,32 fifo,through,around 4418 2564 3516 23972
unified 2k,32,64 fifo,through,around 3388 1688 2555 23972
END
is "first levels as in Dinero: $n" "$n $bad" "48 0"

# -l1-isize 1K -l1-dsize 1K, blocks of 16, 2 ways, -l1-dwback n -l1-dwalloc n; -l2-usize 4K -l2-ubsize 32 -l2-uassoc 4 -l2-urepl l or f.
# Of a first level that writes back, Dinero's second level has accesses for the blocks written back, and cachesim's has none
while read -r policy want; do
	cachesim --json --i1 1k,2,16 --d1 1k,2,16,through,around --l2 "4k,4,32,$policy" --l3 none t.din >json
	is "a second level, $policy" "$(misses 1) $(misses 2)" "$want"
done <<'END'
lru 3370 846 1584 2263 83 352
fifo 3370 846 1584 2276 167 848
END
tap_end
