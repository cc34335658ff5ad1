# Every stop of a random walk through a run, at places, breakpoints and accesses, against the references of ws2addr
. "$SRC/testdata/tap.sh"
cp "$HERE/story.c" .
$GCC -O1 -g $static -o story story.c
wscap -o story.ws ./story >/dev/null
ws2addr -f lackey story.ws | sed -n 's/^ *\([ILSM]\)  */\1 /p' >refs
# the writable memory of the program itself
# shellcheck disable=SC2046      # two words
set -- $(wsinfo -l story.ws | awk '$2 == "map" && $5 == "rw-" && $7 ~ /\/story$/ { print $3, $4; exit }')
lo=$1 hi=$(printf '0x%x' $(($1 + $2)))
handler=$(wsinfo -l story.ws | sed -n 's/.* sig 10 .* to rip=\(0x[0-9a-f]*\) .*/\1/p')
timeout 600 python3 "$HERE/walk.py" story.ws refs "$lo" "$hi" "$handler" >got 2>err
is "a random walk" "$(tr '\n' ' ' <got)$(tail -n 1 err)" "places steps signal breakpoints watched memory status 0 "
[ "${MATRIX-}" = full ] || export FEW=3
timeout 600 python3 "$HERE/walk.py" story.ws refs "$lo" "$hi" "$handler" -m 300k >got 2>err
is "and with memory for hardly a snapshot" "$(tr '\n' ' ' <got)$(tail -n 1 err)" \
	"places steps signal breakpoints watched memory status 0 "
tap_end
