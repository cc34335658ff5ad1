# Where the result goes: folders, archives, full disks, signals; nothing half written under the final name
. "$SRC/testdata/tap.sh"

printf 'A 0 1 1\nm 0 1 1000 2000\nS 0 1\ne 10\n' >kernel
awk 'BEGIN { for (i = 1; i < 9000; i++) print "r 2 4 1 1000" }' >refs
left() { find . -name 'o*' | sort | tr '\n' ' '; }
ok "a folder" laplace-merge -o out/ refs kernel
is "with its files" "$(find out -type f | sort | tr '\n' ' ')" "out/manifest out/p1/t1 "
is "that others may read" "$(find out -maxdepth 0 -perm "$(printf %o $((0777 & ~$(umask))))")" out
gives "is not replaced" 1 "laplace-merge: out: exists, and is not empty" laplace-merge -o out refs kernel
cp out/p1/t1 want
rm -r out && mkdir out
ok "an empty one is" laplace-merge -o out refs kernel
same "and is filled" out/p1/t1 want
for z in tar tar.gz tar.xz tar.zst; do
	ok "$z" laplace-merge -b -o "o.$z" refs kernel
	is "$z: members" "$(tar -tf "o.$z" | tr '\n' ' ')" "manifest p1/t1 "
	laplace-text "o.$z//p1/t1" >got
	same "$z: the trace" got want
	cp "o.$z" again
	laplace-merge -b -o "o.$z" refs kernel
	same "$z: the same again" again "o.$z"
done
is "the folders they were made in are gone" "$(left)" "./o.tar ./o.tar.gz ./o.tar.xz ./o.tar.zst ./out "
rm -r o*

echo "r 3 4 1 9000" | cat refs - >bad
for o in out o.tar; do
	# by number, as ps and status have it
	case $o in
	out) sig=12 ;;
	*) sig=24 ;;
	esac
	laplace-merge -o $o bad kernel 2>/dev/null
	is "$o: bad data leave nothing" "$? $(left)" "1 "
	(
		ulimit -f 8
		exec laplace-merge -o $o refs kernel 2>err
	)
	is "$o: neither does a full disk" "$? $(left)" "1 "
	is "$o: which is said of it, and not of the folder that is gone" "$(sed "s|$o/p[0-9]*/t[0-9]*:|$o:|" err)" "laplace-merge: $o: File too large"
	mkfifo fifo
	laplace-merge -o $o refs - <fifo &
	pid=$!
	exec 3>fifo
	awk 'BEGIN { print "A 0 1 1"; for (i = 0; i < 200; i++) print "S 0 1" }' >&3
	i=0
	until [ "$(left)" ] || [ $i = 400 ]; do sleep 0.05; i=$((i + 1)); done
	kill -$sig $pid
	wait $pid 2>/dev/null
	is "$o: neither does a signal" "$? $(left)" "$((128 + sig)) "
	exec 3>&-
	rm fifo
done
gives "a stream to a full disk" 1 "laplace-merge: standard output: No space left on device" sh -c 'laplace-merge -s refs kernel >/dev/full'
laplace-merge -s refs kernel | head -n 1 >got
is "a reader that goes away" "$(cat got)" "A 0 1 1"
gives "a folder that is not there" 1 "laplace-merge: no/out: No such file or directory" laplace-merge -o no/out refs kernel
gives "no output" 2 "laplace-merge: -o with the name of a folder or an archive is missing; see laplace-merge --help" laplace-merge refs kernel
gives "one standard input" 1 "laplace-merge: only one of the two can be standard input" laplace-merge -s - -
gives "a file that is not there" 1 "laplace-merge: nothing: No such file or directory" laplace-merge -s refs nothing
gzip -c refs >refs.gz
laplace-merge -s refs.gz - <kernel >got
laplace-merge -s refs kernel >want
same "compressed input" got want
tap_end
