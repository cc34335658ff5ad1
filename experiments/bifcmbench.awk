# Tables of bifcmbench, from lines `stream records method bytes in out [back median mean most KiB]`
{
	if (!($1 in n)) stream[++ns] = $1
	if (!($3 in known)) { known[$3] = 1; method[++nm] = $3 }
	n[$1] = $2
	bytes[$1, $3] = $4
	secs["in", $1, $3] = $5
	secs["out", $1, $3] = $6
	if (NF > 6) {
		secs["back", $1, $3] = $7
		median[$1, $3] = $8
		most[$1, $3] = $10
		memory[$1, $3] = $11
	}
}
function head(first,  i) {
	printf "%-12s", first
	for (i = 1; i <= nm; i++) printf " %9s", method[i]
	print ""
}
# geometric mean over the streams of value(stream), which is v[stream]
function gmean(v,  i, sum) {
	for (i = 1; i <= ns; i++) sum += log(v[stream[i]])
	return exp(sum / ns)
}
function speeds(way, title,  i, m, s, v, least) {
	head(title)
	for (i = 1; i <= ns; i++) {
		printf "%-12s", stream[i]
		for (m = 1; m <= nm; m++) {
			s = secs[way, stream[i], method[m]]
			if (s == "") printf " %9s", "-"
			else printf " %9.2f", n[stream[i]] / 1e6 / (s > 0 ? s : 0.0001)
		}
		print ""
	}
	printf "%-12s", "mean"
	for (m = 1; m <= nm; m++) {
		if (secs[way, stream[1], method[m]] == "") { printf " %9s", "-"; continue }
		for (i = 1; i <= ns; i++) {
			s = secs[way, stream[i], method[m]]
			v[stream[i]] = n[stream[i]] / 1e6 / (s > 0 ? s : 0.0001)
		}
		printf " %9.2f", gmean(v)
	}
	print "\n"
}
END {
	if (!ns) exit 1
	head("bits")
	for (i = 1; i <= ns; i++) {
		printf "%-12s", stream[i]
		for (m = 1; m <= nm; m++) printf " %9.3f", 8 * bytes[stream[i], method[m]] / n[stream[i]]
		print ""
	}
	for (k = 1; k <= 2; k++) {
		printf "x %-10s", method[k]
		for (m = 1; m <= nm; m++) {
			for (i = 1; i <= ns; i++) v[stream[i]] = bytes[stream[i], method[m]] / bytes[stream[i], method[k]]
			printf " %9.3f", gmean(v)
		}
		print ""
	}
	over = "none"
	for (i = 1; i <= ns; i++) {
		d = bytes[stream[i], "bifcm-9"] - bytes[stream[i], "xz-9e"]
		if (d > 64) over = (over == "none" ? "" : over ", ") stream[i] " by " d
	}
	print "bifcm -9 more than 64 bytes larger than xz -9e: " over "\n"
	speeds("in", "M/s in")
	speeds("out", "M/s out")
	speeds("back", "M/s back")
	printf "%-12s %21s %21s %21s\n", "", "seek ms, median", "at most", "memory, MiB"
	printf "%-12s %10s %10s %10s %10s %10s %10s\n", "", "-9", "-1", "-9", "-1", "-9", "-1"
	for (i = 1; i <= ns; i++) {
		s = stream[i]
		printf "%-12s %10.2f %10.2f %10.2f %10.2f %10.1f %10.1f\n", s, median[s, "bifcm-9"], median[s, "bifcm-1"],
		    most[s, "bifcm-9"], most[s, "bifcm-1"], memory[s, "bifcm-9"] / 1024, memory[s, "bifcm-1"] / 1024
	}
}
