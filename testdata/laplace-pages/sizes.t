# Pages of several sizes: small traces by hand, what awk finds in random ones and in a generated system, and laplace-stat
. "$SRC/testdata/tap.sh"

# One task, pages 0, 1, 3, 16 and 0 again after the memory there became another (k): its place is taken, so a second frame begins.
# Another process has page b at another address, and page 5, which nobody else has
mkdir -p small/p1 small/p2
printf '%s\n' 'w 1 4 0 a' 'r 2 4 1 b' 'r 3 4 3 c' 'r 4 4 10 d' 'r 5 4 0 k' 'r 5 4 1 b' >small/p1/t1
printf '%s\n' 'S 6 2' 'r 6 4 21 b' 'r 7 4 5 e' >small/p2/t2
sed -i 's/ \([a-ek]\)$/ 1000000000000\1/; s/k$/f/' small/p1/t1 small/p2/t2
cat >small/manifest <<'END'
laplace-merge 1 text
process p1 1 5
task p1/t1 1 1 5 6 0
process p2 6 7
task p2/t2 2 6 7 2 1
end
END
flat() { awk '{ $1 = $1; print }' | tr '\n' ';'; }
laplace-pages -n 2 --sizes 4k,16k,64k,2M --tlb 2 small >got
is "by hand: status" $? 0
# 4k: 6 pages.  16k: {a b c} {d} {f} {e}: b at 21 is in the first.  64k: the same.  2M: {a b c d} {f} {e}.
# Misses, 2 entries: 4k: a b c d f b, b e.  16k: abc, d, f, abc again (it was replaced); of p2: abc, e.  2M: abcd, f; abcd, e
is "by hand" "$(sed '/^$/,$d' got | flat)" "page size bytes 4096 16384 65536 2097152;pages 6 4 4 3;\
memory bytes 24576 65536 262144 6291456;untouched 0 40960 237568 6266880;TLB misses 8 6 6 4;\
private pages 5 3 3 2;references 5 3 3 2;read-shared pages 1 0 0 0;references 3 0 0 0;\
write-shared pages 0 1 1 1;references 0 5 5 6;\
first-touch local 7 7 7 7;remote 1 1 1 1;interleaved local 3 5 6 6;remote 5 3 2 2;best-static local 7 7 7 7;remote 1 1 1 1;\
migration local 7 7 7 7;remote 1 1 1 1;moves 0 0 0 0;replication local 8 7 7 7;remote 0 1 1 1;copies 1 0 0 0;"
is "JSON" "$(laplace-pages -n 2 --sizes 2M --tlb 2 --json small | tr -d ' \n')" '{"references":8,"threshold":64,"tlb_entries":2,"sizes":[{"size":2097152,"pages":3,"memory":6291456,"untouched":6266880,"tlb_misses":4,"private":{"pages":2,"references":2},"read-shared":{"pages":0,"references":0},"write-shared":{"pages":1,"references":6},"policies":{"first-touch":{"local":7,"remote":1,"pages":[2,1]},"interleaved":{"local":6,"remote":2,"pages":[3,0]},"best-static":{"local":7,"remote":1,"pages":[2,1]},"migration":{"local":7,"remote":1,"migrations":0,"pages":[2,1]},"replication":{"local":7,"remote":1,"replicas":0,"pages":[2,1]}}}],"nodes":[{"tasks":1,"references":6},{"tasks":1,"references":2}]}'

# stream DIR: TIME PLACE RECORD TASK TYPE PAGE CANON of each reference, by time, and of each S and X
stream() {
	k=0
	awk '/^task / || /^kernel / { print $2 }' "$1/manifest" | while read -r f; do
		k=$((k + 1))
		laplace-text "$1/$f" 2>/dev/null >this || cat "$1/$f" >this
		awk -v f="$f" -v k="$k" '/^[rwiRWISX] / { t = sprintf("%16s", $2); gsub(/ /, "0", t); print t, k, NR, f, $1, $4, $5 }' this
	done | sort -k 1,1 -k 2,2n -k 3,3n
}
# oracle DIR NODES THRESHOLD SIZE ENTRIES: a column, of the file stream.txt
oracle() {
	awk '/^task / { t = sprintf("%16s", $4); gsub(/ /, "0", t); print t, NR, $2 }' "$1/manifest" |
		sort -k 1,1 -k 2,2n | awk '{ print $3 }' >started
	awk -v N="$2" -v T="$3" -v SIZE="$4" -v E="$5" '
	function rem(s, n,  r, k) { for (k = 1; k <= length(s); k++) r = (r * 16 + index("0123456789abcdef", substr(s, k, 1)) - 1) % n; return r }
	function frame(space, page, canon,  range, place) {
		if (canon in in_frame) return in_frame[canon]
		range = space ":" int(page / per)
		place = page % per
		if ((range, gen[range] + 0, place) in taken) gen[range]++
		taken[range, gen[range] + 0, place]
		return in_frame[canon] = range ":" gen[range] + 0
	}
	function tlb(node, key,  i, x, y) {
		for (i = 0; i < E && list[node, i] != key; i++) if (list[node, i] == "") break
		if (i == E || list[node, i] == "") misses++
		y = key
		for (x = 0; x <= i && x < E; x++) { key = list[node, x]; list[node, x] = y; y = key }
	}
	BEGIN { per = SIZE / 4096; while ((getline line <"started") > 0) node[line] = n++ % N; run = 0 }
	$4 != "kernel" && $5 != "X" { runs = $4; run = node[$4] }
	$5 == "S" { next }
	$5 == "X" { if ($4 != "kernel") { split($4, w, "/"); epoch[w[1]]++ } next }
	{
		split(runs, w, "/")
		own = length($7) < 13 || ($7 ~ /^0/)
		space = own || runs == "" ? "kernel" : w[1] "." epoch[w[1]] + 0
		if (!($7 in canons)) { canons[$7]; nc++ }
		page = rem($6, 2 ^ 53)
		p = frame(space, page, $7)
		tlb(run, space ":" int(page / per) ":" p)
		all++; refs[p]++
		if (!(p in first)) { first[p] = home[p] = run; np++; turn[p] = int(rem($7, N * per) / per); who[p] = $4 }
		if (who[p] != $4) shared[p]
		made[p, run]++
		if ($5 ~ /[wW]/) written[p]
		since[p, run]++
		if (home[p] == run) mlocal++
		else if (since[p, run] - since[p, home[p]] >= T) {
			home[p] = run; moved++
			for (k = 0; k < N; k++) since[p, k] = 0
		}
	}
	END {
		for (p in first) {
			c = !(p in shared) ? 0 : p in written ? 2 : 1
			sp[c]++; sr[c] += refs[p]
			best = 0
			for (k = 1; k < N; k++) if (made[p, k] + 0 > made[p, best] + 0) best = k
			l[1] += made[p, first[p]]; l[2] += made[p, turn[p]]; l[3] += made[p, best]
			if (p in written) l[5] += made[p, first[p]]
			else for (k = 0; k < N; k++) if (made[p, k]) { l[5] += made[p, k]; copies += k != first[p] }
		}
		l[4] = mlocal
		printf "%.0f\n%.0f\n%.0f\n%.0f\n%.0f\n", SIZE, np, np * SIZE, np * SIZE - nc * 4096, misses
		for (c = 0; c < 3; c++) printf "%.0f\n%.0f\n", sp[c], sr[c]
		for (k = 1; k <= 5; k++) {
			printf "%.0f\n%.0f\n", l[k], all - l[k]
			if (k > 3) printf "%.0f\n", k == 4 ? moved : copies
		}
	}' stream.txt
}
columns() { # FILE NUMBER: that number from the right
	sed '/^$/,$d' "$1" | awk -v k="$2" '{ print $(NF - k) }'
}

# three processes in disorder, one of two tasks; memory that is shared at other addresses, and that is replaced; one executes a program
mkdir -p mix/p1 mix/p2 mix/p3
awk -v SEED=11 'BEGIN {
	srand(SEED); print "laplace-merge 1 text" >"mix/manifest"
	split("p1/t1 p1/t2 p2/t3 p3/t4", name, " ")
	for (t = 1; t <= 8000; t++) {
		k = 1 + int(rand() * 4); f = "mix/" name[k]
		if (t == 4000) { k = 4; f = "mix/p3/t4"; printf "X %x 4 7 1 1 prog\n", t >f; e[k]++ }
		else {
			p = int(rand() * 700)
			q = k <= 2 ? 1 : k - 1                                  # the process
			if (p < 100) c = sprintf("10000001%08x", p)             # shared, by all, at addresses that differ by pages
			else c = sprintf("1000%04x%08x", q * 16 + (p < 400 ? int(t / 2000) : 0), p)
			printf "%s %x 4 %x %s\n", substr("riw", 1 + int(rand() * (p < 50 ? 2 : 3)), 1), t, p + (p < 100 ? q * 1027 : 5000), c >f
			r[k]++
		}
		if (!(k in first)) first[k] = t
		last[k] = t
	}
	for (k = 1; k <= 4; k++) {
		if (k != 2) printf "process %s %x %x\n", substr(name[k], 1, 2), 1, 8000 >"mix/manifest"
		printf "task %s %x %x %x %x %x\n", name[k], k, first[k], last[k], r[k], e[k] >"mix/manifest"
		if (k == 4) printf "program p3 4 fa0 prog\n" >"mix/manifest"
	}
	print "end" >"mix/manifest"
}'
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
./gen 20000 kernel >kernel && ./gen 20000 classic >refs
laplace-merge -b -o packed refs kernel
for what in 'mix 3 2 3' 'packed 4 64 16'; do
	# shellcheck disable=SC2086
	set -- $what
	stream "$1" >stream.txt
	laplace-pages -n "$2" -t "$3" --tlb "$4" --sizes 4k,16k,64k,2M "$1" >got 2>err || cat err
	k=3
	for size in 4096 16384 65536 2097152; do
		oracle "$1" "$2" "$3" $size "$4" >want
		columns got $k >column
		same "$1, pages of $size bytes: as awk finds" column want
		k=$((k - 1))
	done
	laplace-pages -n "$2" -t "$3" "$1" | awk 'NR > 1 && NR < 7 { print $2 } /^pages/ { print $2 }' >want
	awk '/local/ { print $(NF - 3) } /^pages/ { n = $(NF - 3) } /^node/ { exit } END { print n }' got >column
	same "$1: 4k as without sizes" column want
	laplace-stat "$1" | awk 'NR > 1 && NR < 5 { print $2; print $3 }' >want
	awk '/private/ { on = 1 } /^first/ { exit } on { print $(NF - 3) }' got >column
	same "$1: 4k are shared as laplace-stat says" column want
done
is "there were frames of several pages, and second ones of a range" "$(laplace-pages -s 4k,2M mix | awk '/^pages/ { print ($2 > 10 * $3), ($3 > 6) }')" "1 1"

for bad in 4095 12k 4M 2k 4k,,8k x 4k,8k,16k,32k,64k,128k,256k,512k,1M,2M,4k; do
	laplace-pages -s $bad small >out 2>err
	is "--sizes $bad" "$? $(wc -c <out | tr -d ' ') $(cut -d : -f 1 err)" "2 0 laplace-pages"
done
gives "--tlb without --sizes" 2 "laplace-pages: --tlb comes with --sizes; see laplace-pages --help" laplace-pages --tlb 4 small
tap_end
