# tables.awk: the tables of section 6, from paper.txt and the result lines of run

BEGIN {
	# columns of paper.txt; u and s: user and system time
	split("name off_u off_s add_u add_s ratio bytes packed inst refs r_bytes r_packed regen_u regen_s rate", paper)
	# of run: untraced, events to /dev/null, to a file, instructions executed untraced and traced; a small run's sizes;
	# a large run's counts, its regeneration with a call for each event and in batches
	split("name who off_u off_s null_u null_s on_u on_s off_i on_i bytes packed inst refs loops large_i large_r large_l " \
	    "each_u each_s batch_u batch_s", here)
}

function big(x,    s) {
	s = sprintf("%.0f", x)
	while (s ~ /[0-9][0-9][0-9][0-9]/)
		sub(/[0-9][0-9][0-9]($|,)/, ",&", s)
	return s
}
function us(u, s, digits) { return sprintf("%.*fu + %.*fs", digits, u < 0 ? 0 : u, digits, s < 0 ? 0 : s) }
function rule(s) { gsub(/[^|]/, "-", s); gsub(/-\|-/, "-+-", s); print s }
function get(what) { return v[p, r, what] }

/^#/ || NF == 0 { next }
FILENAME ~ /paper\.txt$/ {
	for (i = 1; i <= NF; i++) v[$1, 0, paper[i]] = $i
	next
}
{
	if (!($1 in rows)) name[++names] = $1
	r = ++rows[$1]
	for (i = 1; i <= NF; i++) v[$1, r, here[i]] = $i
	sub(/,/, " ", v[$1, r, "who"])
}

function times(f) {
	if (r == 0) {
		printf f, p, "the paper", us(get("off_u"), get("off_s"), 1), us(get("add_u"), get("add_s"), 1), get("ratio"),
		    sprintf("%.2f", get("add_u") / get("off_u")), "-"
		return
	}
	off = get("off_u") + get("off_s")
	printf f, "", get("who"), us(get("off_u"), get("off_s"), 2), us(get("on_u") - get("off_u"), get("on_s") - get("off_s"), 2),
	    sprintf("%.2f", (get("on_u") + get("on_s")) / off - 1), sprintf("%.2f", (get("null_u") + get("null_s")) / off - 1),
	    sprintf("%.2f", get("on_i") / get("off_i") - 1)
}

function sizes(f) {
	trace = 5 * (get("inst") + get("refs"))
	printf f, r ? "" : p, r ? get("who") : "the paper", big(get("bytes")), big(get("packed")), big(get("inst")), big(get("refs")), big(trace),
	    r ? sprintf("%.1f", trace / get("bytes")) : get("r_bytes"), r ? sprintf("%.1f", trace / get("packed")) : get("r_packed"),
	    sprintf("%.1f", get("bytes") / get("inst") * 1000)
}

function rates(f) {
	if (r == 0) {
		printf f, p, "the paper", us(get("regen_u"), get("regen_s"), 1), big(get("rate")), "-", "-"
		return
	}
	n = get("large_i") + get("large_r")
	printf f, "", get("who"), us(get("each_u"), get("each_s"), 2), big(n / (get("each_u") + get("each_s"))),
	    us(get("batch_u"), get("batch_s"), 2), big(n / (get("batch_u") + get("batch_s")))
}

function table(which, f,    k) {
	for (k = 1; k <= names; k++) {
		p = name[k]
		rule(sprintf(f, "", "", "", "", "", "", "", "", "", "", ""))
		for (r = 0; r <= rows[p]; r++) {
			if (which == "times") times(f)
			else if (which == "sizes") sizes(f)
			else rates(f)
		}
	}
}

END {
	print "Execution time (user + system), without profiling and what profiling adds (events to a file)\n"
	f = "%-9s %-15s | %15s %15s %7s | %11s %13s\n"
	printf f, "", "", "program", "profile", "ratio", "not written", "instructions"
	table("times", f)

	print "\nTrace files; trace: 5 bytes an address\n"
	f = "%-9s %-15s | %10s %10s %11s %11s | %11s %7s %8s %7s\n"
	printf f, "", "", "", "", "", "", "bytes of", "trace/", "trace/", "B/1000"
	printf f, "", "", "ae.out", "ae.out.Z", "# inst.", "# refs.", "trace", "ae.out", "ae.out.Z", "# inst."
	table("sizes", f)

	print "\nRegeneration: time and addresses a second; with a call for each event, as in the paper, and in batches\n"
	f = "%-9s %-15s | %15s %15s | %15s %15s\n"
	printf f, "", "", "time", "addresses/s", "in batches", "addresses/s"
	table("rates", f)
}
