# References that are local and remote under each policy: a small trace by hand, and what awk counts of random ones and of a capture
. "$SRC/testdata/tap.sh"

# Two tasks on two nodes.  a: read by 0 once, by 1 three times; b: written by 0, read by 1; c: read by 0, and by the kernel in 1's turn;
# d: written by 1
mkdir -p small/p1 small/p2
printf '%s\n' 'r 1 4 10 a' 'w 2 4 10 b' 'r 3 4 10 c' >small/p1/t1
printf '%s\n' 'S 4 2' 'r 4 4 20 a' 'r 5 4 20 a' 'r 6 4 20 a' 'r 7 4 20 b' 'w 8 4 21 d' >small/p2/t2
echo 'R 9 4 30 c' >small/kernel
cat >small/manifest <<'END'
laplace-merge 1 text
process p1 1 3
task p1/t1 1 1 3 3 0
process p2 4 8
task p2/t2 2 4 8 5 1
kernel kernel 9 9 1 0
end
END
laplace-pages -n 2 -t 2 small >got
is "by hand: status" $? 0
is "by hand" "$(awk '{ $1 = $1; print }' got | tr '\n' ';')" "policy local remote local % moves, copies fewest pages most pages;\
first-touch 4 5 44.444 0 1 3;interleaved 4 5 44.444 0 2 2;best-static 6 3 66.667 0 2 2;migration 4 5 44.444 1 2 2;\
replication 8 1 88.889 2 3 3;;node tasks references;0 1 3;1 1 6;pages 4 9;"
laplace-pages --json -n 2 -t 2 small | tr -d ' \n' >got
is "as JSON" "$(cat got)" '{"references":9,"pages":4,"threshold":2,"policies":{'\
'"first-touch":{"local":4,"remote":5,"pages":[3,1]},"interleaved":{"local":4,"remote":5,"pages":[2,2]},'\
'"best-static":{"local":6,"remote":3,"pages":[2,2]},"migration":{"local":4,"remote":5,"migrations":1,"pages":[2,2]},'\
'"replication":{"local":8,"remote":1,"replicas":2,"pages":[3,3]}},"nodes":[{"tasks":1,"references":3},{"tasks":1,"references":6}]}'
is "a threshold of 1 moves a, b and c" "$(laplace-pages -n 2 -t 1 small | awk '$1 == "migration" { print $2, $5 }')" "5 1"
is "one node: all is local" "$(laplace-pages -n 1 small | awk 'NR > 1 && NR < 7 { print $2, $3 }' | sort -u)" "9 0"

# stream DIR: TIME PLACE RECORD TASK TYPE PAGE of each reference, by time, and of each S
stream() {
	k=0
	awk '/^task / || /^kernel / { print $2 }' "$1/manifest" | while read -r f; do
		k=$((k + 1))
		case $1 in real) laplace-text "$1/$f" ;; *) cat "$1/$f" ;; esac | awk -v f="$f" -v k="$k" '
			/^[rwiRWIS] / { t = sprintf("%16s", $2); gsub(/ /, "0", t); print t, k, NR, f, $1, $5 }'
	done | sort -k 1,1 -k 2,2n -k 3,3n
}
# oracle DIR NODES THRESHOLD: the text as it should be
oracle() {
	stream "$1" >stream.txt
	awk '/^task / { t = sprintf("%16s", $4); gsub(/ /, "0", t); print t, NR, $2 }' "$1/manifest" |
		sort -k 1,1 -k 2,2n | awk '{ print $3 }' >started
	awk -v N="$2" -v T="$3" '
	function rem(s,  r, k) { for (k = 1; k <= length(s); k++) r = (r * 16 + index("0123456789abcdef", substr(s, k, 1)) - 1) % N; return r }
	function row(name, local, moved, pages,  k, min, max) {
		min = max = pages[0] + 0
		for (k = 1; k < N; k++) { if (pages[k] + 0 < min) min = pages[k] + 0; if (pages[k] + 0 > max) max = pages[k] + 0 }
		printf "%-12s %20d %20d %8.3f %14d %14d %14d\n", name, local, all - local, 100 * local / all, moved, min, max
	}
	BEGIN { while ((getline line <"started") > 0) { node[line] = n++ % N; tasks[node[line]]++ }; run = 0 }
	$4 != "kernel" { run = node[$4] }
	$5 == "S" { next }
	{
		p = $6; all++; of[run]++
		if (!(p in first)) { first[p] = home[p] = run; np++ }
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
			best = 0
			for (k = 1; k < N; k++) if (made[p, k] + 0 > made[p, best] + 0) best = k
			flocal += made[p, first[p]]; fp[first[p]]++
			r = rem(p); ilocal += made[p, r]; ip[r]++
			blocal += made[p, best]; bp[best]++
			mp[home[p]]++
			if (p in written) { rlocal += made[p, first[p]]; rp[first[p]]++ }
			else for (k = 0; k < N; k++) if (made[p, k]) { rlocal += made[p, k]; rp[k]++; copies += k != first[p] }
		}
		printf "%-12s %20s %20s %8s %14s %14s %14s\n", "policy", "local", "remote", "local %", "moves, copies", "fewest pages", "most pages"
		row("first-touch", flocal, 0, fp); row("interleaved", ilocal, 0, ip); row("best-static", blocal, 0, bp)
		row("migration", mlocal, moved, mp); row("replication", rlocal, copies, rp)
		printf "\n%-12s %20s %20s\n", "node", "tasks", "references"
		for (k = 0; k < N; k++) printf "%-12d %20d %20d\n", k, tasks[k], of[k]
		printf "%-12s %20d %20d\n", "pages", np, all
	}' stream.txt
}
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
./gen 100000 kernel >kernel && ./gen 100000 classic >refs
laplace-merge -o text refs kernel && laplace-merge -b -o packed refs kernel
for sizes in '2 1' '3 5' '4 64'; do
	# shellcheck disable=SC2086
	oracle text $sizes >want
	for form in text packed; do
		laplace-pages -n "${sizes% *}" -t "${sizes#* }" $form >got
		same "$form, $sizes: as awk counts" got want
	done
done
is "the kernel has references" "$(awk '$4 == "kernel" { n++ } END { print (n > 100) }' stream.txt)" 1
laplace-pages text/ | cmp -s - want && pass "the defaults, and the folder with a slash" || fail "the defaults, and the folder with a slash"
laplace-pages --output file --nodes 4 --threshold 64 text
same "to a file, with long options" file want

# Three tasks in disorder, which have all pages in common and write to half of them: many moves
mkdir -p mix/p1 mix/p2 mix/p3
awk -v SEED=7 'BEGIN {
	srand(SEED); print "laplace-merge 1 text" >"mix/manifest"
	for (k = 1; k <= 3; k++) { n[k] = 0; f[k] = "mix/p" k "/t" k }
	for (t = 1; t <= 6000; t++) {
		k = 1 + int(rand() * 3)
		p = int(rand() * 40)
		printf "%s %x 4 %x 100000000000%02x\n", substr("riw", 1 + int(rand() * (p < 20 ? 2.1 : 2)), 1), t, t % 99, p >f[k]
		if (!n[k]++) first[k] = t
		last[k] = t
	}
	for (k = 1; k <= 3; k++) printf "process p%d %x %x\ntask p%d/t%d %x %x %x %x 0\n", k, first[k], last[k], k, k, k, first[k], last[k], n[k] >"mix/manifest"
	print "end" >"mix/manifest"
}'
for sizes in '2 1' '3 1' '3 2' '2 7'; do
	# shellcheck disable=SC2086
	oracle mix $sizes >want
	laplace-pages -n "${sizes% *}" -t "${sizes#* }" mix >got
	same "mixed, $sizes: as awk counts" got want
done
is "pages moved often" "$(laplace-pages -n 3 -t 1 mix | awk '$1 == "migration" { print ($5 > 500) }')" 1

# damage
gives "no folder" 1 "laplace-pages: none/manifest: No such file or directory" laplace-pages none
for n in 0 257 x; do
	laplace-pages -n $n small >out 2>err
	is "-n $n" "$? $(wc -c <out | tr -d ' ') $(cut -d : -f 1-2 err)" "2 0 laplace-pages: -n $n"
done
mkdir none && printf 'laplace-merge 1 text\nend\n' >none/manifest
is "no task" "$(laplace-pages -n 1 none | awk 'NR == 2 || /^pages/ { $1 = $1; print }' | tr '\n' ';')" "first-touch 0 0 - 0 0 0;pages 0 0;"
cp -R small bad
sed 's, 5 1$, 6 1,' small/manifest >bad/manifest
gives "another number of references" 1 "laplace-pages: bad/p2/t2: 5 references, where the manifest has 6" laplace-pages bad
cp small/manifest bad/manifest
echo 'r 4 4 10' >>bad/p1/t1
laplace-pages bad >out 2>err
is "a damaged trace" "$? $(wc -c <out | tr -d ' ') $(cut -d ' ' -f 1-4 err)" "1 0 laplace-pages: bad/p1/t1: byte 33"
cp small/p1/t1 bad/p1/t1
head -n -1 packed/manifest >cut.manifest
cp -R packed cut && cp cut.manifest cut/manifest
laplace-pages cut >out 2>err
is "a manifest that is cut off" "$? $(wc -c <out | tr -d ' ') $(sed 's/.*: //' err)" "1 0 the manifest is cut off"
task=$(awk '/^task / { print $2; exit }' packed/manifest)
cp packed/manifest cut/manifest && head -c -3 "packed/$task" >"cut/$task"
laplace-pages cut >out 2>err
is "a packed trace that is cut off" "$? $(wc -c <out | tr -d ' ') $(cut -d : -f 1-2 err)" "1 0 laplace-pages: cut/$task"

# a real program
wscap -o t.ws true 2>err || { skip "no captures here: $(cat err)"; tap_end; exit; }
ws2laplace -k k -o r t.ws && laplace-merge -b -o real r k
oracle real 2 8 >want
laplace-pages -n 2 -t 8 real >got
same "a capture: as awk counts" got want
is "its one task is on node 0" "$(awk '$1 == "first-touch" { print ($2 > 10000), $3 }' got)" "1 0"
tap_end
