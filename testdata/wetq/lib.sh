# For tests that compare names of variables with gdb, in the same run by wsgdb: name/check.py does it
# shellcheck shell=sh

cat >head <<'X'
set confirm off
set width 0
set print symbol off
set print elements 32
set print repeats unlimited
set print null-stop on
set remotetimeout 600
target remote | wsgdb prog.ws
source check.py
X
cp "$HERE/name/check.py" .

# names JSON: POINT PART NAME<tab>VALUE of the instances in it that have a name
names() {
	awk '/"point"/ { gsub(/[",]/, ""); p = $2 }
		/"statement"/ { gsub(/,/, ""); id = $2 } /"instance"/ { gsub(/,/, ""); p = id "#" $2 }
		/"variable(_part)?": "/ { part = /_part/; sub(/^[^:]*: "/, ""); sub(/",?$/, ""); name = $0 }
		/"variable(_part)?": null/ { name = "" }
		/"variable_value"/ && name != "" {
			v = ""; if (/: "/) { v = $0; sub(/^[^:]*: "/, "", v); sub(/",?$/, "", v); gsub(/\\"/, "\"", v); gsub(/\\\\/, "\\", v) }
			print p, part, name "\t" v }' "$1"
}

# compare: what gdb says of the names in the JSON of `answers`, of instances in prog.ws, in the file `said`; their number.
# `own` is the list of statements that may be looked at.
compare() {
	names answers | sort -u >named
	awk 'NR == FNR { pc[$1] = $3; next } { split($1, x, "#") } x[1] in pc { print $1, "0x" pc[x[1]] }' own named | sort -u >points
	sed 's/^\([^ ]*\).*/addrs \1/' points | wetq -i prog.ws 2>err | awk '!$0 { print ref == "" ? "-" : ref; ref = ""; next }
		{ split($0, x, /[: ]/); ref = x[2] ":" x[3] "/" x[4] }' >refs
	sed 's/^\([^ ]*\).*/-n 1 at \1/' points | wetq -i prog.ws 2>err | sed -n 's/^before instruction \([0-9]*\) .*/\1/p' >counts
	paste -d ' ' points refs counts | awk 'NR == FNR { n[$1] = $4 " " $2 " " $3; next } $1 in n { i = index($0, " "); print n[$1] " " substr($0, i + 1) }' - named | sort -n >list
	DEBUGINFOD_URLS='' timeout 300 gdb -nx -q -batch -x head prog >said 2>err </dev/null
	grep -c . list
}
