# The threads of a captured program in gdb
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
# shellcheck disable=SC2086     # options
gcc -g -O0 $static -o threads "$HERE/threads.c" -lpthread && gcc -g -O0 -o dynamic "$HERE/threads.c" -lpthread || exit 1
is "the program" "$(wscap -o t.ws ./threads)" "18009 18009"

# For each thread, the function of this program that it is in, and its values
cat >values.py <<'P'
import gdb
for t in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid):
    t.switch()
    f = gdb.newest_frame()
    while f and f.name() not in ("worker", "main"):
        f = f.older()
    print("value", f.name(), [str(f.read_var(v)) for v in ("id", "sum")] if f.name() == "worker" else "")
P

# gdb stops in the third thread, when all have come together
got=$(run_gdb t.ws 'file threads' 'break work if id == 2' continue 'info threads' 'monitor when' 'source values.py' \
	'thread apply all -q print mine + 100')
has "where the third one stops" "$got" 'hit Breakpoint 1, work (id=2, k=0)' ' 1  *Thread 1\.1 (waits)' '^\*.*Thread 1\.3 (runs) .*work (id=2'
is "all of them" "$(printf '%s\n' "$got" | grep -c '^[* ] [1-4] .*Thread 1\.[1-4] (')" 4
has "their values" "$got" "value main" "value worker \['1', '[0-9]*'\]" "value worker \['2', '0'\]" \
	"value worker \['3', '[0-9]*'\]"
is "variables of each" "$(printf '%s\n' "$got" | sed -n 's/^\$[0-9]* = //p' | sort | tr '\n' ' ')" "100 107 114 121 "
at=$(printf '%s\n' "$got" | sed -n 's/^before instruction \([0-9]*\).*/\1/p')

# lines of one thread, forward and back, while others run
got=$(run_gdb t.ws 'file threads' 'break work if id == 3 && k == 1' continue delete \
	next next next next 'print id' 'print own' reverse-next reverse-next reverse-next 'print k' \
	'watch total' reverse-continue 'print total' continue 'print total' 'print total')
has "lines of one thread" "$got" 'hit Breakpoint 1, work (id=3, k=1)' '^[0-9]*.*lock(&lock)' '^[0-9]*.*total += own' '^[0-9]*.*unlock' \
	'^[0-9]*.*return own' '^\$1 = 3$' '^\$2 = 3001$' '^[0-9].*unlock' '^[0-9].*total += own' '^[0-9].*lock(&lock)' '^\$3 = 1$' 'Hardware watchpoint 2: total' \
	'hit Hardware watchpoint 2: total' '^Old value' '^New value' '^\$4 = '
is "a value of before, and of after" "$(printf '%s\n' "$got" | awk '/^\$[456] = / { v[++n] = $3 }
	END { d = v[2] - v[1]; print (d % 1000 < 3 && d >= 1000 && d < 3003), v[3] == v[2] }')" "1 1"

# steps of each thread, against the instructions that it fetched
for t in 1 2 3 4; do
	addrconv -f text --task $t t.ws | sed -n 's/^inst 0x\([0-9a-f]*\) .*/\1/p' >fetched.$t
done
is "steps of each" "$(python3 "$HERE/threads.py" t.ws fetched "$at" | tr '\n' ' ')" "threads 1 2 3 4 thread 1: steps yes, back yes \
thread 2: steps yes, back yes thread 3: steps yes, back yes thread 4: steps yes, back yes status 0 "

# a thread that ends in a step: no signal has arrived; libc has names there
gcc -g -O0 -static -o whole "$HERE/threads.c" -lpthread && wscap -o s.ws ./whole >/dev/null
got=$(run_gdb s.ws 'break work if id == 3 && k == 2' continue delete finish next next next next next next)
has "a step over the end of a thread" "$got" 'hit Breakpoint 1' ' stopped\.$'
is "is no signal" "$(printf '%s\n' "$got" | grep -c SIGTRAP)" 0

# when the others have ended
got=$(run_gdb t.ws 'file threads' 'break printf' continue 'info threads' 'reverse-continue' 'monitor goto start' stepi 'info threads')
has "at the end there is one" "$got" '^Breakpoint 1, ' '^\* 1 .*Thread 1\.1 ' '^\* 1 .*Thread 1\.1 '
is "and no other" "$(printf '%s\n' "$got" | grep -c 'Thread 1\.[234] (')" 0

# a capture that begins amid the run: gdb knows the libraries, as the auxiliary vector is where it was
wscap --from main -o m.ws ./dynamic >/dev/null
got=$(run_gdb m.ws 'file dynamic' 'info sharedlibrary' 'break work if id == 2' continue bt)
has "from main: libraries" "$got" 'Yes .*libc\.so\.6' 'Yes .*ld-linux' 'hit Breakpoint 1, work (id=2' '^#0  *work (id=2'

# packets
talk() { python3 "$HERE/packets.py" "$@" 2>&1; }
is "packets" "$(printf '%s\n' qSupported:multiprocess+ Hg0 Hg-1 Hgp1.1 Hgp1.2 Hgp2.1 Hgp1.1x Hc Hx1 Tp1.1 Tp1.2 T T0 qThreadExtraInfo,p1.1 \
	qThreadExtraInfo,p1.9 'vCont;s:p1.7' 'vCont;r1' D | talk t.ws | sed -n '2,$p' | tr '\n' ' ')" \
	"OK OK OK E01 E01 E01 E01 E01 OK E01 E01 E01 72756e73 E01 E01 E01 OK status 0 "
tap_end
