# -M: no more memory is used than it allows, nor than is stated
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "sanitizers need more"; exit 0; }
test=$BUILD/test/streamtest

"$test" make 600007 4 >values
head -c 700000 "$BUILD/bin/bifcm" >program
# stated COMMAND: MiB that -v states; used FILE COMMAND: KiB that it used, its output in FILE
stated() { "$@" 2>&1 >/dev/null | sed -n 's/.*: at most \([0-9]*\) MiB of memory, with .*/\1/p'; }
used() { to=$1 && shift && { "$BUILD/test/mostmem" "$@" >"$to"; } 2>&1; }
# bounds WHAT STATED USED
bounds() {
	if [ "${2:-0}" -gt 0 ] && [ "$3" -gt 0 ] && [ "$3" -le $(($2 * 1024)) ]; then pass "$1"; else fail "$1" "stated $2 MiB, used $3 KiB"; fi
}
while read -r file options; do
	turn 3 || continue
	# shellcheck disable=SC2086
	set -- -c $options $file
	bounds "$options: compress $file" "$(stated bifcm -v "$@")" "$(used x.bif bifcm "$@")"
	for way in "" "-R" "-T 2"; do
		turn 2 || continue
		# shellcheck disable=SC2086
		bounds "$options: decompress $way" "$(stated bifcm -dcv $way x.bif)" "$(used x bifcm -dc $way x.bif)"
	done
	is "$options: stated at the end of a pipe" "$(cat x.bif | stated bifcm -dv)" "$(stated bifcm -dcv x.bif)"
	is "$options: -l" "$(($(bifcm -lv x.bif | sed -n 's/^memory-bytes //p') / 1048576 + 1))" "$(stated bifcm -dcv x.bif)"
done <<'END'
values -6 -w 8
program -1 -w 1
values -9 -r 4,8
program -6 -w 4 -T 2
program -9 -w 8
values -6 -b 20000 -r 4,4,8,8
program -3 -r 4,4,8
values -4 -r addr -H 0
END

# with less memory
while read -r allowed options; do
	turn 2 || continue
	# shellcheck disable=SC2086
	set -- bifcm -M "${allowed}M" $options
	bounds "-M ${allowed}M $options" "$allowed" "$(used x.bif "$@" -c values)"
	"$@" -T 2 -c values | cmp -s - x.bif && pass "threads change nothing" || fail "threads change nothing"
	is "and back" "$(bifcm -d <x.bif | cmp - values 2>&1)" ""
done <<'END'
30 -6 -w 8
16 -1 -w 8
60 -9 -w 8
40 -6 -r 4,8
END
gives "too little" 1 "bifcm: values: it takes $(bifcm -v -M 1M -c values 2>&1 | sed 's/.*takes \([0-9]*\) .*/\1/') MiB of memory, and -M allows 1" bifcm -M 1M -c values
is "no output" "$(wc -c <tap.out | tr -d ' ')" 0
least=$(bifcm -M 1M -c values 2>&1 | sed 's/.*takes \([0-9]*\) .*/\1/')
gives "a limit without its suffix" 1 "bifcm: values: it takes $least MiB of memory, and -M allows 100 bytes" bifcm -M 100 -c values
ok "what it says is enough" bifcm -M "${least}M" -c values
bifcm -c values >x.bif
need=$(stated bifcm -dcv x.bif)
gives "too little to decompress" 1 "bifcm: x.bif: it takes $need MiB of memory, and -M allows $((need - 1))" bifcm -dc -M $((need - 1))M x.bif
is "no output of that" "$(wc -c <tap.out | tr -d ' ')" 0
is "enough to decompress, not for two threads" "$(bifcm -dcv -T 2 -M "${need}M" x.bif 2>&1 >x)" "bifcm: x.bif: at most $need MiB of memory, with 1 thread"
same "which it does" x values
ok "enough for a pipe" sh -c "cat x.bif | bifcm -d -M ${need}M | cmp - values"
cat x.bif | bifcm -d -M 9M >x 2>err
grep -q 'block 1 needs [0-9]* MiB of memory, more than is allowed' err && pass "too little for a pipe" || fail "too little for a pipe" "$(cat err)"
gives "-l" 2 "bifcm: -M cannot be used with -l, which decompresses nothing; see bifcm --help" bifcm -l -M 1G x.bif
tap_end
