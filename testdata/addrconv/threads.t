# Threads of a capture: --task writes one, also in the formats of instructions; without it, formats that can tell them apart do
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
${GCC:=gcc} -O1 -g -pthread -o threads "$SRC/testdata/wscap/threads.c" || exit 1
wscap -o t.ws ./threads locks >out
is "a capture" $? 7
all=$(seq "$(wsinfo -l t.ws | awk '/ sig thread/ { sub(/.*thread[^0-9]*/, ""); if ($1 + 0 > n) n = $1 + 0 } END { print n + 0 }')")
is "threads" "$(echo $all)" "1 2 3 4 5"

# Fetches of a thread from its references; the other formats have the same instructions
addrconv -f champsim t.ws >whole.champsim 2>err
is "threads that are not told apart are said" "$(cat err)" \
    "addrconv: the program has several threads, which this format does not tell apart; --task N writes thread N"
size=0 insns=0 intervals=0
for t in $all; do
	# of a repeated string instruction drmemtrace has no check that ends it
	addrconv -f csv --kinds inst --task $t t.ws | sed -n 's/^inst,//p' | uniq >want
	addrconv -f drmemtrace --task $t t.ws 2>err | addrconv -f csv --kinds inst - | sed -n 's/^inst,//p' | uniq >got
	same "thread $t: drmemtrace" got want
	addrconv -f champsim --task $t t.ws >t.champsim 2>>err
	size=$((size + $(bytes t.champsim)))
	insns=$((insns + $(addrconv -f bbv --interval 1000 --task $t t.ws | tr ' ' '\n' | awk -F: 'NF == 3 || /^:/ { n += $NF } END { print n + 0 }')))
	addrconv -f folded --task $t t.ws >>parts.folded 2>>err
	addrconv -f callgrind --task $t t.ws >t.callgrind 2>>err
	awk '/^calls=/ { sub(/^calls=/, ""); n += $1; getline; cost += $NF } END { print n, cost }' t.callgrind >>parts.callgrind
	is "thread $t: no warning" "$(cat err)" ""
done
is "all records of ChampSim" $size "$(bytes whole.champsim)"
is "bbv: whole intervals only" "$((insns > 0 && insns <= size / 64))" 1

# With all threads: the calls of each are its own; a change of thread is there in drmemtrace
addrconv -f folded t.ws 2>err | sort >got
awk '{ n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' parts.folded | sort >want
same "folded: the sum of the threads" got want
is "folded: no thread is called by another" "$(grep -c ';main;.*locks_thread\|locks_thread;.*;main[; ]' got)" 0
is "folded: what threads do" "$(($(grep -c ';locks_thread[; ]' got) > 0))" 1
addrconv -f callgrind t.ws 2>>err | awk '/^calls=/ { sub(/^calls=/, ""); n += $1; getline; cost += $NF } END { print n, cost }' >got
is "callgrind: the sum of the threads" "$(cat got)" "$(awk '{ n += $1; cost += $2 } END { print n, cost }' parts.callgrind)"
is "no warning of these" "$(cat err)" ""
addrconv -f drmemtrace t.ws | addrconv --kinds inst,task -f csv - | uniq >got
addrconv --kinds inst,task -f csv t.ws | grep -v '^task,0x1,0$' | uniq >want
sed -i '/^task,0x1,0$/d' got
same "drmemtrace: all fetches, and the changes of thread" got want

# Parts of a run, and what is wrong
half=$(ws2addr -c t.ws | sed -n 's/^instructions //p')
half=$((half / 2))
{ addrconv -f champsim --task 3 -n :$half t.ws; addrconv -f champsim --task 3 -n $half: t.ws; } >got 2>err
addrconv -f champsim --task 3 t.ws >want
same "two parts of a thread are the whole" got want
gives "a thread that is not there" 1 "addrconv: t.ws: thread 6 executes nothing there" addrconv -f champsim --task 6 t.ws
gives "nor in a format of references" 1 "addrconv: t.ws: no task 6" addrconv -f csv --task 6 t.ws
gives "in a part" 0 "addrconv: t.ws: nothing of task 6 in this part" sh -c 'addrconv -f text -n :1000 --task 6 t.ws'
ws2addr -n :1000 t.ws | addrconv --kinds inst,load,store,modify >one.ref
gives "where there are no threads" 1 "addrconv: one.ref: no task events, as there is one thread only: leave --task out" addrconv --task 1 one.ref
gives "thread 0" 2 "addrconv: threads have numbers from 1 to 67108864; see addrconv --help" addrconv -f champsim --task 0 t.ws
gives "another filter" 2 "addrconv: -f champsim takes no filters but --task; see addrconv --help" addrconv -f champsim --task 1 --kinds inst t.ws
tap_end
