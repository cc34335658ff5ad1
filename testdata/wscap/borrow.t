# Children of vfork whose parent has much memory: only what they use is recorded of it
. "$HERE/lib.sh"
gcc -O1 $static -o borrow "$HERE/borrow.c" || exit 1

# case OPTIONS... -- WHAT: as without us, and all replays; that of the parent sees the same memory
case_() {
	opts=
	while [ "$1" != -- ]; do opts="$opts $1"; shift; done
	what="$2$opts"
	./borrow "$2" >want.out
	# shellcheck disable=SC2086
	wscap $opts -o c.ws ./borrow "$2" >got.out 2>err
	is "$what: status, and what is said" "$? $(cat err)" "3 "
	same "$what: output" got.out want.out
	ok "$what: replayed" ws2addr -o /dev/null c.ws
	is "$what: replayed natively" "$("$native" "$(case $(wsinfo c.ws) in runs*) echo c.ws:1 ;; *) echo c.ws ;; esac)" native.out)" "exited 3"
	grep ', status' got.out >own.out
	same "$what: the parent's output" native.out own.out
}
for what in plain many long spawn fails killed handler writes unmaps discards replaces removes heap 'heap, and trims it' \
    exits messages filters filtered deep 'spawn, deep'; do
	case_ -- "$what"
	case $what in plain | handler) ok "$what: verified" wsverify -e 1000000 -l 500 c.ws ;; esac
	[ "$what" != heap ] || is "the parent's heap is not recorded after its children" \
	    "$(wsinfo -l c.ws:1 2>/dev/null | awk '$2 == "sys" { call = $4 } call ~ /^(vfork|clone)/ && $2 == "map"')" ""
	case $what in deep | 'spawn, deep')
		ok "$what: most of the stack is in no child" test "$(wsinfo c.ws:2 | awk '$1 == "size" { print $2 }')" -lt 40000 ;;
	esac
	[ "$what" != plain ] || ok "most of it is in no child" test "$(wsinfo c.ws:2 | awk '$1 == "size" { print $2 }')" -lt 40000
done
for what in --audit --recorder=off; do
	case_ $what -- fails
done
case_ -1 -- fails
case_ -1 -- killed

# it ends while the first child runs, which takes longer: that sees its parent's memory from then on, and so does the parent
./borrow waits >want.out
for t in 0.1 0.15; do
	wscap --time "$t" -o c.ws ./borrow waits >got.out 2>err
	is "ended after $t: status" $? 3
	same "ended after $t: output" got.out want.out
	ok "ended after $t: replayed" ws2addr -o /dev/null c.ws
done
# and wherever else it ends, in a program that makes all its calls in little time
./borrow soon >want.out
bad=
for t in 22 30 38 46 54 62 70 78; do
	wscap --time "0.0$t" -o c.ws ./borrow soon >got.out 2>err
	cmp -s got.out want.out && ws2addr -c c.ws >/dev/null 2>err2 && ! grep -qv 'ends before' err2 || bad="$bad 0.0$t"
done
is "ended early: times after which it ran otherwise, or is not replayed" "$bad" ""
tap_end
