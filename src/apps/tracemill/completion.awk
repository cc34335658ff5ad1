# Completions of a tool from what it prints with --help:
#   TOOL --help | awk -v shell=bash -v tool=TOOL -v tools='TOOL ...' -f completion.awk     or shell=zsh
# Options and their values are those of the list; the first operand is completed where the usage names questions, as for wetq.

# addr (the default), lackey, din or text; default: ... -> addr lackey din text
function alternatives(s) {
	gsub(/\([^)]*\)/, "", s)
	sub(/;.*/, "", s)
	sub(/^.*: /, "", s)
	sub(/^(.* )?for /, "", s)
	gsub(/,| or /, " ", s)
	gsub(/  +/, " ", s)
	sub(/ $/, "", s)
	return s
}

function quoted(s) { gsub(/'/, "'\\''", s); return "'" s "'" }

# The first words of the forms of a command line that has no options there
function questions(s,    n, part, i, w) {
	while (match(s, /\[[^][]*\]/)) s = substr(s, 1, RSTART - 1) substr(s, RSTART + RLENGTH)
	n = split(s, part, / \| /)
	if (n < 2 && !asks) return
	for (i = 1; i <= n; i++) {
		split(part[i], w, " ")
		if (w[1] ~ /^[a-z]+$/ && index(first " ", " " w[1] " ") == 0) first = first " " w[1]
	}
	asks = 1
}

/^example:/ || /^The manual is/ { exit }
/^usage: |^   or: / {
	used = 1
	form = substr($0, 8 + length(tool))
	if (tool == "tracemill") first = " help doctor " tools
	else questions(form)
	if (form ~ /program \[argument/) runs = 1
	next
}

# "  -o, --output=FILE   what", "      --raw   what", "  -0   to -9: what"; what may be on the next line
/^  -|^      --/ {
	n++
	letter[n] = $1 ~ /^-[^-]/ ? substr($1, 1, 2) : ""
	long = letter[n] == "" ? $1 : $1 ~ /,$/ ? $2 : ""
	rest = $0
	sub(/^ *(-[A-Za-z0-9],? *)?(--[^ ]*)? */, "", rest)
	what[n] = rest
	name[n] = long
	if (long ~ /=/) { name[n] = substr(long, 1, index(long, "=") - 1); value[n] = substr(long, index(long, "=") + 1) }
	next
}
n && /^                            / && what[n] == "" { what[n] = substr($0, 29) }

function both(i) { return letter[i] == "" ? name[i] : name[i] == "" ? letter[i] : letter[i] " | " name[i] }

function is_file(v) { return v ~ /^(FILE|PROG|NAME)$/ }
function is_choice(v) { return v ~ /^(FORMAT|KIND|MACHINE)$/ }

function bash(    i, k, words, files, none, f) {
	f = "_tracemill_" tool
	gsub(/-/, "_", f)
	print "# bash completion of " tool ", made from " tool " --help"
	print f "()\n{"
	print "\tlocal IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} first= i"
	print "\tCOMPREPLY=()"
	print "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}"
	print "\t[[ $cur == = ]] && cur="
	for (i = 1; i <= n; i++) {
		if (what[i] ~ /^to -9/) { for (k = 0; k < 10; k++) words = words " -" k; continue }
		if (letter[i] != "") words = words " " letter[i]
		if (name[i] != "") words = words " " name[i] (value[i] == "" ? "" : "=")
		if (value[i] != "") valued = valued (valued == "" ? "" : " | ") both(i)
	}
	if (first != "" || runs) {
		print "\t# where the first operand is"
		print "\tfor ((i = 1; i < COMP_CWORD; i++)); do"
		print "\t\tcase ${COMP_WORDS[i]} in"
		if (valued != "") print "\t\t" valued ") ((i++)); [[ ${COMP_WORDS[i]} == = ]] && ((i++)) ;;"
		print "\t\t-*) ;;"
		print "\t\t*) first=${COMP_WORDS[i]}; break ;;"
		print "\t\tesac"
		print "\tdone"
	}
	if (runs) {
		print "\tif [[ $first ]]; then"
		print "\t\tdeclare -F _command_offset >/dev/null && _command_offset $i"
		print "\t\treturn"
		print "\tfi"
	}
	if (tool == "tracemill") {
		print "\tcase $first in"
		print "\thelp) COMPREPLY=($(compgen -W '" tools "' -- \"$cur\")); return ;;"
		print "\t?*) return ;;"
		print "\tesac"
	}
	print "\tcase $prev in"
	for (i = 1; i <= n; i++) {
		if (value[i] == "") continue
		if (is_choice(value[i]))
			print "\t" both(i) ") COMPREPLY=($(compgen -W '" alternatives(what[i]) "' -- \"$cur\")); return ;;"
		else if (value[i] == "FOLDER")
			print "\t" both(i) ") compopt -o dirnames 2>/dev/null; return ;;"
		else if (is_file(value[i])) files = files (files == "" ? "" : " | ") both(i)
		else none = none (none == "" ? "" : " | ") both(i)
	}
	if (files != "") print "\t" files ") return ;;"
	if (none != "") print "\t" none ") compopt +o default 2>/dev/null; return ;;"
	print "\tesac"
	print "\tif [[ $cur == -* ]]; then"
	print "\t\tCOMPREPLY=($(compgen -W '" substr(words, 2) "' -- \"$cur\"))"
	print "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null"
	if (first != "") {
		print "\telif [[ ! $first ]]; then"
		print "\t\tCOMPREPLY=($(compgen -W '" substr(first, 2) "' -- \"$cur\"))"
	}
	if (runs) {
		print "\telse"
		print "\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))"
	}
	print "\tfi"
	print "\treturn 0\n}"
	print "complete -o default -F " f " " tool
}

function action(i) {
	if (value[i] == "") return ""
	if (is_choice(value[i])) return ":" tolower(value[i]) ":(" alternatives(what[i]) ")"
	return ":" tolower(value[i]) ":" (is_file(value[i]) ? "_files" : value[i] == "FOLDER" ? "_files -/" : " ")
}

# What zsh's _arguments is given for option i
function spec(i,    d, s) {
	d = what[i]
	gsub(/[][\\]/, "\\\\&", d)
	s = quoted("[" d "]" action(i))
	if (letter[i] == "") return quoted(name[i] (value[i] == "" ? "" : "=") "[" d "]" action(i))
	if (name[i] == "") return quoted(letter[i] "[" d "]" action(i))
	return quoted("(" letter[i] " " name[i] ")") "{" letter[i] (value[i] == "" ? "" : "+") "," name[i] (value[i] == "" ? "" : "=") "}" s
}

function zsh(    i, k) {
	print "#compdef " tool
	print "# zsh completion of " tool ", made from " tool " --help"
	printf "_arguments -s -S"
	for (i = 1; i <= n; i++) {
		if (what[i] ~ /^to -9/) {
			for (k = 0; k < 10; k++) printf " \\\n\t'-%d[%s]'", k, "level " k
			continue
		}
		printf " \\\n\t%s", spec(i)
	}
	if (runs) print " \\\n\t'(-)1:program:_command_names -e' \\\n\t'*::argument:_normal'"
	else if (tool == "tracemill") print " \\\n\t'1:what:(" substr(first, 2) ")' \\\n\t'2:tool:(" tools ")' \\\n\t'*:file:_files'"
	else if (first != "") print " \\\n\t'1:question:(" substr(first, 2) ")' \\\n\t'*:file:_files'"
	else print " \\\n\t'*:file:_files'"
}

END {
	if (!used) exit 1
	if (shell == "bash") bash()
	else zsh()
}
