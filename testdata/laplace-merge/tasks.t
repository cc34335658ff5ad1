# Processes and tasks: threads, vfork, exec, numbers that come again; very many of them
. "$SRC/testdata/tap.sh"

cat >kernel <<'END'
X 0 a 5 8 1 /bin/sh
A 0 a 1
m 0 a 1000 2000
S 1 a
F 2 b a
A 2 b 1
S 3 b
F 4 c b
A 4 c 1
S 4 c
X 5 c 6 8 1 /bin/a\20b
A 5 c 2
m 5 c 1000 1000
T 6 c
u 6 2
S 7 b
T 8 b
S 9 a
F a b a
A a b 1
S b b
F c d a
D c 1 3 0 10000
A c d 3
S d d
T e d
F f d a
D f 1 3 0 10000
A f d 3
S 10 d
S 12 0
e 13
END
cat >refs <<'END'
i 1 4 1 1000
w 3 4 1 1004
r 4 8 1 1008
i 5 4 2 1000
r 7 1 1 1001
i 9 4 1 1000
i b 4 1 2ffc
i d 4 3 1000
R d 4 3 1000
W d 4 3 c0000000
i 10 4 3 1000
I 12 4 77 c0000000
I 12 4 1 1000
END
ok "merges" laplace-merge -o out refs kernel
is "the files" "$(cd out && find . -type f | sort | tr '\n' ' ')" \
	"./kernel ./manifest ./p0/t0 ./pa/ta ./pa/tb ./pa/tb.2 ./pa/tc ./pc/tc ./pd.2/td ./pd/td "
is "a thread" "$(cat out/pa/tb)" "A 2 b 1
S 3 b
w 3 4 1 10000000000000
F 4 c b
S 7 b
r 7 1 1 10000000000000
T 8 b"
is "its number again" "$(cat out/pa/tb.2)" "A a b 1
S b b
i b 4 2 10000000000001
D c 1 3 0 10000"
is "a vfork: in its parent's memory" "$(cat out/pa/tc)" "A 4 c 1
S 4 c
r 4 8 1 10000000000000
X 5 c 6 8 1 /bin/a\\20b"
is "then a process" "$(cat out/pc/tc)" "A 5 c 2
m 5 c 1000 1000
i 5 4 1 10000000000002
T 6 c"
is "the kernel, and what belongs to nobody" "$(cat out/kernel)" "u 6 2
R d 4 1 10000000000000
W d 4 c0000 c0000
D f 1 3 0 10000
I 12 4 c0000 c0000
I 12 4 1 10000000000000"
is "programs in the manifest" "$(grep ^program out/manifest)" 'program pa a 0 /bin/sh
program pa c 5 /bin/a\20b'
is "a number that comes again is another process" "$(sed -n 's/^process //p' out/manifest | tr '\n' ';')" "pa 0 f;pc 5 6;pd c e;pd.2 f 10;p0 12 13;"

# nothing is lost, nothing comes twice: all files together are the one stream
whole() {
	find "$1" -type f ! -name manifest -exec cat {} + | sort >files.sorted
	sort "$2" >stream.sorted
	same "$3: all files together are the stream" files.sorted stream.sorted
	is "$3: the manifest counts them" "$(awk '{ k = $1 == "kernel" ? 5 : 6 } $1 == "task" || $1 == "kernel" {
		print "0x" $k; print "0x" $(k + 1) }' "$1/manifest" | while read -r x; do echo $((x)); done | awk '{ n += $1 } END { print n }')" "$(($(wc -l <"$2")))"
}
laplace-merge --basic refs kernel >stream
whole out stream small

# 3000 tasks, some forty of which run by turns, and few descriptors
awk 'BEGIN {
	for (i = 1; i <= 3000; i++) {
		t++
		printf "A %x %x %x\nm %x %x 10000 1000\n", t, i, i, t, i > "kernel"
		for (j = i > 40 ? i - 40 : 1; j <= i; j++) {
			t++
			printf "S %x %x\n", t, j > "kernel"
			printf "i %x 4 %x 10000\nw %x 8 %x %x\n", t, j, t, j, 65536 + (t % 500) * 8 > "refs"
		}
		if (i > 40) printf "T %x %x\n", t + 1, i - 40 > "kernel"
	}
	printf "e %x\n", t + 1 > "kernel"
}'
laplace-text -b -w refs >refs.wide
# shellcheck disable=SC3045      # the shells that there are have it
(ulimit -n 20 && exec laplace-merge -o many refs.wide kernel) >err 2>&1
is "3000 tasks with 20 descriptors" "$? $(cat err)" "0 "
laplace-merge --basic refs.wide kernel >stream
is "3000 folders" "$(find many -type d -name 'p*' | wc -l | tr -d ' ')" 3000
whole many stream "3000 tasks"
laplace-merge -b -o many.tar.zst refs.wide kernel
is "as an archive" "$(tar -tf many.tar.zst | wc -l | tr -d ' ')" 3001
laplace-text many.tar.zst//p7d/t7d >got
same "a task in it" got many/p7d/t7d
tap_end
