# Names of variables in why, deps and uses: they are what gdb says is at these addresses and in these registers, in the same
# run by wsgdb, at -O0 to -O2; nothing else has a name
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v gdb >/dev/null && gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -qx 1 || { skip "no gdb with Python"; exit 0; }

. "$HERE/lib.sh"
cp "$HERE"/name/*.c .

for o in 0 1 2; do
	${CC:-gcc} -g -O$o -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fcf-protection=none -mno-avx \
	    -mstringop-strategy=unrolled_loop -fno-tree-loop-distribute-patterns prog.c more.c -o prog && wscap -o prog.ws ./prog >out || { fail "-O$o: a capture"; continue; }
	wetq list prog.ws | awk '$4 ~ /(prog|more)\.c$/' >own
	# what uses the stack pointer, or the frame pointer, of each function is most of what it does in memory
	{
		awk '!f[$5]++ { n = 0; name = $5 } $5 == name && ++n <= 3 { print "-r --json uses " $1 "#" int($2 / 2) }' own
		awk -v every=$((o ? 7 : 13)) 'NR % every == 5 { print "-n 1 --json why " $1 "#" int($2 / 2) }' own
	} | wetq -i prog.ws >answers 2>err
	n=$(compare)
	is "-O$o: some have names" "$((n > (o ? 20 : 60)))" 1
	is "-O$o: right of $n" "$(grep -c '^right$' said)" "$n"
	is "-O$o: wrong" "$(grep -v '^right$' said | grep -E '^(wrong|another)')" ""
done
tap_end
