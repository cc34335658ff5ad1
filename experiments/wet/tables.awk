# The tables: the paper's numbers (paper.txt), then results of run: program, key, values.  Writes the pictures' data: parts, ratios.

FNR == NR {
	if ($1 !~ /#/) {
		for (i = 3; i <= NF; i++) paper[$1, $2, i - 2] = $i
	}
	next
}
{
	if (!($1 in seen)) { seen[$1] = 1; name[++np] = $1 }
	if ($2 == "full.sofar") { far[$1, ++nfar[$1]] = $3; sofar[$1, nfar[$1]] = $4; next }
	if ($2 ~ /\.(slice|value|addr)$/) {
		k = $2 ~ /slice/ ? 3 : 4
		count[$1, $2]++
		sum[$1, $2] += $k
		if (k == 4) words[$1, $2] += $3
		next
	}
	for (i = 3; i <= NF; i++) v[$1, $2, i - 2] = $i
}

function has(p, key) { return (p, key, 1) in v }
function get(p, key, i) { if (!i) i = 1; return (p, key, i) in v ? v[p, key, i] : 0 }
# a number in a column, or that there is none
function num(format, ok, x,    t) {
	t = sprintf(format, 0)
	if (ok) return sprintf(format, x)
	return sprintf("%" length(t) "s", "-")
}
# sums of logarithms: geometric means
function geo(key, x) { if (x > 0) { lg[key] += log(x); ng[key]++ } return x }
function mean(key) { return ng[key] ? exp(lg[key] / ng[key]) : 0 }
function avg(key, x) { av[key] += x; na[key]++; return x }
function average(key) { return na[key] ? av[key] / na[key] : 0 }
function title(s) { printf "\n%s\n\n", s }
function like(p) {
	return p == "gzip" ? "164.gzip" : p == "bzip2" ? "256.bzip2" : p == "cc1" ? "126.gcc" : p == "lua" ? "130.li" : p == "xmllint" ? "197.parser" : ""
}
# the paper's columns from..to of a table beside a row
function beside(t, p, from, to,    b, i, s) {
	b = p == "Avg." ? p : like(p)
	if (b == "") return ""
	s = "   " sprintf("%-10s", b)
	for (i = from; i <= to; i++) s = s sprintf(" %8s", paper[t, b, i])
	return s
}
function stmts(p) { return get(p, "ws.statements") }
function bits(p, key) { return 8 * get(p, key) / stmts(p) }
# bytes of labels before compression, as the paper counts
function orig(p) { return 4 * stmts(p) + 8 * get(p, "full.labels", 1) + 8 * get(p, "full.labels", 2) }

function rows(    i, p, m, k) {
	title("Bits a statement: of wetz -m full by part, of its whole file, of other modes; ratio as the paper counts; MB of memory it took (full)")
	printf "%-8s %7s | %6s %6s %6s %6s %6s %6s %6s %6s | %6s %6s | %6s | %6s %6s | %4s\n", "program", "M stmts", "code", "paths", "deps", "values", "addrs", "states",
	    "full", "ratio", "loads", "ratio", "replay", "paper", "ratio", "MB"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s %7.1f | %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.0f |", p, stmts(p) / 1e6, bits(p, "full.code"), bits(p, "full.paths"),
		    bits(p, "full.dependences"), bits(p, "full.values"), bits(p, "full.addresses"), 8 * (get(p, "full.states") + get(p, "full.ranks")) / stmts(p),
		    geo("full", bits(p, "full.file")), geo("fullratio", orig(p) / get(p, "full.file"))
		for (m = 1; m <= 3; m++) {
			k = m == 1 ? "loads" : m == 2 ? "replay" : "paper"
			printf " %s", num("%6.3f", has(p, k ".file"), has(p, k ".file") ? geo(k, bits(p, k ".file")) : 0)
			if (m != 2)
				printf " %s", num("%6.0f", has(p, k ".file"), has(p, k ".file") ? geo(k "ratio", m == 3 && has(p, "paper.timestamps") ? tier(p, 2, 1) : orig(p) / get(p, k ".file")) : 0)
			printf " |"
		}
		printf " %4.0f\n", get(p, "full.time", 2) / 1024
	}
	printf "%-8s %7s | %6s %6s %6s %6s %6s %6s %6.3f %6.0f | %s %s | %s | %s %s |\n", "geo.mean", "", "", "", "", "", "", "", mean("full"), mean("fullratio"),
	    num("%6.3f", ng["loads"], mean("loads")), num("%6.0f", ng["loads"], mean("loadsratio")), num("%6.3f", ng["replay"], mean("replay")),
	    num("%6.3f", ng["paper"], mean("paper")), num("%6.0f", ng["paper"], mean("paperratio"))
}

# the paper's three components of program p together, after tier t (0: before); or as ratio to before
function tier(p, t, ratio,    s, o) {
	s = get(p, "paper.timestamps", t + 1) + get(p, "paper.vals", t + 1) + get(p, "paper.edges", t + 1)
	o = get(p, "paper.timestamps", 1) + get(p, "paper.vals", 1) + get(p, "paper.edges", 1)
	return ratio ? (s ? o / s : 0) : s
}

function table1(    i, p) {
	title("Table 1.  WET sizes, MB: before, and by wetz -m full and -m paper (tier 2)")
	printf "%-8s %8s %9s %8s %7s %8s %7s   %-10s %8s %8s %8s %8s\n", "program", "M stmts", "original", "full", "ratio", "paper", "ratio", "the paper", "M stmts",
	    "original", "comp.", "ratio"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s %8.1f %9.1f %8.2f %7.1f %s %s%s\n", p, avg("n", stmts(p) / 1e6), avg("orig", orig(p) / 1e6), avg("comp", get(p, "full.file") / 1e6),
		    orig(p) / get(p, "full.file"), num("%8.2f", has(p, "paper.timestamps"), avg("compp", tier(p, 2) / 1e6)), num("%7.1f", has(p, "paper.timestamps"), tier(p, 2, 1)), beside(1, p, 1, 4)
		avg("ratio", orig(p) / get(p, "full.file"))
		avg("ratiop", tier(p, 2, 1))
	}
	printf "%-8s %8.1f %9.1f %8.2f %7.1f %8.2f %7.1f%s\n", "average", average("n"), average("orig"), average("comp"), average("ratio"), average("compp"), average("ratiop"), beside(1, "Avg.", 1, 4)
}

function component(t, what, key, from,    i, p, k, o, f) {
	title("Table " t ".  " what " labels: MB before; ratio after tier 1 and tier 2 (-m paper), in -m full")
	printf "%-8s %9s %8s %8s %8s   %-10s %8s %8s %8s\n", "program", "original", "tier 1", "tier 2", "full", "the paper", "original", "tier 1", "tier 2"
	split("", av); split("", na)
	for (i = 1; i <= np; i++) {
		p = name[i]
		o = key == "timestamps" ? 4 * stmts(p) : 8 * get(p, "full.labels", key == "vals" ? 2 : 1)
		f = key == "timestamps" ? get(p, "full.paths") + get(p, "full.ranks") : key == "vals" ? get(p, "full.values") : get(p, "full.dependences") + get(p, "full.states")
		printf "%-8s %9.2f", p, avg("o", o / 1e6)
		for (k = 2; k <= 3; k++)
			printf " %s", num("%8.2f", has(p, "paper." key), has(p, "paper." key) && get(p, "paper." key, k) ? avg(k, get(p, "paper." key, 1) / get(p, "paper." key, k)) : 0)
		printf " %8.1f%s\n", avg("f", o / f), beside(t, p, from, from + 2)
	}
	printf "%-8s %9.2f %8.2f %8.2f %8.1f%s\n", "average", average("o"), average(2), average(3), average("f"), beside(t, "Avg.", from, from + 2)
}

function table4(    i, p, k, key, sum) {
	title("Table 4.  Architecture specific information: MB of one bit an execution of a branch, load, store; compressed (-m full)")
	printf "%-8s %8s %8s %8s %10s %7s   %-10s %8s %8s %8s\n", "program", "branch", "load", "store", "compressed", "ratio", "the paper", "branch", "load", "store"
	for (i = 1; i <= np; i++) {
		p = name[i]
		sum = 0
		printf "%-8s", p
		for (k = 1; k <= 3; k++) {
			key = "full." (k == 1 ? "branch" : k == 2 ? "load" : "store")
			sum += get(p, key)
			printf " %8.2f", avg("arch" k, get(p, key) / 1e6)
		}
		printf " %10.2f %7.1f%s\n", avg("archc", get(p, "full.bits") / 1e6), avg("archr", sum / get(p, "full.bits")), beside(4, p, 1, 3)
	}
	printf "%-8s %8.2f %8.2f %8.2f %10.2f %7.1f%s\n", "average", average("arch1"), average("arch2"), average("arch3"), average("archc"), average("archr"),
	    beside(4, "Avg.", 1, 3)
}

function table5(    i, p, k, m, s) {
	title("Table 5.  Construction, of a capture: CPU seconds and millions of statements a second; the paper's minutes")
	printf "%-8s %8s", "program", "M stmts"
	for (k = 1; k <= 4; k++) printf " %7s %6s", k == 1 ? "full" : k == 2 ? "loads" : k == 3 ? "replay" : "paper", "M/s"
	printf "   %-10s %8s %8s\n", "the paper", "M stmts", "minutes"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s %8.1f", p, stmts(p) / 1e6
		for (k = 1; k <= 4; k++) {
			m = (k == 1 ? "full" : k == 2 ? "loads" : k == 3 ? "replay" : "paper") ".time"
			s = get(p, m) + (k == 4 ? get(p, "full.time") : 0)
			printf " %s %s", num("%7.1f", has(p, m), s), num("%6.1f", has(p, m), s ? geo("speed" k, stmts(p) / 1e6 / s) : 0)
		}
		printf "%s\n", beside(5, p, 1, 2)
	}
	printf "%-8s %8s", "geo.mean", ""
	for (k = 1; k <= 4; k++) printf " %7s %s", "", num("%6.1f", ng["speed" k], mean("speed" k))
	printf "%s\n", beside(5, "Avg.", 1, 2)
}

# the files that tables 6 to 9 ask: 1 a capture, 2 tier 1, 3 both tiers
function file(k) { return k == 1 ? "p.ws" : k == 2 ? "tier1.wet" : "full.wet" }
function filename(k) { return k == 1 ? "ws" : k == 2 ? "tier 1" : "tier 2" }

function table6(    i, p, k, key, s) {
	title("Table 6.  Control flow, MB (4 bytes a statement); MB a CPU second, forward and backward: of the capture, of wetz -0 (tier 1) and of wetz (tier 2)")
	printf "%-8s %8s", "program", "MB"
	for (k = 1; k <= 6; k++) printf " %11s", filename(int((k + 1) / 2)) (k % 2 ? " forw" : " back")
	printf "   %-10s %8s %8s %8s %8s %8s\n", "the paper", "MB", "1 forw", "2 forw", "1 back", "2 back"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s %8.1f", p, 4 * stmts(p) / 1e6
		for (k = 1; k <= 6; k++) {
			key = file(int((k + 1) / 2)) (k % 2 ? ".cf" : ".back")
			s = get(p, key)
			printf " %s", num("%11.0f", has(p, key), s ? geo("cf" k, 4 * stmts(p) / 1e6 / s) : 0)
		}
		printf "%s\n", beside(6, p, 1, 5)
	}
	printf "%-8s %8s", "geo.mean", ""
	for (k = 1; k <= 6; k++) printf " %s", num("%11.0f", ng["cf" k], mean("cf" k))
	printf "%s\n", beside(6, "Avg.", 1, 5)
}

function traces(t, what, key,    i, p, k, f) {
	title("Table " t ".  " what ", statement by statement: CPU seconds for one; executed, M statements a second; of its trace, MB a second")
	printf "%-8s", "program"
	for (k = 1; k <= 3; k++) printf " %8s %7s %7s", filename(k), "M/s", "MB/s"
	printf "   %-10s %8s %8s %8s %8s %8s\n", "the paper", "MB", "tier 1,s", "MB/s", "tier 2,s", "MB/s"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s", p
		for (k = 1; k <= 3; k++) {
			f = file(k) "." key
			if (count[p, f] && sum[p, f])
				printf " %8.2f %7.0f %7.1f", sum[p, f] / count[p, f], geo(t "m" k, stmts(p) / 1e6 * count[p, f] / sum[p, f]), geo(t "b" k, 8e-6 * words[p, f] / sum[p, f])
			else
				printf " %8s %7s %7s", "-", "-", "-"
		}
		printf "%s\n", beside(t, p, 1, 5)
	}
	printf "%-8s", "geo.mean"
	for (k = 1; k <= 3; k++) printf " %8s %s %s", "", num("%7.0f", ng[t "m" k], mean(t "m" k)), num("%7.1f", ng[t "b" k], mean(t "b" k))
	printf "%s\n", beside(t, "Avg.", 1, 5)
}

function table9(    i, p, k, f) {
	title("Table 9.  Backward slices, from points at equal steps of the run: CPU seconds, mean; MB of the tier-1 file")
	printf "%-8s %8s %8s %7s %8s %8s %8s   %-10s %8s %8s\n", "program", "M stmts", "MB", "slices", "ws", "tier 1", "tier 2", "the paper", "tier 1", "tier 2"
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s %8.1f %8.1f %7d", p, stmts(p) / 1e6, get(p, "tier1.file") / 1e6, count[p, "p.ws.slice"]
		for (k = 1; k <= 3; k++) {
			f = file(k) ".slice"
			printf " %s", num("%8.2f", count[p, f], count[p, f] ? geo("slice" k, sum[p, f] / count[p, f]) : 0)
		}
		printf "%s\n", beside(9, p, 1, 2)
	}
	printf "%-8s %8s %8s %7s", "geo.mean", "", "", ""
	for (k = 1; k <= 3; k++) printf " %s", num("%8.2f", ng["slice" k], mean("slice" k))
	printf "%s\n", beside(9, "Avg.", 1, 2)
}

# shares of components before, after tier 1, after tier 2, in full; and ratios by length
function pictures(    i, j, p, k, q, s, c) {
	title("Figure 8.  Shares of time stamps, values, edges in %: before; after tier 1, after tier 2 (-m paper); in -m full")
	printf "%-8s %17s %17s %17s %17s\n", "program", "before", "tier 1", "tier 2", "full"
	for (i = 1; i <= np; i++) {
		p = name[i]
		c[0, 1] = 4 * stmts(p); c[0, 2] = 8 * get(p, "full.labels", 2); c[0, 3] = 8 * get(p, "full.labels", 1)
		for (k = 1; k <= 2; k++) {
			c[k, 1] = get(p, "paper.timestamps", k + 1); c[k, 2] = get(p, "paper.vals", k + 1); c[k, 3] = get(p, "paper.edges", k + 1)
		}
		c[3, 1] = get(p, "full.paths") + get(p, "full.ranks"); c[3, 2] = get(p, "full.values"); c[3, 3] = get(p, "full.dependences") + get(p, "full.states")
		printf "%-8s", p
		for (k = 0; k <= 3; k++) {
			s = c[k, 1] + c[k, 2] + c[k, 3]
			for (q = 1; q <= 3; q++) {
				printf " %s%s", q == 1 ? "  " : "", num("%4.1f", s, s ? 100 * c[k, q] / s : 0)
				if (s) printf "%s%s", (q == 1 ? p " " k " " : " ") 100 * c[k, q] / s, q == 3 ? "\n" : "" > "parts"
			}
		}
		print ""
	}
	title("Figure 9.  Ratio of -m full by millions of statements executed")
	for (i = 1; i <= np; i++) {
		p = name[i]
		printf "%-8s", p
		for (j = 1; j <= 8; j++) {
			k = int(nfar[p] * j / 8 + .5)
			if (k < 1) k = 1
			printf "  %.0f:%.0f", far[p, k] / 1e6, sofar[p, k]
		}
		print ""
		for (j = 1; j <= nfar[p]; j++) printf "%g %g\n", far[p, j] / 1e6, sofar[p, j] > ("ratio." p)
		print p > "ratios"
	}
}

END {
	rows()
	table1()
	component(2, "Time stamp", "timestamps", 1)
	component(2, "Value", "vals", 4)
	component(3, "Edge", "edges", 1)
	table4()
	table5()
	table6()
	traces(7, "Values of loads", "value")
	traces(8, "Addresses of loads and stores", "addr")
	table9()
	pictures()
}
