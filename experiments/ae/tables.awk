# tables.awk: the tables of section 6, from the result lines of run:
# name, off user and system, on user and system, bytes, bytes packed, instructions, references, loop events,
# regeneration with a call an event: user and system, in batches: user and system

BEGIN {
	# the paper's figures
	pt["pdp"] = "1.9u + 0.0s"; pp["pdp"] = "1.3u + 5.7s"; pr["pdp"] = "3.7"
	pt["compress"] = "1.3u + 0.4s"; pp["compress"] = "1.2u + 3.1s"; pr["compress"] = "2.5"
	pt["polyd"] = "3.5u + 0.0s"; pp["polyd"] = "2.7u + 10.6s"; pr["polyd"] = "3.8"
	pt["sgefa"] = "1.0u + 1.6s"; pp["sgefa"] = "0.6u + 1.5s"; pr["sgefa"] = "0.8"
	pa["pdp"] = "10,117,340"; pz["pdp"] = "697,790"; pi["pdp"] = "19,777,774"; pf["pdp"] = "6,622,419"
	pa["compress"] = "5,222,138"; pz["compress"] = "1,964,649"; pi["compress"] = "15,840,343"; pf["compress"] = "4,950,641"
	pa["polyd"] = "16,692,484"; pz["polyd"] = "2,198,161"; pi["polyd"] = "42,510,559"; pf["polyd"] = "9,318,059"
	pa["sgefa"] = "1,590,518"; pz["sgefa"] = "137,871"; pi["sgefa"] = "12,651,297"; pf["sgefa"] = "3,464,586"
	p1["pdp"] = "9.8"; p2["pdp"] = "141.7"; p1["compress"] = "19.9"; p2["compress"] = "52.9"
	p1["polyd"] = "15.5"; p2["polyd"] = "117.9"; p1["sgefa"] = "50.7"; p2["sgefa"] = "584.0"
	pg["pdp"] = "103.4u + 12.9s"; ps["pdp"] = "171,533"; pg["compress"] = "53.9u + 5.5s"; ps["compress"] = "350,017"
	pg["polyd"] = "190.3u + 19.0s"; ps["polyd"] = "247,628"; pg["sgefa"] = "40.9u + 1.3s"; ps["sgefa"] = "381,893"
}

function big(x,    s) {
	s = sprintf("%.0f", x)
	while (s ~ /[0-9][0-9][0-9][0-9]/)
		sub(/[0-9][0-9][0-9]($|,)/, ",&", s)
	return s
}
function us(u, s) { return sprintf("%.2fu + %.2fs", u < 0 ? 0 : u, s < 0 ? 0 : s) }

{ n++; for (i = 1; i <= NF; i++) v[n, i] = $i }

END {
	f = "%-9s | %14s %14s %8s | %15s %15s %8s\n"
	print "Execution time (user + system), without profiling and what profiling adds (events to a file)\n"
	printf f, "", "the paper,", "DECstation", "3100", "here", "", ""
	printf f, "program", "program", "profile", "ratio", "program", "profile", "ratio"
	for (k = 1; k <= n; k++) {
		p = v[k, 1]; off = v[k, 2] + v[k, 3]; on = v[k, 4] + v[k, 5]
		printf f, p, pt[p], pp[p], pr[p], us(v[k, 2], v[k, 3]), us(v[k, 4] - v[k, 2], v[k, 5] - v[k, 3]), sprintf("%.2f", (on - off) / off)
	}
	f = "%-9s | %11s %10s %11s %10s | %13s %13s %15s %13s\n"
	print "\nTrace files\n"
	printf f, "program", "ae.out", "ae.out.Z", "# inst.", "# refs.", "ae.out", "ae.out.Z", "# inst.", "# refs."
	for (k = 1; k <= n; k++) {
		p = v[k, 1]
		printf f, p, pa[p], pz[p], pi[p], pf[p], big(v[k, 6]), big(v[k, 7]), big(v[k, 8]), big(v[k, 9])
	}
	f = "%-9s | %10s %10s | %10s %10s | %10s %10s\n"
	print "\nSize of the trace, at 5 bytes an address, / size of the event file; bytes of events for 1000 instructions\n"
	printf f, "program", "ae.out", "ae.out.Z", "ae.out", "ae.out.Z", "paper", "here"
	for (k = 1; k <= n; k++) {
		p = v[k, 1]; full = 5 * (v[k, 8] + v[k, 9])
		a = pa[p]; i = pi[p]
		gsub(/,/, "", a); gsub(/,/, "", i)
		printf f, p, p1[p], p2[p], sprintf("%.1f", full / v[k, 6]), sprintf("%.1f", full / v[k, 7]), sprintf("%.0f", a / i * 1000),
		    sprintf("%.1f", v[k, 6] / v[k, 8] * 1000)
	}
	f = "%-9s | %15s %10s | %15s %15s | %15s %15s\n"
	print "\nRegeneration: time and addresses a second; here with a call for each event, as in the paper, and in batches\n"
	printf f, "program", "time", "addr./s", "time", "addr./s", "in batches", "addr./s"
	for (k = 1; k <= n; k++) {
		p = v[k, 1]; refs = v[k, 8] + v[k, 9]
		printf f, p, pg[p], ps[p], us(v[k, 11], v[k, 12]), big(refs / (v[k, 11] + v[k, 12])), us(v[k, 13], v[k, 14]), big(refs / (v[k, 13] + v[k, 14]))
	}
}
