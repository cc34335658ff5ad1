# What a tool reads is not replaced by what it writes, whatever option or file names it
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; tap_end; exit; }

# Something of each sort that is read
cat >p.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int a[64];
int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main(void) { a[3] = 4; if (fork() == 0) _exit(sum(64) != 4); wait(NULL); return sum(64) != 4; }
END
sed '/include/d; s/if (fork.*; //' p.c >q.c
aecc -g -O1 p.c -o p && AE_OUT=p.ae ./p && mv p.ae.* child.ae && aec -b p && aec --print-schema -o schema p &&
	aepack -o p.pk p p.ae || fail "events"
aecc -g -O1 -fPIC -shared q.c -o lib.so || fail "a library"
${CC:-gcc} -g -O1 -static q.c -o q && wscap --names no -o q.ws ./q && wscap --names no --store=pages -o s.ws ./q || fail "captures"
gcc -O1 -ffixed-r15 -fno-ipa-ra -S q.c || fail "assembly"
ws2addr -o q.ref q.ws && wetz -m replay -o q.wet q.ws && ws2wet --main -o q.wt q.ws && ws2laplace -k k -o r q.ws &&
	laplace-merge --offsets -o traces r k && laplace-merge -s -o m r k && laplace-merge -o packed.tar r k || fail "what is made of it"
for tool in addrmrc addrstat cachesim; do "$tool" --partial -o $tool.part q.ref || fail "$tool"; done
addrmrc -f csv -o c.csv q.ref && bifcm -kr addr q.ref && echo list >questions || fail "others"
TRACEMILL_STORE=$PWD/pages
export TRACEMILL_STORE
page=$(find pages -type f | head -n 1)
# all but what this test writes to log and tap.sh to tap.*
sums() { find . -type f ! -path './log/*' ! -name 'tap.*' -exec cksum {} + | sort; }
mkdir log
sums >log/before

# TOOL FILE ARGUMENTS: `out` is another name of the file
while read -r tool file args; do
	rm -f out
	ln "$file" out
	eval "timeout 20 $tool $args" >log/said 2>log/err
	status=$?
	# annotate says first what it takes the line for
	is "$tool $args: $file" "$status $(sed -n '$p' log/err)" "1 ${tool#./}: out: is the input, which the output would replace"
	echo "$tool $args" >>log/tried
done <<END
addrconv q.ref -o out q.ref
addrconv q.ref -o out <q.ref
addrconv q.ws -o out q.ws:1
addrconv p.ae -o out p p.ae
addrconv q -e q -s sum -o out q.ref
addrmrc q.ref -o out q.ref
addrmrc addrmrc.part --merge -o out addrmrc.part
addrplot q.ref -o out q.ref
addrplot c.csv -p curves -o out c.csv
addrplot q -p functions -e q -o out q.ref
addrstat q.ws -o out q.ws
addrstat addrstat.part --merge -o out addrstat.part
addrstat q -e q --functions -o out q.ref
ae2addr p -o out p p.ae
ae2addr p.ae -o out p p.ae
ae2addr p.ae -o out p <p.ae
ae2addr p.ae -p p.ae -o out p child.ae
ae2addr child.ae -p p.ae -o out p child.ae
ae2addr p.ae --sites -o out p p.ae
./p.regen p.ae -o out p.ae
./p.regen p.ae -p p.ae -o out child.ae
aec p -b -o out p
aec lib.so -b -o out p lib.so
aec p --print-schema -o out p
aec schema --print-schema --schema schema -o out p
aec schema -b --schema schema -o out p
aepack p -o out p p.ae
aepack p.ae -o out p p.ae
aepack p.pk -d -o out p p.pk
aerw q.s -o out q.s
aerw q.s -l out -o list q.s
aerw q.s -o out <q.s
bifcm q.ref -r addr -o out q.ref
bifcm q.ref -r addr -o out <q.ref
bifcm q.ref.bif -d -o out q.ref.bif
bifcm q.ref.bif -l -o out q.ref.bif
cachesim q.ref -o out q.ref
cachesim cachesim.part --merge -o out cachesim.part
cachesim q -e q --lines -o out q.ref
laplace-merge r -s -o out r k
laplace-merge k -s -o out r k
laplace-pages traces/manifest -o out traces
laplace-pages traces/p1/t1 -o out traces
laplace-schedule traces/manifest -o out traces
laplace-schedule traces/p1/t1 -o out traces
laplace-schedule traces/kernel -r recorded -k -o out traces
laplace-stat traces/manifest -o out traces
laplace-stat traces/p1/t1 -o out traces
laplace-text r -o out r
laplace-text packed.tar -o out packed.tar//kernel
laplace-text m -b -m -o out m
pp p.ae -o out p p.ae
pp q.ws -o out q.ws
wet2circ q.wt -o out q.wt
wetq q.ws -o out list q.ws
wetq q.wet -o out list q.wet
wetq q.wet -o out list <q.wet
wetq q.wet -o out arch q.wet
wetq q.c -o out annotate q.c:3 q.ws
wetq q.c -I . -o out annotate q.c:3 q.ws
wetq questions -i -o out q.ws <questions
wetz q.ws -o out q.ws
wetz q.ws -o out <q.ws
wetz q.wt -o out q.wt
wetz q.wet -d -o out q.wet
ws2addr q.ws -o out q.ws:1
ws2addr q -s sum -o out q.ws
ws2addr $page -o out s.ws
ws2laplace q.ws -k k2 -o out q.ws
ws2laplace q.ws -k out -o r2 q.ws
ws2laplace q.ws -n 1:2 -o out q.ws
ws2wet q.ws -o out q.ws
ws2wet q -s sum -o out q.ws
wstrim q --names -o out q.ws
wstrim $page --fetch -o out s.ws
END
rm out
# all tools, and all options of them that name a file: but outputs, and wscap's own file, which its tests have
for tool in $TOOLS; do
	case $tool in aecc | ae++ | wscap) continue ;; esac
	"$tool" --help >log/help
	grep -q '^  -o, ' log/help || continue
	grep -q "^$tool " log/tried || echo "$tool"
	sed -n 's/^ *\(-.\), --[a-z-]*=\(FILE\|PROG\|FOLDER\)\( .*\|$\)/\1/p; s/^ *\(--[a-z-]*\)=\(FILE\|PROG\|FOLDER\)\( .*\|$\)/\1/p' log/help |
	while read -r option; do
		grep -q "^$tool .*$option " log/tried || echo "$tool $option"
	done
done >log/missing
is "nothing is missing here" "$(cat log/missing)" ""

ln -s q.ref link
gives "a link" 1 "addrconv: link: is the input, which the output would replace" addrconv -o link q.ref
gives "by the same name" 1 "addrconv: q.ref: is the input, which the output would replace" addrconv -o q.ref q.ref
gives "by the link" 1 "addrconv: q.ref: is the input, which the output would replace" addrconv -o q.ref link
rm link
sums >log/after
same "all files stay, and there are no others" log/before log/after

# What is not read is replaced
ln q.ref out
ok "what standard input is, beside an operand" sh -c 'addrstat -o out q.ws <out'
ln -f q.ref out
ok "the last -o counts" addrstat -o q.ref -o out q.ws
ok "a file in the folder of what is read" addrstat -o pages/figures s.ws
cp out text
ok "standard output may go where the input is" sh -c 'wet2circ -n 1 -o /dev/stdout q.wt >>q.wt'
cp q.ws again.ws
ok "wstrim does it" wstrim -o again.ws again.ws
ok "from standard input" sh -c 'wstrim -o again.ws <again.ws'
ln again.ws out.ws
ok "by another name" wstrim --names -o out.ws again.ws
tap_end
