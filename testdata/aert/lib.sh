# Helpers of the runtime's tests
# shellcheck shell=sh
. "$SRC/testdata/tap.sh"

# record FILE: how a recording ended, from its end record: reason, signal, untraced thread entries and handlers
record() {
	tail -c 80 "$1" | od -An -v -tu4 -w80 | awk '{
		if ($1 != 1684948289 || $2 != 64) print "no end record"
		else print $5, $6, $9, $11
	}'
}

# whole PROG FILE: the trace can be regenerated to its end
whole() {
	ae2addr "$1" <"$2" >/dev/null
}
