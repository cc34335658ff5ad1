# What came of the commands that examples.awk has written, as results of a test: -v name=PAGE -v after=RESULTS SO FAR.
# Reads command.N, status.N, err.N, want.N and got.N for N from 1 to the number in `commands`.
function result(good, what, why) {
	print (good ? "ok " : "not ok ") ++after " - " name ": " title ": " what
	if (!good) print why
}
function first(file, line) {
	line = ""
	if ((getline line <file) < 0) line = ""
	close(file)
	return line
}
# Addresses and counts depend on the machine: of what is shown, the shape is compared, with N for each number
function shape(line) {
	gsub(/0x[0-9a-f][0-9a-f]*/, "N", line)
	gsub(/[0-9a-f]*[0-9][0-9a-f]*/, "N", line)
	gsub(/  */, " ", line)
	return line
}
# what tools and the shell say; a count of nothing is no message
function messages(file, line, said) {
	said = ""
	while ((getline line <file) > 0)
		if (line ~ /^(sh|[a-z0-9-]*|.*\/[a-z0-9]*): / && line !~ / 0 left untraced$/) said = said "# " line "\n"
	close(file)
	return said
}
# a page may show the beginning only: the first line that differs, or ""
function differs(want, got, line, other, bad) {
	bad = ""
	while (bad == "" && (getline line <want) > 0)
		if ((getline other <got) <= 0) bad = "# the page shows more: " line
		else if (shape(line) != shape(other)) bad = "# shown: " line "\n# now:   " other
	close(want)
	close(got)
	return bad
}
BEGIN {
	n = first("commands")
	for (i = 1; i <= n; i++) {
		title = first("command." i)
		# `... | head` ends what writes to it: only the last command of a pipe has a status, and messages count
		want = 0
		# it compares two runs, which are different, or one with what the reader has: examples.sh made another
		if (name == "addrdiff.1" && title ~ /^addrdiff a\.ws/ || name == "bifcm.1" && title ~ /addrdiff - other\.ref$/) want = 1
		status = first("status." i)
		# grep may find nothing, and that says nothing of what it looks in
		if (title ~ /\| grep [^|]*$/ && status == 1) status = 0
		result(status == want "", "status", "# " status ", and not " want)
		said = messages("err." i)
		# -v is there for its messages, and of a run as short as ours there are few lines in one of a hundred
		if (title !~ / -v / && title !~ /^addrmrc -r 0\.01 /) result(said == "", "messages", said)
		if ((getline line <("want." i)) > 0) {
			close("want." i)
			bad = differs("want." i, "got." i)
			result(bad == "", "output", bad)
		}
	}
	print after >"results"
}
