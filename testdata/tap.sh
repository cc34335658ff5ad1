# Helpers of test scripts: `. "$SRC/testdata/tap.sh"`, then one line a test, and `tap_end` at the end.
# shellcheck shell=sh
tap_n=0
tap_bad=0

# pass WHAT, fail WHAT [explanation]: a result that the script itself found out
pass() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}
fail() {
	tap_n=$((tap_n + 1))
	tap_bad=1
	echo "not ok $tap_n - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# turn N: true for one call in N, the first of them; with MATRIX=full for each.  Of many cases that are alike, `make check` has some.
# N and the number of cases in an inner loop have no common factor, or it would always be the same ones.
turn() {
	tap_turn=$((${tap_turn:--1} + 1))
	[ "${MATRIX-}" = full ] || [ $((tap_turn % $1)) = 0 ]
}

# Of this many places that are alike (bytes of a file that are damaged, seeds), a test looks at one.  A prime number, because
# what is done at a place often depends on its number.
few=7
[ "${MATRIX-}" = full ] && few=1

# How the programs are linked that are captured: without a loader, which is most of what a small one executes, unless it matters
static=${STATIC:--static}
[ "${MATRIX-}" = full ] && static=

# skip REASON
skip() {
	echo "# skip $1"
}

# ok WHAT COMMAND...: the command succeeds
ok() {
	tap_what=$1
	shift
	if tap_out=$("$@" 2>&1); then pass "$tap_what"; else fail "$tap_what" "status $?: $* $tap_out"; fi
}

# aecc is gcc with options that only gcc has
case ${CC:-} in *clang*) GCC=gcc ;; *) GCC=${CC:-gcc} ;; esac

# is WHAT GOT WANT: two strings are the same
is() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:  $2
want: $3"; fi
}

# same WHAT FILE FILE
same() {
	if cmp -s "$2" "$3"; then pass "$1"; else fail "$1" "$(cmp "$2" "$3" 2>&1)"; fi
}

# gives WHAT STATUS ERROR COMMAND...: exits with STATUS; standard error (files' folders left out) is exactly ERROR
gives() {
	tap_what=$1 tap_status=$2 tap_err=$3
	shift 3
	"$@" >tap.out 2>tap.err
	tap_got=$? tap_said='' tap_nl=''
	# no cat: thousands of processes
	while IFS= read -r tap_line || [ "$tap_line" ]; do
		tap_said=$tap_said$tap_nl$tap_line tap_nl='
'
	done <tap.err
	if [ $tap_got = "$tap_status" ] && [ "$tap_said" = "$tap_err" ]; then
		pass "$tap_what"
	else
		fail "$tap_what" "status $tap_got, want $tap_status; error:
$tap_said
want: $tap_err"
	fi
}

# captures TOOL: can programs be captured here, for TOOL to read?  Tried once for all tests of a run.
captures() {
	command -v wscap >/dev/null && command -v "$1" >/dev/null || { echo "no wscap or no $1"; return 1; }
	[ "${ALL-}" ] && [ -e "$ALL/able" ] && return 0
	wscap -o able.ws true 2>able.err || { echo "nothing can be captured here: $(head -n 1 able.err)"; return 1; }
	[ ! "${ALL-}" ] || : >"$ALL/able"
}

# damaged [OPTION...] FILE DAMAGED WHOLE COMMAND...: places where damage does something else than it should; see damage.py
damaged() {
	python3 "$SRC/testdata/damage.py" "$@"
}

tap_end() {
	[ $tap_n -gt 0 ] || return 1
	return $tap_bad
}
