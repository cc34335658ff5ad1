# Working sets of tasks by windows of time: by hand, and what awk counts of a generated system
. "$SRC/testdata/tap.sh"

# windows of 4 from time 3 on: 3 to 6, 7 to 10, 11 to 14 (no reference), and 4097 windows later
mkdir -p small/p1 small/p2
printf '%s\n' 'r 3 4 10 a' 'w 4 4 11 b' 'r 6 4 10 a' 'r 7 4 10 a' >small/p1/t1
printf '%s\n' 'S 4 2' 'r 6 4 20 a' 'r a 4 21 c' 'T e 2' 'r 4013 4 21 c' >small/p2/t2
cat >small/manifest <<'END'
laplace-merge 1 text
process p1 3 7
task p1/t1 1 3 7 4 0
process p2 4 4013
task p2/t2 2 4 4013 3 2
end
END
flat() { awk '{ $1 = $1; print }' | tr '\n' ';'; }
laplace-stat --window 4 small >got
is "by hand: status" $? 0
is "by hand" "$(flat <got)" "time task references pages shared;3 p1/t1 3 2 1;3 p2/t2 1 1 1;3 all 4 2 1;7 p1/t1 1 1 0;7 p2/t2 1 1 0;\
7 all 2 2 0;16403 p2/t2 1 1 0;16403 all 1 1 0;"
is "as JSON" "$(laplace-stat --json --window 4 small | tr -d ' \n')" \
'{"window":4,"windows":[{"time":3,"references":4,"pages":2,"shared":1,"tasks":[{"task":"p1/t1","references":3,"pages":2,"shared":1},{"task":"p2/t2","references":1,"pages":1,"shared":1}]},{"time":7,"references":2,"pages":2,"shared":0,"tasks":[{"task":"p1/t1","references":1,"pages":1,"shared":0},{"task":"p2/t2","references":1,"pages":1,"shared":0}]},{"time":16403,"references":1,"pages":1,"shared":0,"tasks":[{"task":"p2/t2","references":1,"pages":1,"shared":0}]}]}'

# oracle DIR WINDOW
oracle() {
	awk '/^task / || /^kernel / { print $2 }' "$1/manifest" >names
	while read -r f; do
		laplace-text "$1/$f" | awk -v f="$f" '
			function hex(s,  r, k) { for (k = 1; k <= length(s); k++) r = r * 16 + index("0123456789abcdef", substr(s, k, 1)) - 1; return r }
			{ print hex($2), f, /^[rwiRWI] / ? $5 : "-" }'
	done <names | sort -k 1,1n | awk -v T="$2" '
	function row(name, r, p, s) { printf "%-20.0f %-24s %20d %14d %14d\n", begin + now * T, name, r, p, s }
	function finish(  i, k, w, p, r, all, shared, own, both) {
		for (k in touched) { split(k, w, SUBSEP); ntask[w[2]]++ }
		for (k in touched) { split(k, w, SUBSEP); own[w[1]]++; both[w[1]] += ntask[w[2]] > 1 }
		for (p in ntask) { all++; shared += ntask[p] > 1 }
		for (i = 1; i <= n; i++) if (name[i] in refs) { row(name[i], refs[name[i]], own[name[i]], both[name[i]]); r += refs[name[i]] }
		if (r) row("all", r, all, shared)
		split("", touched); split("", ntask); split("", refs)
	}
	BEGIN {
		while ((getline line <"names") > 0) name[++n] = line
		printf "%-20s %-24s %20s %14s %14s\n", "time", "task", "references", "pages", "shared"
	}
	NR == 1 { begin = $1; now = 0 }
	{ k = int(($1 - begin) / T); if (k != now) { finish(); now = k } }
	$3 != "-" { touched[$2, $3]; refs[$2]++ }
	END { finish() }'
}
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
./gen 30000 kernel >kernel && ./gen 30000 classic >refs
laplace-merge -b -o packed refs kernel
for window in 1000 12345 1G; do
	n=$window
	[ $window = 1G ] && n=1073741824
	oracle packed $n >want
	laplace-stat --window $window packed >got
	is "window $window: status" $? 0
	same "window $window: as awk counts" got want
done
is "one window has what the tables have" "$(awk '$2 == "all" { print $3, $4 }' got)" \
	"$(laplace-stat packed | awk 'NR > 1 && NR < 5 { p += $2; r += $3 } END { print r, p }')"
is "many windows, and pages that are shared in one" "$(laplace-stat --window 1000 packed | awk '$2 == "all" { n++; s += $5 } END { print (n > 10), (s > 0) }')" "1 1"

# damage: what comes before it
cp -R small bad
echo 'r 4 4 10' >>bad/p1/t1
laplace-stat --window 3 bad >out 2>err
is "a damaged trace" "$? $(flat <out) $(cut -d ' ' -f 1-4 err)" "1 time task references pages shared;3 p1/t1 2 2 0;3 all 2 2 0; laplace-stat: bad/p1/t1: byte 44"
for n in 0 x -1; do
	laplace-stat --window $n small >out 2>err
	is "--window $n" "$? $(wc -c <out | tr -d ' ') $(cut -d : -f 1 err)" "2 0 laplace-stat"
done
tap_end
