# Captures as Laplace traces: every reference is there, every page it touches is mapped; files; options; damage
. "$SRC/testdata/tap.sh"
wscap -o t.ws true 2>err || { skip "no captures here: $(cat err)"; exit 0; }

# captured WHAT CAPTURE: made traces, merged without a fault; as many references as ws2addr gives
captured() {
	ws2laplace -k k -o r "$2" 2>err
	is "$1: becomes traces" "$? $(cat err)" "0 "
	ws2addr -c "$2" >counts
	is "$1: references" "$(($(wc -c <r) - 16))" "$(awk '{ n += $2 * (1 + ($1 == "modifies")) } END { print 26 * n }' counts)"
	laplace-merge -b -o m r k 2>err
	is "$1: pages are mapped whenever they are used" "$? $(cat err)" "0 "
	rm -rf m
}
captured true t.ws
seq 1 3000 >numbers
wscap -o s.ws sort -r -o sorted numbers
captured sort s.ws
wscap -o g.ws gzip -9c numbers >numbers.gz
captured gzip g.ws
wstrim -o trimmed.ws g.ws
captured "a capture that is trimmed" trimmed.ws
wscap --first-touch -o ft.ws sort -n numbers >/dev/null
captured "a first-touch capture" ft.ws
cat >maps.c <<'X'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
int
main(void)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), p[2], id = shmget(IPC_PRIVATE, 8192, 0600);
	char buf[8192], *a, *b, *s;

	memset(buf, 7, sizeof buf);
	if (write(fd, buf, sizeof buf) != sizeof buf || pread(fd, buf, 100, 4096) != 100 || pipe(p) != 0 || write(p[1], buf, 10) != 10 || read(p[0], buf, 10) != 10)
		return 1;
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	a[4096] = a[0] + 1;
	b = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b[5000] = 1;
	b = mremap(b, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
	b[(4 << 20) - 1] = b[5000];
	munmap(b, 1 << 20);
	b[1 << 20] = 1;
	s = shmat(id, NULL, 0);
	s[4097] = 1;
	shmctl(id, IPC_RMID, NULL);
	shmdt(s);
	if (lseek(fd, 4000, SEEK_SET) != 4000 || dup2(fd, 9) != 9 || read(9, buf, 50) != 50 || ftruncate(fd, 4096) != 0 || read(fd, buf, 100) != 46)
		return 2;
	close(fd);
	close(9);
	return unlink("data");
}
X
${CC:-gcc} -O1 -o maps maps.c || exit 1
wscap -o m.ws ./maps
is "files, pipes, mappings, shared memory: runs" $? 0
captured "the same" m.ws
ino=$(sed -n 's/^( [0-9a-f]* 1 \([0-9a-f]*\) .* data$/\1/p' k)
# without times, places and what the loader does
is "its file" "$(grep -a "^[(<>)Mt-].* $ino " k | sed 's/^\(.\) [0-9a-f]* /\1 /; s/^\([(<>)M]\) 1 /\1 /; s/'"$ino"' [0-9a-f]* [0-9a-f]*/data/; s/^M [0-9a-f]*/M/; s, /[^ ]*/data$, data,')" \
	"( data 0 f data
t data 0
> data 0 2000
< data 1000 64
M 2000 data 0 data
< data fa0 32
t data 1000
< data fd2 2e
) data
) data
- data"
is "one page of its private mapping is copied" "$(awk -v ino="$ino" '/^m/ { on = 0 } on && /^C/ { n++ } $1 == "M" { on = $6 == ino } END { print n + 0 }' k)" 1
is "a pipe has two ends" "$(grep -c '^( .* p pipe' k)" 2
is "shared memory" "$(grep -c '^[s/] ' k)" 2
is "mremap" "$(grep -c '^@ [0-9a-f]* 1 [0-9a-f]* 400000 [0-9a-f]* 100000' k)" 1
is "the program" "$(sed -n 's/^X 0 1 [0-9a-f]* [0-9a-f]* [0-9a-f]* //p' k)" "$(pwd -P)/maps"
is "it ends" "$(tail -n 2 k | cut -c1 | tr '\n' ' ')" "T e "

# options
ws2laplace -p 77 -a 0x1234 -t 0x1000 -f text -k k2 -o r2 t.ws
ws2laplace -f text -k k -o r - <t.ws
awk 'NR == 1 { print $2, $4 }' r2 >got
is "-t, -a" "$(cat got)" "1000 1234"
is "-p" "$(cut -d' ' -f3 k2 | sort | uniq -c | awk '$2 { print $2 }' | tr '\n' ' ')" "4d "
cut -d' ' -f1,3,5 r >a
cut -d' ' -f1,3,5 r2 >b
same "nothing else changes" a b
cat t.ws | ws2laplace -f text -k k2 -o r2 && cmp -s k k2 && cmp -s r r2 && pass "from a pipe, the same" || fail "from a pipe, the same"
gives "the folder of its temporary file" 1 "ws2laplace: temporary file in nowhere: No such file or directory" \
	sh -c 'cat t.ws | TMPDIR=nowhere ws2laplace -k k2 -o r2'
gives "both to one file" 1 "ws2laplace: ./k2: is written to already" ws2laplace -o k2 -k ./k2 t.ws
same "which stays" k k2
cp t.ws kept.ws
ln t.ws link.ws
gives "the kernel trace in the place of the capture" 1 "ws2laplace: ./t.ws: is the input, which the output would replace" ws2laplace -k ./t.ws -o r2 t.ws
gives "the references there" 1 "ws2laplace: t.ws: is the input, which the output would replace" ws2laplace -k k2 -o t.ws t.ws:1
gives "with -n, from standard input, by another name" 1 "ws2laplace: link.ws: is the input, which the output would replace" sh -c 'ws2laplace -n 1:2 -o link.ws <t.ws'
same "it stays" t.ws kept.ws
gives "addresses of today do not fit classic references" 1 "ws2laplace: instruction 0: an address of more than 32 bits, which needs the wide form" ws2laplace -f classic -k k2 -o r2 t.ws
gives "a kernel trace is wanted" 2 "ws2laplace: -k with a file for the kernel trace is missing; see ws2laplace --help" ws2laplace t.ws

# laplace-merge reads the references from a pipe while they are written; the kernel trace is there before them
rm -rf k2 m2
ws2laplace -k k -o r g.ws
laplace-merge -o m r k
ws2laplace -k k2 g.ws | laplace-merge -o m2 - k2
is "as a pipe: merges" $? 0
same "as a pipe: the same kernel trace" k k2
diff -r m m2 >err && pass "as a pipe: the same result" || fail "as a pipe: the same result" "$(head -n 5 err)"
head -c $(($(wc -c <g.ws) / 2)) g.ws >cut.ws
rm -f k2
ws2laplace -k k2 cut.ws 2>err | head -c $(($(wc -c <r) + 1)) >r2
is "as a pipe: references before damage" "$(ls k2 2>/dev/null) $(wc -l <err | tr -d ' ') $(cmp -n "$(wc -c <r2)" r r2) $(($(wc -c <r2) > 16))" " 1  1"
gives "as a pipe: no kernel trace" 1 "laplace-merge: k2: No such file or directory" laplace-merge -o m3 - k2 <r2
mkfifo k3
cat k3 >k4 &
ws2laplace -k k3 t.ws >r2 2>err
wait
ws2laplace -k k -o r t.ws
same "a named pipe gets the kernel trace" k k4
same "with the references" r r2

head -c 20000 t.ws >cut.ws
ws2laplace -k cut.k -o cut.r cut.ws 2>err
is "a capture that is cut off" "$? $(wc -l <err | tr -d ' ') $(ls cut.k cut.r 2>/dev/null)" "1 1 "
gives "no capture" 1 "ws2laplace: nothing: No such file or directory" ws2laplace -k k2 -o r2 nothing
gives "a full disk" 1 "ws2laplace: standard output: No space left on device" sh -c 'ws2laplace -k k2 t.ws >/dev/full'
rm -f k2 r2
gives "no room for the references" 1 "ws2laplace: /dev/full: No space left on device" ws2laplace -k k2 -o /dev/full t.ws
gives "no room for the kernel trace" 1 "ws2laplace: /dev/full: No space left on device" ws2laplace -k /dev/full -o r2 t.ws
is "neither is left of them" "$(ls k2 r2 2>/dev/null)" ""
tap_end
