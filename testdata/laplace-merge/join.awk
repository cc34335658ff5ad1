# Two captured programs on one machine: awk -f join.awk -v slice=N prelude a.kernel a.refs b.kernel b.refs
# Writes `refs` and `kernel`.  The prelude, kernel records and references (text) of a parent that forks both, comes
# first; then a (task 2, address space 2) and b (3, 3) run in turns of `slice` instructions.
function hex(s,  i, v) {
	for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
function text(v,  s) {
	do { s = substr("0123456789abcdef", v % 16 + 1, 1) s; v = int(v / 16) } while (v)
	return s
}
# the next record of a file, or nothing; time[] its time
function fetch(f) {
	while ((getline line[f] < f) > 0) {
		split(line[f], w, " ")
		if (w[1] == "e" || w[1] == "S") continue
		time[f] = hex(w[2])
		return 1
	}
	line[f] = ""
	return 0
}
# records of f before `limit` go to `to`, their times moved by `by`
function copy(f, to, limit, by,  n) {
	while (line[f] != "" && time[f] < limit) {
		n = index(substr(line[f], 3), " ")
		if (n) print substr(line[f], 1, 2) text(time[f] + by) substr(line[f], 2 + n) > to
		else print substr(line[f], 1, 2) text(time[f] + by) > to
		fetch(f)
	}
}
BEGIN {
	while ((getline l < ARGV[1]) > 0) {
		split(l, w, " ")
		print l > (w[1] ~ /^[rwiRWI]$/ ? "refs" : "kernel")
		start = hex(w[2]) + 1
	}
	for (i = 2; i <= 5; i++) fetch(ARGV[i])
	for (k = 0; line[ARGV[2]] != "" || line[ARGV[4]] != ""; k++)
		for (i = 2; i <= 4; i += 2) {
			if (line[ARGV[i]] == "") continue
			now = start + (2 * k + i / 2 - 1) * slice
			print "S " text(now) " " i / 2 + 1 > "kernel"
			copy(ARGV[i], "kernel", (k + 1) * slice, now - k * slice)
			copy(ARGV[i + 1], "refs", (k + 1) * slice, now - k * slice)
		}
	print "e " text(start + 2 * k * slice) > "kernel"
}
