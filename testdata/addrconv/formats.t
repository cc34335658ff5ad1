# Every format: what is lost by it and nothing else, read back by this tool and by readers in awk
. "$SRC/testdata/tap.sh"

# A stream with every kind, sizes from 1 to 255, short and long addresses, and kernel addresses; made by arithmetic
awk 'BEGIN {
	split("inst load store modify enter back exit task", name)
	for (i = 0; i < 30000; i++) {
		x = (x * 1103515245 + 12345) % 2147483648
		k = int(x / 65536) % 32
		k = k < 12 ? 1 : k < 19 ? 2 : k < 26 ? 3 : k < 28 ? 4 : k - 23
		y = (y * 69069 + x + 1) % 4294967296
		size = 1 + int(y / 4096) % (i % 7 ? 16 : 255)
		# no load before a modify at the same address, which lackey prints of one instruction
		if (k == 8) printf "task 0x%x\n", y % 5
		else if (i % 5) printf "%s 0x%x%08x%s\n", name[k], i % 3 ? 32767 : 1 + i % 1000, y, k < 5 ? " " size : ""
		else printf "%s 0x%s%08x%s\n", name[k], i % 10 ? "" : "ffff8000", i % 10 ? int(y / 16) : y, k < 5 ? " " size : ""
	}
}' | sed 's/0x00*\([0-9a-f]\)/0x\1/' >all.text
addrconv -F text -o all.ref all.text
is "a stream" "$? $(wc -c <all.ref)" "0 $((16 + 8 * 30000))"
addrconv -f text all.ref >got
same "has what the text says" got all.text
grep -v -e ^enter -e ^back -e ^exit -e ^task all.text >refs.text
addrconv -o refs.ref refs.text
grep -v ^inst refs.text >data.text

# what loses nothing
for f in addr text csv npy; do
	addrconv -f $f all.ref >x.$f
	addrconv x.$f >y.ref
	same "$f and back" y.ref all.ref
	addrconv -f $f <x.$f >again
	same "$f is the same again, from standard input" again x.$f
	cat x.$f | addrconv | cmp -s - all.ref
	is "through a pipe" $? 0
	xz -c x.$f | addrconv >y.ref
	same "compressed" y.ref all.ref
	addrconv -f $f all.ref | cat >again
	same "$f to a pipe" again x.$f
	addrconv -f $f -o again all.ref
	same "$f to a file that is named" again x.$f
	: >again
	addrconv -f $f all.ref >>again
	same "$f to a file that is appended to" again x.$f
done
addrconv -f lackey all.ref >x.lackey
addrconv x.lackey >y.ref
same "lackey loses events" y.ref refs.ref
ws=$(sed 's/^inst 0x/I  /; s/^load 0x/ L /; s/^store 0x/ S /; s/^modify 0x/ M /; s/ \([0-9]*\)$/,\1/' refs.text | head -n 1)
is "a line of lackey" "$(head -n 1 x.lackey | sed 's/ 0*\([0-9a-f]*,\)/ \1/')" "$ws"

# what loses more: the same by awk.  twice NAME: a modify is a load and a store
twice() { awk '/^modify/ { $1 = "load"; print; $1 = "store" } { print }' "$1"; }
twice refs.text | sed 's/[0-9]*$/4/' >four.text
twice data.text | sed 's/[0-9]*$/4/' >fourdata.text
reads() {
	addrconv -f "$1" all.ref >x."$1"
	same "$1, by awk" x."$1" want
	addrconv -f text x."$1" >got
	same "$1 and back" got "$2"
	addrconv -f text --size 8 x."$1" | sed 's/8$/4/' >got
	same "$1, and the size that is given" got "$2"
	addrconv -F "$1" -f "$1" x."$1" >got
	[ "$1" = dramsim3 ] || same "$1 is the same again" got want
}
awk '{ sub(/0x/, "", $2); print ($1 == "load" ? 0 : $1 == "store" ? 1 : 2), $2 }' four.text >want
reads din four.text
awk '{ print $2, $1 == "load" ? "R" : "W" }' fourdata.text >want
reads ramulator fourdata.text
awk '{ print $1 == "load" ? "LD" : "ST", $2 }' fourdata.text >want
reads ramulator2 fourdata.text
awk '/^inst/ { n++; next } { print $2, $1 == "load" ? "READ" : "WRITE", n + 0 }' four.text >want
reads dramsim3 fourdata.text
awk 'BEGIN { pc = "0x0" } /^inst/ { pc = $2; next } { print pc ": " ($1 == "load" ? "R" : "W"), $2 }' four.text >want
awk '{ sub(/:/, "") } $1 != pc { print "inst", $1, 4; pc = $1 } { print $2 == "R" ? "load" : "store", $3, 4 }' want >pin.text
reads pinatrace pin.text

# VPC3, which is not read: its head, and records of 4 and 8 bytes
addrconv -f vpc all.ref >x.vpc
is "vpc: the head" "$(head -c 4 x.vpc)" vpc3
awk 'BEGIN { pc = "00000000" } /^inst/ { pc = substr("0000000000000000" substr($2, 3), length($2) + 7); next }
	{ print pc, substr("0000000000000000" substr($2, 3), length($2) - 1) }' four.text >want
tail -c +5 x.vpc | od -An -v -tx1 -w12 | awk '{ print $4 $3 $2 $1, $12 $11 $10 $9 $8 $7 $6 $5 }' >got
same "vpc, by awk" got want
addrconv -f vpc all.ref | bifcm -r 4,8 -H 4 | bifcm -dc | cmp -s - x.vpc
is "vpc, compressed by bifcm" $? 0

# Fetches that are not written are still the time, and the instruction of an access
for f in dramsim3 pinatrace ramulator2; do
	addrconv -i -f $f all.ref >got
	same "$f without fetches" got x.$f
done
# the page says of each format what it loses
addrconv --list | awk 'NR > 1 { print $1 }' | sort >listed
awk '/^What the formats lose/ { on = 1 } on && /^\.El/ { exit } on && /^\.It [a-z]/ { sub(/^\.It /, ""); sub(/ Ta .*/, ""); n = split($0, w, ", "); for (i = 1; i <= n; i++) print w[i] }' \
	"$SRC/man/addrconv.1" | sort >explained
same "each format that is listed is in the table of losses" explained listed
is "they are many" "$(awk 'END { print (NR > 20) }' listed)" 1
tap_end
