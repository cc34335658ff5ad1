# Schedules, against a slow one in awk; what any schedule keeps; what is no folder of laplace-merge
. "$SRC/testdata/tap.sh"

# two tasks that begin, of which one forks; the child's number comes again
mkdir -p small/p1 small/p2 small/p3
printf '%s\n' 'A 1 1 1' 'i 1 4 10 10000000000000 0' 'r 1 8 20 10000000000001 10' 'i 2 4 10 10000000000000 4' 'F 3 3 1' \
	'i 3 4 10 10000000000000 8' 'w 3 1 20 10000000000001 18' 'i 8 4 10 10000000000000 c' >small/p1/t1
printf '%s\n' 'i 4 2 5 10000000000000 0' 'i 5 2 5 10000000000000 2' 'i 6 2 5 10000000000000 ffe' >small/p2/t2
printf '%s\n' 'A 3 3 3' 'i 7 1 6 10000000000007 0' 'w 7 2 6 10000000000007 1' 'T 7 3' >small/p3/t3
cat >small/manifest <<'X'
laplace-merge 1 text
process p1 1 8
task p1/t1 1 1 8 6 2
process p2 4 6
task p2/t2 2 4 6 3 0
process p3 3 7
task p3/t3 3 3 7 2 2
end
X
laplace-schedule -q 2i -f text small >got
is "two instructions each; the fork follows the second" "$(cat got)" "task 0x1
inst 0x0 4
load 0x1010 8
inst 0x4 4
task 0x2
inst 0x0 2
inst 0x2 2
task 0x3
inst 0x7000 1
store 0x7001 2
task 0x1
inst 0x8 4
store 0x1018 1
inst 0xc 4
task 0x2
inst 0xffe 2"
is "as recorded" "$(laplace-schedule -r recorded -f text small | tr '\n' ';')" \
"task 0x1;inst 0x0 4;load 0x1010 8;inst 0x4 4;inst 0x8 4;store 0x1018 1;task 0x2;inst 0x0 2;inst 0x2 2;inst 0xffe 2;task 0x3;inst 0x7000 1;store 0x7001 2;task 0x1;inst 0xc 4;"
is "three references each" "$(laplace-schedule -q 3 -f text small | grep task | tr '\n' ' ')" "task 0x1 task 0x2 task 0x3 task 0x1 "
is "virtual addresses" "$(laplace-schedule -q 100 -a virtual -f text small | tr '\n' ';')" \
"task 0x1;inst 0x10000 4;load 0x20010 8;inst 0x10004 4;inst 0x10008 4;store 0x20018 1;inst 0x1000c 4;task 0x2;inst 0x5000 2;inst 0x5002 2;inst 0x5ffe 2;task 0x3;inst 0x6000 1;store 0x6001 2;"
is "frames, by first use" "$(laplace-schedule -q 100 -a frames -f text small | tail -n 2 | tr '\n' ';')" "inst 0x2000 1;store 0x2001 2;"
is "two processors: events with their numbers" "$(laplace-schedule -p 2 -q 2i -g 1i -e processor -f text small | tr '\n' ';')" \
"task 0x0;inst 0x0 4;load 0x1010 8;task 0x1;inst 0x0 2;task 0x0;inst 0x4 4;task 0x1;inst 0x2 2;task 0x0;inst 0x7000 1;store 0x7001 2;task 0x1;inst 0xffe 2;task 0x0;inst 0x8 4;store 0x1018 1;inst 0xc 4;"
laplace-schedule -p 2 -q 2i -g 1i -c small >got
is "counts" "$(tr -s ' ' <got | tr '\n' ';')" \
"processor references instructions switches migrations;0 8 5 3 0;1 3 3 1 0;;task references instructions switches migrations;p1/t1 6 4 2 0;p2/t2 3 3 1 0;p3/t3 2 1 1 0;"
is "as JSON" "$(laplace-schedule -p 2 -q 2i -g 1i --json small | tr -d ' \n' | cut -c 1-166)" \
'{"processors":[{"references":8,"instructions":5,"switches":3,"migrations":0},{"references":3,"instructions":3,"switches":1,"migrations":0}],"tasks":[{"task":"p1/t1","'

# a machine of many processes
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
n=100000
./gen $n kernel >kernel && ./gen $n classic >refs
laplace-merge --offsets -o text refs kernel
laplace-merge --offsets -b -o packed refs kernel
# compare OPTIONS... -- AWK'S VARIABLES...
compare() {
	o=
	while [ "$1" != -- ]; do o="$o $1"; shift; done
	shift
	v=
	for i; do v="$v -v $i"; done
	# shellcheck disable=SC2086
	awk -v dir=text -v M=0 -v only=-1 -v ev=task $v -f "$HERE/schedule.awk" >want
	for f in text packed; do
		# shellcheck disable=SC2086
		laplace-schedule $o -f text $f >got
		same "$f:$o, $(awk 'END { print (NR > 5000) }' got)" got want
	done
}
compare -q 1000i -- P=1 Q=1000 qi=1 G=1e15 gi=0
compare -q 777 -- P=1 Q=777 qi=0 G=1e15 gi=0
compare -q 5000i -p 4 -g 100i -- P=4 Q=5000 qi=1 G=100 gi=1
compare -q 300 -p 3 -g 1000i -m -e processor -- P=3 Q=300 qi=0 G=1000 gi=1 M=1 ev=processor
compare -q 500i -p 3 -g 70 -m --processor 1 -- P=3 Q=500 qi=1 G=70 gi=0 M=1 only=1

# whatever the order: each task's references are those of its trace
laplace-schedule -r random -q 400i -f text packed >one
laplace-schedule -r random -q 400i -f text packed >got
same "a random order is the same each time" got one
laplace-schedule -r random --seed 2 -q 400i -f text packed >other
cmp -s one other && fail "another seed, another order" || pass "another seed, another order"
laplace-schedule -r recorded -f text packed >recorded
laplace-schedule -p 5 -m -q 333 -f text text >five
per_task() { awk '$1 == "task" { t = $2; next } { print t, $0 }' "$1" | sort -s -k1,1; }
per_task one >want
for f in other recorded five; do
	per_task $f >got
	same "$f: each task does the same" got want
done
is "there are tasks" "$(cut -d ' ' -f 1 want | sort -u | awk 'END { print (NR > 16) }')" 1
awk '/^task / { print $2 }' text/manifest | while read -r f; do cat "text/$f"; done | awk '/^[rwi]/ { print $1, $2, $5 $6 }' | wc -l >all
is "nothing is missing" "$(grep -vc task recorded)" "$(($(cat all)))"
is "nor with the kernel's" "$(laplace-schedule -r recorded -k -f text packed | grep -vc task)" \
	"$(($(cat text/p*/t* text/kernel | grep -c '^[rwiRWI] ')))"
# by time; at the same time what the manifest has first
awk '/^task / { print $2 }' text/manifest | while read -r f; do cat "text/$f"; done |
	awk '/^[rwi] / { print substr("000000000000000" $2, length($2)), ++n, ($1 == "i" ? "inst" : $1 == "r" ? "load" : "store"), $5, $6 }' |
	sort -k1,1 -k2,2n | awk '{ print $3, substr($4, 3) substr("000" $5, length($5) + 1) }' | sed 's/ 0*\(.\)/ \1/' >want
awk '$1 != "task" { print $1, substr($2, 3) }' recorded >got
same "the recorded order is that of the times" got want
laplace-schedule -r recorded packed | addrstat >got
is "other tools read it" "$(awk '/^inst/ { print $2; exit }' got)" "$(grep -c inst recorded)"
for o in '-r recorded' '-q 1000i' '-p 3 -m'; do
	# shellcheck disable=SC2086
	laplace-schedule $o -c packed | awk '/^processor/ { p = 1; next } /^task/ { p = 0; next } NF {
		if (p) { r += $2; i += $3; s += $4; m += $5 } else { R += $2; I += $3; S += $4; M += $5 } }
		END { print r, i, s, m; print R, I, S, M }' >got
	is "$o: processors and tasks, all in all" "$(uniq got | wc -l | tr -d ' ') $(cut -d ' ' -f 1 got | head -n 1)" "1 $(cat all | tr -d ' ')"
done

# thousands of tasks, with few descriptors
awk 'BEGIN {
	for (i = 1; i <= 3000; i++) {
		t++
		printf "A %x %x %x\nm %x %x 10000 1000\n", t, i, i, t, i > "kernel"
		for (j = i > 400 ? i - 400 : 1; j <= i; j += 13) {
			t++
			printf "S %x %x\n", t, j > "kernel"
			printf "i %x 4 %x 10000\nw %x 8 %x %x\n", t, j, t, j, 65536 + (t % 500) * 8 > "refs"
		}
	}
	printf "e %x\n", t + 1 > "kernel"
}'
laplace-text -b -w refs >refs.wide
laplace-merge --offsets -b -o many refs.wide kernel
# shellcheck disable=SC3045      # the shells that there are have it
(ulimit -n 20 && exec laplace-schedule -r recorded -f text many) >got 2>&1
awk '{ print ($1 == "i" ? "inst" : "store"), substr($5, 3) }' refs >want
awk '$1 != "task" { $2 = "00" substr($2, 3); print $1, substr($2, length($2) - 2) }' got >got.refs
same "3000 tasks with 20 descriptors, as recorded" got.refs want
# shellcheck disable=SC3045
(ulimit -n 20 && exec laplace-schedule -q 1 -r random -f text many) 2>&1 | grep -vc task >got
is "and in a random order" "$(cat got)" "$(($(wc -l <want)))"

# options that exclude each other, and values
gives "recorded, of several processors" 2 "laplace-schedule: the recorded order is that of one processor, and has no quantum: it comes without -g, -m, -p, -q; see laplace-schedule --help" laplace-schedule -r recorded -p 2 small
gives "the kernel in another order" 2 "laplace-schedule: -k is for -r recorded; see laplace-schedule --help" laplace-schedule -k small
gives "a processor too many" 2 "laplace-schedule: there are only 2 processors, which count from 0; see laplace-schedule --help" laplace-schedule -p 2 --processor 2 small
gives "no order" 2 "laplace-schedule: -r worst: there are round, random and recorded; see laplace-schedule --help" laplace-schedule -r worst small
gives "no quantum" 2 "laplace-schedule: -q 0i: not a number of at least 1, which may end in k, M or G, and then in i for instructions; see laplace-schedule --help" laplace-schedule -q 0i small

# damage: what comes before it is written
bad() { # WHAT FILE SED-EXPRESSION ERROR [LINES]
	rm -rf bad
	cp -R small bad
	sed "$3" "small/$2" >"bad/$2"
	gives "$1" 1 "laplace-schedule: $4" laplace-schedule -q 2i -f text bad
	is "$1: what is written" "$(wc -l <tap.out | tr -d ' ')" "${5:-0}"
}
bad "a line that is no record" p2/t2 '3s/^i/x/' "bad/p2/t2: byte 50 (record 2): an unknown tag" 7
bad "times that go back" p1/t1 '6s/3/1/' "bad/p1/t1: byte 95 (record 5): a time before that of the record before it" 4
bad "another number of references" p2/t2 '3d' "bad/p2/t2: 2 references, where the manifest has 3" 7
bad "another first time" manifest 's,t2 2 4,t2 2 3,' "bad/p2/t2: byte 0 (record 0): another first time than in the manifest" 5
bad "another last time" manifest 's,t2 2 4 6,t2 2 4 7,' "bad/p2/t2: another last time than in the manifest" 16
bad "a task that leads elsewhere" manifest 's,p2/t2,p2/../p2/t2,' "bad/manifest: byte 72: not a line of a manifest"
bad "a page that is too high" p2/t2 '1s/10000000000000/18000000000000/' "bad/p2/t2: byte 0 (record 0): the number of a page does not fit an address; -a frames gives it another one" 5
is "frames have no such limit" "$(laplace-schedule -a frames -q 2i -f text bad | wc -l | tr -d ' ')" 16
sed '1s/ 5 / 800000000 /' small/p2/t2 >bad/p2/t2
gives "an address of 48 bits" 1 "laplace-schedule: bad/p2/t2: byte 0 (record 0): an address of more than 48 bits" laplace-schedule -a virtual bad -o none
gives "no folder" 1 "laplace-schedule: none/manifest: No such file or directory" laplace-schedule none
gives "a file" 1 "laplace-schedule: refs: no folder that laplace-merge made; an archive must be unpacked first" laplace-schedule refs
gives "a full disk" 1 "laplace-schedule: standard output: No space left on device" sh -c 'laplace-schedule small >/dev/full'
cp -R packed cut
f=$(awk '/^task/ { print $6, $2 }' cut/manifest | awk '{ print length($1), $0 }' | sort -k1,1nr -k2,2r | head -n 1 | cut -d ' ' -f 3)
head -c 1000 "packed/$f" >"cut/$f"
gives "a packed trace that is cut off" 1 "laplace-schedule: cut/$f: byte 1000 (record X): truncated record" sh -c "laplace-schedule cut 2>&1 >/dev/null | sed 's/record [0-9]*/record X/' >&2; exit 1"
tap_end
