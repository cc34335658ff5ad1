# The documented lines, in and out, and what a small machine's traces become
. "$SRC/testdata/tap.sh"

# the example of the format's page: through the packed form and back
cat >seed <<'END'
r 123456789abcdef0 4 9a8b7 8888ffff3e456a21
F 123456789abcdef7 100 77
M 123456789abcdefe 100 1a2b3c4d 9000 8efa5567 35 5 1029384756afbecd foobar.so
END
laplace-text -b -m <seed >seed.packed
laplace-text <seed.packed >seed.text
same "the three lines, packed and back" seed.text seed

# and merged: the task that forks reads a page; its child maps a file.  The canonical page is a number of ours.
cat >kernel <<'END'
A 0 77 9f7e8
m 0 77 9a8b7000 1000
S 0 77
F 123456789abcdef7 100 77
A 123456789abcdef7 100 9f7e9
M 123456789abcdefe 100 1a2b3c4d 9000 8efa5567 35 5 1029384756afbecd foobar.so
e 123456789abcdeff
END
echo "r 123456789abcdef0 4 9f7e8 9a8b7c6d" | laplace-text -b >refs
is "a raw reference has 18 bytes" "$(wc -c <refs)" 18
ok "merges" laplace-merge -o out refs kernel
is "the parent's trace" "$(cat out/p77/t77)" "A 0 77 9f7e8
m 0 77 9a8b7000 1000
S 0 77
r 123456789abcdef0 4 9a8b7 10000000000000
F 123456789abcdef7 100 77
e 123456789abcdeff"
is "the child's" "$(cat out/p100/t100)" "A 123456789abcdef7 100 9f7e9
M 123456789abcdefe 100 1a2b3c4d 9000 8efa5567 35 5 1029384756afbecd foobar.so"
is "the manifest" "$(cat out/manifest)" "laplace-merge 1 text
process p77 0 123456789abcdeff
task p77/t77 77 0 123456789abcdeff 1 5
process p100 123456789abcdef7 123456789abcdefe
task p100/t100 100 123456789abcdef7 123456789abcdefe 0 2
end"
laplace-merge --basic refs kernel >stream
is "one stream" "$(cat stream)" "$(sed '3q' kernel)
r 123456789abcdef0 4 9a8b7 10000000000000
$(sed 1,3d kernel)"

# what is shared: fork, copy on write, files, shared memory, deletion, truncation, mremap
cat >kernel <<'END'
A 0 1 1
M 0 1 1000 3000 5 8 1 0 lib
m 0 1 10000 4000
s 0 1 20000 2000 7
S 0 1
F 10 2 1
D 10 1 2 0 ffffffffffffffff
A 10 2 2
S 20 2
C 30 2 11000
C 31 2 12000
@ 40 2 80000 5000 10000 4000
- 50 5 8 1
M 51 2 90000 1000 5 8 1 0 lib
/ 52 2 7
s 53 2 a0000 1000 7
t 60 5 8 1 0
M 61 2 91000 1000 5 8 1 0 lib
U 62 2 1000 1000
e 99
END
cat >refs <<'END'
r 1 1 1 1000
r 1 1 1 11000
r 1 1 1 13000
r 1 1 1 20000
r 20 1 2 1000
r 20 1 2 11000
r 20 1 2 21000
w 30 1 2 11000
w 31 1 2 12000
r 32 1 2 13000
r 40 1 2 80000
r 40 1 2 81000
r 40 1 2 83000
r 40 1 2 84000
r 51 1 2 90000
r 51 1 2 1000
r 53 1 2 a0000
r 53 1 2 20000
r 61 1 2 91000
r 61 1 2 90000
r 61 1 2 2000
END
laplace-merge --basic refs kernel >stream
# numbers by their first appearance
is "canonical pages" "$(awk '$1 == "r" || $1 == "w" { if (!($5 in n)) n[$5] = ++k; printf "%s%s", s, n[$5]; s = " " }' stream)" \
	"1 2 3 4 1 2 5 6 7 3 8 6 3 9 10 1 11 4 12 12 13"
tap_end
