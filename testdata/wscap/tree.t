# The whole tree: outputs and statuses are as without us, and each run replays to its end and to the same bytes
. "$HERE/lib.sh"
gcc -O1 $static -o kids "$HERE/kids.c" -lpthread || exit 1
gcc -nostdlib -static -o forks "$HERE/forks.s" || exit 1

# runs FILE: their number
runs() { wsinfo "$1" 2>&1 | awk '$1 == "runs" { n = $2 + 0 } END { print n ? n : 1 }'; }

# exact WHAT: every run of c.ws, by the emulator; some by the processor, and some by one against the other
exact() {
	n=$(runs c.ws) bad=
	# all in one process, which says of each what it has, if there are several
	ws2addr -c c.ws >said 2>err && [ ! -s err ] || bad=" $(cat err)"
	[ "${n:-0}" -lt 2 ] || [ "$(grep -c '^run ' said)" = "$n" ] || bad="$bad $(cat said)"
	i=1
	while [ "$i" -le "${n:-0}" ]; do
		if [ "${MATRIX-}" = full ]; then ws2addr -o /dev/null c.ws:$i >err 2>&1 && [ ! -s err ] || bad="$bad $i: $(cat err)"; fi
		if turn 13; then "$native" c.ws:$i >end 2>&1 || bad="$bad $i natively: $(cat end)"; fi
		i=$((i + 1))
	done
	is "$1: its runs replay" "${n:-0}:$bad" "${2:-$n}:"
	turn 5 || return 0
	wsverify -n 0:300 c.ws >verified 2>&1 && ! grep -v ' 0 differences$' verified >/dev/null
	is "$1: verified" "$? $(grep -c ' 0 differences$' verified)" "0 ${n:-0}"
}

# tree WHAT RUNS COMMAND...: RUNS may be ""
tree() {
	what=$1 nruns=$2
	shift 2
	rm -f c.ws
	"$@" >want.out 2>want.err
	want=$?
	wscap -o c.ws "$@" >got.out 2>got.err
	is "$what: status" "$?" $want
	same "$what: output" got.out want.out
	same "$what: errors" got.err want.err
	exact "$what" "$nruns"
}

# By hand: 16 instructions and 2007, 17 and 2007
wscap -o c.ws ./forks
is "fork: status" $? 5
is "fork: instructions" "$(ws2addr -c c.ws | sed -n 's/^run \([0-9] instructions [0-9]*\).*/\1/p' | tr '\n' ,)" \
	"1 instructions 16,2 instructions 2007,"
exact "fork" 2
wscap -o c.ws ./forks x
is "vfork: status" $? 42
is "vfork: instructions" "$(ws2addr -c c.ws | sed -n 's/^run \([0-9] instructions [0-9]*\).*/\1/p' | tr '\n' ,)" \
	"1 instructions 17,2 instructions 2007,"
exact "vfork" 2
is "its list" "$(wsinfo c.ws | awk 'list { print $1, $3, $4, $8, $9, $10, $11 } $1 == "run" { list = 1 }')" "1 first 0 exited 42 ./forks x
2 vfork 1 exited 7 ./forks x"
wscap -1 -o c.ws ./forks
is "fork, -1: status" $? 5
is "fork, -1: instructions" "$(ws2addr -c c.ws | sed -n 1p)" "instructions 16"

for i in fork vfork spawn popen exec borrow share map server kill struck many large; do
	case $i in fork | vfork | share | map) r=2 ;; exec) r=2 ;; server) r=11 ;; many) r=61 ;; struck) r=21 ;; kill) r=5 ;; large) r=6 ;; *) r= ;; esac
	tree "kids $i" "$r" ./kids $i
done
for o in --first-touch --audit '--aslr on'; do
	for i in fork vfork spawn borrow share; do
		turn 4 || continue
		./kids $i >want.out
		# shellcheck disable=SC2086
		wscap $o -o c.ws ./kids $i >got.out 2>got.err
		is "kids $i $o: status" $? 0
		same "kids $i $o: output" got.out want.out
		exact "kids $i $o"
	done
done

# What people run
seq 3000 | sed 's/.*/& line & of text/' >in
tree "a pipeline of five" 11 sh -c 'cat in | sort -r | sed s/9/x/ | uniq | tail -n 3'
tree "subshells" "" bash -c 'f() { (exit $1); }; for i in 1 2 3; do (f $i; echo $? $(echo sub $i)); done; echo $((1 + $(wc -l <in)))'
tree "a status" "" sh -c '(exit 3) | cat; ls /no/such/file; exit 9'
tree "env" 2 env A=b printenv A
tree "nice" 2 nice -n 3 nice
tree "stdbuf" 2 stdbuf -oL tail -n 2 in
tree "setsid" "" setsid -w sh -c 'echo in a session'
tree "timeout" "" timeout 60 echo in time
tree "xargs" "" sh -c 'seq 6 | xargs -n 2 echo'
tree "exec that fails" 1 perl -e 'no warnings; exec("/no/such/program"); print "still here\n"; exit 4'
mkdir -p src && cp in src/a && head -n 100 in >src/b
wscap -o c.ws tar czf got.tgz src
is "tar czf: status" $? 0
is "tar czf: the archive" "$(tar xzOf got.tgz src/b src/a | sort | cksum)" "$(cat src/a src/b | sort | cksum)"
exact "tar czf"
# a compiler executes by far the most instructions of all that is here
files=2 sum=108 suffix=s n_cc1=
[ "${MATRIX-}" = full ] && files=4 sum=360 suffix=c n_cc1=' 5 cc1,'
mkdir make && (
	cd make || exit
	objects='' calls=0
	for i in $(seq $files); do
		echo "int f$i(int x) { int s = 0; while (x--) s += x * $i; return s; }" >f$i.c
		objects="$objects f$i.o" calls="$calls + f$i(9)"
	done
	echo "int printf(const char *, ...); int f1(int), f2(int), f3(int), f4(int);
		int main(void) { printf(\"%d\", $calls); return 0; }" >main.c
	[ $suffix = c ] || { gcc -S ./*.c && rm ./*.c; } || exit
	printf "prog:$objects main.o\\n\\tgcc -o prog$objects main.o\\n.$suffix.o:\\n\\tgcc -c \$<\\n" >Makefile
)
MAKEFLAGS='' wscap -o c.ws make -C make -s -j4 >got.out 2>&1
is "make -j4" "$? $(cat got.out) $(make/prog)" "0  $sum"
# for each file gcc, cc1 if it is C, and as, two for each with vfork; gcc, collect2 and ld at the end
n=$((files + 1))
is "make -j4: programs" "$(wsinfo c.ws | awk '$3 == "exec" { print $10 }' | sed 's,.*/,,' | sort | uniq -c | tr -s ' \n' ' ,')" \
	" $n as,$n_cc1 1 collect2, $((n + 1)) gcc, 1 ld,"
exact "make -j4"
nohup true 2>/dev/null && {
	wscap -o c.ws nohup sh -c 'echo not hung up' </dev/null >got.out 2>/dev/null
	is "nohup" "$? $(cat got.out)" "0 not hung up"
	exact "nohup" 2
}

# The shell's pipes end it early
is "a pipe that closes" "$(wscap -o c.ws sh -c 'seq 100000 | head -n 1')" 1
exact "a pipe that closes"

# A process that outlives the first one
wscap -o c.ws sh -c '(read -r x <go; echo late >late) & echo first' >got.out 2>&1 &
pid=$!
mkfifo go
while [ ! -s got.out ]; do sleep 0.1; done
echo >go
wait $pid
is "one that is left behind" "$? $(cat got.out) $(cat late)" "0 first late"
exact "one that is left behind" 2

# wscap is told to end then: the others run on
rm -f go late; mkfifo go
wscap -o c.ws sh -c 'trap "" HUP; (read -r x <go; echo late >late) & echo first; exit 5' >got.out 2>got.err &
pid=$!
while [ ! -s got.out ]; do sleep 0.1; done
sleep 1
kill -TERM $pid
wait $pid
is "told to end: status" $? 5
echo >go
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s late ] && break; sleep 0.2; done
is "told to end: the other process went on" "$(cat late)" late
is "told to end: said" "$(sed 's/^wscap: sh\[[0-9]*\]: //; s/^wscap: dash\[[0-9]*\]: //' got.err)" \
	"the capture ends here, the program continues: wscap was told to end"
wsinfo c.ws >info; is "told to end: the file is whole" "$? $(runs c.ws)" "0 2"

# Killed: what is complete can be read
wscap -o c.ws sh -c 'echo a | cat; echo $$ >pid; while :; do read -r x <pid; done' >/dev/null &
while [ ! -s pid ]; do sleep 0.2; done
sleep 1
kill -9 $!
wait $! 2>/dev/null
ok "killed: the finished ones replay" sh -c 'for i in 2 3 4; do ws2addr -c c.ws:$i >/dev/null || exit; done'
ws2addr -c c.ws:1 >out 2>err
is "killed: status" "$? $(grep -c . err)" "1 1"
is "killed: where" "$(sed 's/.*byte [0-9]*: //; s/ (the capture.*//' err)" "cut off: not all processes have their end"
[ "$(sed -n 's/^instructions //p' out)" -gt 100000 ] && pass "killed: most of it is there" || fail "killed: most of it is there" "$(cat out)"

# A full disk: nobody is disturbed
wscap -o /dev/full sh -c 'echo out | cat; exit 3' >out 2>err
is "a full disk" "$? $(cat out err)" "125 out
wscap: /dev/full: No space left on device"

# A pipe takes the capture too
wscap -o /dev/fd/3 sh -c 'echo a | cat' 3>&1 >/dev/null | cat >c.ws
exact "through a pipe"
is "from a pipe" "$(cat c.ws | ws2addr -c 2>&1 >/dev/null | sed 's/.*: a capture/a capture/; s/ (replayed.*//')" \
	"a capture of several processes can be read from a file only, not from a pipe"
tap_end
