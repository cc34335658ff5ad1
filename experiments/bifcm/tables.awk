# tables.awk: the tables of run from its result lines (twelve.c says what they are; P: bytes, and what others make of them);
# for the picture also the files `hits` and `sizes`

$1 == "M" {
	if (!($2 in seen)) { seen[$2] = 1; stream[++ns] = $2 }
	if (!($3 in known)) { known[$3] = 1; method[++nm] = $3 }
	for (i = 1; i <= 4; i++) figure[$2, $3, i] = $(3 + i)  # hits, entries, memory, file
	for (i = 0; i < 4; i++) speed[$2, $3, i] = $(8 + i)
}
$1 == "S" { for (i = 3; i <= 8; i++) chosen[$2, i - 2] = $i }
$1 == "W" { wet[++nw] = $2; for (i = 3; i <= NF; i++) w[$2, i] = $i }
$1 == "P" { n = $3 / 8; for (i = 4; i <= 8; i++) peer[$2, i - 3] = 8 * $i / n }

function title(s) { printf "\n%s\n\n", s }
function head(first,    m) {
	printf "%-12s", first
	for (m = 1; m <= nm; m++) printf "%9s", method[m]
	print ""
}
# figure i of all methods
function grid(i, scale,    s, m) {
	head("")
	for (s = 1; s <= ns; s++) {
		printf "%-12s", stream[s]
		for (m = 1; m <= nm; m++) printf "%9.2f", scale * figure[stream[s], method[m], i]
		print ""
	}
}
function cell(v) { return v < 1 ? sprintf("%.3f", v) : sprintf("%.2f", v) }

# for the picture: the cells of the first table, a line of bars for each stream
function files(    s, m, i) {
	printf "" > "hits"
	for (m = 1; m <= nm; m++)
		for (s = 1; s <= ns; s++) print s - 1, m - 1, 100 * figure[stream[s], method[m], 1], method[m] > "hits"
	printf "" > "sizes"
	for (s = 1; s <= ns; s++) {
		printf "%s", stream[s] > "sizes"
		for (i = 1; i <= 4; i++) printf " %.5f", peer[stream[s], i] > "sizes"
		printf " %.5f %.5f %.5f\n", chosen[stream[s], 5], chosen[stream[s], 6], peer[stream[s], 5] > "sizes"
	}
}

END {
	title("Hits, % of the entries of a stream")
	grid(1, 100)
	title("Bits a value: entries <T>, <F,v>")
	grid(2, 1)
	title("Bits a value: all that is in memory, both sides, their tables and spare room")
	grid(3, 1)
	title("Bits a value: in a file, the same entries and one table in blocks of 2^18 values, squeezed by zstd -3")
	grid(4, 1)

	title("What each stream gets: by the entries of its first 1024 values, as the paper selects, by memory, by bytes in a file")
	printf "%-12s%10s%10s%10s\n", "", "entries", "memory", "file"
	for (s = 1; s <= ns; s++)
		printf "%-12s%10s%10s%10s\n", stream[s], chosen[stream[s], 1], chosen[stream[s], 2], chosen[stream[s], 3]

	title("Each statement a stream of its own: bits a value of entries, selected by the first 1024 values and the best; streams that get each method")
	printf "%-12s%9s%9s%9s%9s ", "", "streams", "values", "selected", "best"
	for (m = 1; m <= nm; m++) printf "%9s", method[m]
	print ""
	for (i = 1; i <= nw; i++) {
		printf "%-12s%9d%9d%9.2f%9.2f ", wet[i], w[wet[i], 3], w[wet[i], 4], w[wet[i], 5], w[wet[i], 6]
		for (m = 1; m <= nm; m++) printf "%9d", w[wet[i], 6 + m]
		print ""
	}

	title("Millions of steps a second: of the method with the least memory, forward and back, many at once and one by one; and the least of all twelve")
	printf "%-12s%10s%8s%8s%8s%8s%10s%8s%8s%8s\n", "", "", "read", "back", "next", "prev", "least:", "back", "next", "prev"
	for (s = 1; s <= ns; s++) {
		printf "%-12s%10s", stream[s], chosen[stream[s], 2]
		for (i = 0; i < 4; i++) printf "%8.0f", speed[stream[s], chosen[stream[s], 2], i]
		for (i = 0; i < 4; i++) {
			least = 1e9
			for (m = 1; m <= nm; m++) if (speed[stream[s], method[m], i] < least) least = speed[stream[s], method[m], i]
			printf i ? "%8.0f" : "%10.0f", least
		}
		print ""
	}

	title("Bits a value beside others: memory and file are the paper's compressors, the best of the twelve for the whole stream")
	printf "%-12s%9s%9s%9s%9s%9s%9s%9s\n", "", "xz -9e", "zstd -19", "bzip2", "gzip", "memory", "file", "bifcm -9"
	for (s = 1; s <= ns; s++) {
		v[1] = peer[stream[s], 1]; v[2] = peer[stream[s], 2]; v[3] = peer[stream[s], 3]; v[4] = peer[stream[s], 4]
		v[5] = chosen[stream[s], 5]; v[6] = chosen[stream[s], 6]; v[7] = peer[stream[s], 5]
		printf "%-12s", stream[s]
		for (i = 1; i <= 7; i++) {
			printf "%9s", cell(v[i])
			sum[i] += log(v[i])
		}
		print ""
	}
	printf "%-12s", "geom. mean"
	for (i = 1; i <= 7; i++) printf "%9s", cell(exp(sum[i] / ns))
	print ""
	files()
}
