# bench.awk: the table of bench, from its result lines; what = head, line or sum

function off() { return $2 }
function put(name, o, n, f, b, m, r, z1, z2, z3, z4, p, g, a, l, c) {
	printf "%-9s %6s %5s %5s %8s %8s %6s %6s %6s %6s %6s %7s %6s %6s %6s %7s\n", name, o, n, f, b, m, r, z1, z2, z3, z4, p, g, a, l, c
}
function rate(x) { return sprintf(x < 100 ? "%.1f" : "%.0f", x) }

function figures() {
	full = 5 * ($10 + $11)
	null = $3 / $2; file = $4 / $2
	per1000 = $8 / $5 * 1000
	plain = full / $13; xz = full / $14; zs = full / $15; bz = full / $16; Z = full / $17; packed = full / $20; ppk = $20 / $10 * 1000; mb = $13 / $21 / 1e6
	regen = ($5 + $6) / $9 / 1e6
	addr = ($10 + $11) / $18 / 1e6
	lackey = $19 * $5 / $2
	cycle = $19 * $5 / ($4 + $9)
}

BEGIN {
	if (what == "head") {
		put("", "native", "null", "file", "million", "events", "trace/", "with", "with", "with", "with", "with", "regen", "ae2", "lackey", "cycle")
		put("program", "s", "x", "x", "instr.", "B/1000i", "events", "xz", "zstd", "bzip2", "Z", "aepack", "M/s", "M/s", "x", "x")
	}
}

what == "line" {
	figures()
	put($1, sprintf("%.2f", $2), sprintf("%.2f", null), sprintf("%.2f", file), sprintf("%.0f", $5 / 1e6), sprintf("%.1f", per1000),
	    rate(plain), rate(xz), rate(zs), rate(bz), rate(Z), rate(packed), rate(regen), rate(addr), rate(lackey), rate(cycle))
}

what == "sum" {
	figures()
	n++
	v[1, n] = null; v[2, n] = file; v[3, n] = per1000; v[4, n] = plain; v[5, n] = xz; v[6, n] = zs; v[7, n] = bz; v[8, n] = Z
	v[9, n] = regen; v[10, n] = addr; v[11, n] = lackey; v[12, n] = cycle
	best = xz; if (zs > best) best = zs; if (bz > best) best = bz; if (Z > best) best = Z
	v[13, n] = best; v[14, n] = packed; v[15, n] = ppk; v[16, n] = mb
}

function mean(k,    i, s) {
	for (i = 1; i <= n; i++) s += log(v[k, i] > 0 ? v[k, i] : 1e-9)
	return exp(s / n)
}
function sorted(k,    i, j, t) {
	for (i = 1; i <= n; i++) w[i] = v[k, i]
	for (i = 2; i <= n; i++) for (j = i; j > 1 && w[j - 1] > w[j]; j--) { t = w[j]; w[j] = w[j - 1]; w[j - 1] = t }
}
function median(k) { sorted(k); return n % 2 ? w[(n + 1) / 2] : (w[n / 2] + w[n / 2 + 1]) / 2 }
function largest(k) { sorted(k); return w[n] }
function least(k) { sorted(k); return w[1] }
function verdict(ok) { return ok ? "reached" : "MISSED" }

END {
	if (what != "sum" || n == 0) exit
	put("geo. mean", "", sprintf("%.2f", mean(1)), sprintf("%.2f", mean(2)), "", sprintf("%.1f", mean(3)), rate(mean(4)), rate(mean(5)), rate(mean(6)),
	    rate(mean(7)), rate(mean(8)), rate(mean(14)), rate(mean(9)), rate(mean(10)), rate(mean(11)), rate(mean(12)))
	put("median", "", sprintf("%.2f", median(1)), sprintf("%.2f", median(2)), "", sprintf("%.1f", median(3)), rate(median(4)), rate(median(5)), rate(median(6)),
	    rate(median(7)), rate(median(8)), rate(median(14)), rate(median(9)), rate(median(10)), rate(median(11)), rate(median(12)))
	print ""
	printf "%-58s %-18s %-14s %s\n", "", "target", "here", ""
	fmt = "%-58s %-18s %-14s %s\n"
	printf fmt, "CPU time, events to /dev/null, worst program", "<= 1.5 x", sprintf("%.2f x", largest(1)), verdict(largest(1) <= 1.5)
	printf fmt, "... median", "<= 1.25 x", sprintf("%.2f x", median(1)), verdict(median(1) <= 1.25)
	printf fmt, "CPU time, events to a file, worst program", "<= 2.5 x", sprintf("%.2f x", largest(2)), verdict(largest(2) <= 2.5)
	printf fmt, "trace / packed events, best compressor, worst program", ">= 50", rate(least(13)), verdict(least(13) >= 50)
	printf fmt, "... geometric mean (the paper, with compress: 53 to 584)", ">= 150", rate(mean(13)), verdict(mean(13) >= 150)
	printf fmt, "bytes for 1000 instructions, aepack, worst program", "<= 20", rate(largest(15)), verdict(largest(15) <= 20)
	printf fmt, "MB of events packed by aepack in a second, geometric mean", ">= 20", rate(mean(16)), verdict(mean(16) >= 20)
	printf fmt, "addresses a second, prog.regen, batches, geometric mean", ">= 300 M/s", rate(mean(9)) " M/s", verdict(mean(9) >= 300)
	printf fmt, "addresses a second, ae2addr, geometric mean", ">= 30 M/s", rate(mean(10)) " M/s", verdict(mean(10) >= 30)
	printf fmt, "record to a file and regenerate, against lackey, worst", ">= 100 x", rate(least(12)) " x", verdict(least(12) >= 100)
}
