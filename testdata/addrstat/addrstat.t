# addrstat: counts and footprints against awk over text, the digest against the shell; sources, JSON, bad input
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

# count: the tables of addrstat from text "kind address size", slowly
count() {
	awk '
	function number(s,  i, v) {
		v = 0
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	function touch(access, line,  page) {
		page = sprintf("%.0f", int(line / 64))
		line = sprintf("%.0f", line)    # a subscript has 6 digits otherwise
		if (!((access, line) in seen)) { seen[access, line] = 1; lines[access]++ }
		if (!((access, page) in had)) { had[access, page] = 1; pages[access]++ }
	}
	$1 == "inst" || $1 == "load" || $1 == "store" || $1 == "modify" {
		sub(/^0x/, "", $2)
		a = number($2)
		n[$1]++; bytes[$1] += $3; size[$1 " " $3]++
		for (line = int(a / 64); line <= int((a + $3 - 1) / 64); line++) {
			if ($1 == "inst") touch("fetch", line)
			if ($1 == "load" || $1 == "modify") touch("load", line)
			if ($1 == "store" || $1 == "modify") touch("store", line)
			touch("all", line)
		}
	}
	END {
		for (k in n) printf "%s %.0f %.0f\n", k, n[k], bytes[k]
		for (k in size) printf "%s %.0f\n", k, size[k]
		split("fetch load store all", order)
		for (i = 1; i <= 4; i++) printf "%s %.0f %.0f\n", order[i], lines[order[i]], pages[order[i]]
	}' | sort
}
# plain FILE: what addrstat printed, as lines of count
plain() { awk 'NF == 3 && $2 ~ /^[0-9]+$/ && $1 != "enter" && $1 != "back" && $1 != "exit" && $1 != "task" { print $1, $2, $3 }' "$1" | sort; }
digest() { awk '$1 == "digest" { print $2 }' "$1"; }
# digest_of FILE: the digest of a short stream, by the shell: products modulo 2^61 - 1 by doubling
digest_of() {
	h=0 p=$((0x1fffffffffffffff))
	for w in $(od -An -v -tx8 -j16 -w8 "$1"); do
		[ "$((0x$w >> 56))" -gt 3 ] && continue
		product=0 bit=60
		while [ $bit -ge 0 ]; do
			product=$((2 * product % p))
			[ $((0x1e3779b97f4a7c15 >> bit & 1)) = 1 ] && product=$(((product + h) % p))
			bit=$((bit - 1))
		done
		h=$(((product + 0x$w) % p))
	done
	printf '%016x\n' "$h"
}

cp "$SRC/examples/matrix.c" .
aecc -O1 matrix.c -o matrix && AE_OUT=matrix.out ./matrix >/dev/null || exit 1
ae2addr matrix matrix.out >m.ref
ae2addr -f text matrix matrix.out | head -n 200000 >m.text
addrstat m.ref >out 2>err
is "a stream" "$? $(cat err)" "0 "
addrstat matrix matrix.out >out2
is "a program and its events: the same digest" "$(digest out2)" "$(digest out)"
head -c $((16 + 8 * 200000)) m.ref >part.ref
addrstat part.ref >part
count <m.text >want
plain part >got
same "counts, sizes, lines and pages: those of awk" got want
is "there are any" "$(($(wc -l <want) > 8))" 1

head -c $((16 + 8 * 500)) m.ref >short.ref
addrstat short.ref >short
is "digest: that of the shell" "$(digest short)" "$(digest_of short.ref)"
head -c $((16 + 8 * 499)) m.ref >shorter.ref
addrstat shorter.ref >shorter
is "one reference less: another digest" "$([ "$(digest short)" != "$(digest shorter)" ] && echo another)" another

# the 6 bytes at ...ffd cross a page, and a modify is a load and a store
printf ' M 10000ffd,6\nI  7ff000000000,4\n' >cross.lackey
addrstat cross.lackey >cross
is "across pages" "$(awk '$1 == "fetch" || $1 == "load" || $1 == "store" || $1 == "all" { if (NF == 3) printf "%s %s %s;", $1, $2, $3 }' cross)" \
	"fetch 1 1;load 2 2;store 2 2;all 3 3;"
addrstat --json part.ref >json
is "json: the same digest" "$(sed -n 's/.*"digest": "\(.*\)".*/\1/p' json)" "$(digest part)"
is "json: the same lines" "$(awk '/"all"/ { getline; gsub(/[^0-9]/, ""); print }' json)" "$(awk '$1 == "all" { print $2 }' part)"
why=$(able) && {
	wscap -o l.ws ls / >/dev/null
	addrstat l.ws >got 2>err
	is "a capture" "$? $(cat err)" "0 "
	ws2addr l.ws | addrstat >want
	is "the same digest as its references" "$(digest got)" "$(digest want)"
	ws2addr -f text l.ws | count >want2
	plain got >got2
	same "a capture: counts are those of awk" got2 want2
} || skip "captures: $why"
head -c 40004 m.ref >cut.ref
addrstat cut.ref >got 2>err
is "a stream that is cut off" "$? $(cat err) $(grep -c '^digest' got)" "1 addrstat: cut.ref: byte 40004 (record 4999): truncated reference 1"
: >empty
gives "nothing" 1 "addrstat: empty: empty input" addrstat empty
gives "nothing, with functions" 1 "addrstat: empty: empty input" addrstat -a empty
gives "a full disk" 1 "addrstat: standard output: No space left on device" sh -c 'addrstat m.ref >/dev/full'
tap_end
