# The commands of README.md (indented blocks) or of a man page (-v page=1: displays in DESCRIPTION and EXAMPLES), as a script for sh:
# each that begins with "$ " is in a file command.N, what the page shows of its output in want.N.
# What is not run: it needs another machine or a server of the reader's, or somebody who talks to gdb.
function not_here(s) { return s ~ /(\| ssh|\$\(pidof) / || s ~ /^gdb / && s !~ /^gdb -batch / }
function flush_command() {
	if (command != "" && not_here(command)) command = want = ""
	if (command == "") return
	n++
	# by awk: a process for each of hundreds of small files takes longer than most of the commands
	if (want != "") {
		printf "%s", want >("want." n)
		close("want." n)
	}
	print command >("command." n)
	close("command." n)
	printf ". ./command.%d >got.%d 2>err.%d </dev/null; echo $? >status.%d\n", n, n, n, n
	command = want = ""
}
function text(line) {
	if (line ~ /^\$ /) {
		flush_command()
		command = substr(line, 3)
		more = unfinished(command)
	} else if (command != "" && more) {
		command = command "\n" line
		more = unfinished(command)
	} else if (command != "")
		want = want line "\n"
}
function unfinished(s) { return s ~ /[|\\]$/ || gsub(/'/, "", s) % 2 }
!page {
	if (/^    /) text(substr($0, 5))
	else flush_command()
	next
}
/^\.Sh/ { on = /DESCRIPTION|EXAMPLES/ }
/^\.Bd/ { block = on; next }
/^\.Ed/ { block = 0; flush_command(); next }
# a line of its own
on && /^\.Dl \$ / {
	$0 = substr($0, 5)
	line = 1
}
block || line {
	gsub(/\\e/, "\\")
	gsub(/\\&/, "")
	gsub(/\\\(aq/, "'")
	gsub(/\\\(dq/, "\"")
	text($0)
	if (line) flush_command()
	line = 0
}
END { flush_command(); print n + 0 >"commands" }
