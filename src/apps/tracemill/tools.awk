# The table of tools, tools.def, from man/*.[1-9]: awk -v needs='TOOL:PACKAGE,PACKAGE ...' -f tools.awk man/*.[1-9] man/tracemill.7
#   GROUP(title)  PAGE(name, section, what it is, Debian packages that it needs, "" for none)
BEGIN {
	n = split(needs, need, " ")
	for (i = 1; i <= n; i++) {
		colon = index(need[i], ":")
		packages[substr(need[i], 1, colon - 1)] = substr(need[i], colon + 1)
	}
}

function text(s) { gsub(/[\\"]/, "\\\\&", s); return "\"" s "\"" }

FNR == 1 { last = FILENAME in seen; seen[FILENAME] = 1; name = FILENAME; sub(/.*\//, "", name) }
!last && /^\.Nd / { what[name] = substr($0, 5); nextfile }
!last { next }

# the second time: the groups of the overview, of which those without a page are other text
/^\.Ss / { title = substr($0, 5) }
/^\.Sh / { title = "" }
title != "" && /^\.It Xr / {
	if (title != printed) print "GROUP(" text(title) ")"
	printed = title
	list = packages[$3]
	gsub(/,/, " ", list)
	print "PAGE(" text($3) ", " $4 ", " text(what[$3 "." $4]) ", " text(list) ")"
}
