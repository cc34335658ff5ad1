# Captures and what they must hold.  shellcheck shell=sh
. "$SRC/testdata/tap.sh"
native=$BUILD/test/wsnative

# captured WHAT OPTIONS -- COMMAND...: output, errors and status are as without us; a capture replays to the same end
captured() {
	what=$1 opts=
	shift
	while [ "$1" != -- ]; do opts="$opts $1"; shift; done
	shift
	"$@" >want.out 2>want.err
	want=$?
	# shellcheck disable=SC2086
	wscap $opts -o c.ws "$@" >got.out 2>got.err
	is "$what: status" "$?" $want
	same "$what: output" got.out want.out
	# the shell has a word to say of a signal
	[ $want -gt 128 ] || same "$what: errors" got.err want.err
	replayed "$what" got.out
}

# replayed WHAT OUTPUT: c.ws, by the emulator, and one in three, which takes ten times as long, by the processor
replayed() {
	replays=$((${replays:--1} + 1))         # not turn, which the tests count their cases with
	if [ "${MATRIX-}" = full ] || [ $((replays % 3)) = 0 ]; then
		end=$("$native" c.ws native.out)
		case $want in
		129 | 13? | 14? | 15?) is "$1: replayed natively" "$end" "killed $((want - 128))" ;;
		*) is "$1: replayed natively" "$end" "exited $want" ;;
		esac
		[ -n "$2" ] && same "$1: its output" native.out "$2"
	fi
	ok "$1: replayed" ws2addr -o /dev/null c.ws
}
