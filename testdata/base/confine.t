# A confined process: what it cannot do any more, what its helper does for it, and how much memory it has
. "$SRC/testdata/tap.sh"
c=$BUILD/test/confinetest
echo there >there

# without it, it does them: the test can tell
is "a program is started, unconfined" "$(TRACEMILL_CONFINE=no "$c" execve BEFORE; ls BEFORE 2>&1)" BEFORE
is "a file is opened, unconfined" "$(TRACEMILL_CONFINE=no "$c" open)" "done"

for k in execve:59 socket:41 fork:56 kill:62 ptrace:101 rename:82 unlink:87; do
	gives "${k%:*}" 1 "confinetest: what is replayed broke out and tried system call ${k#*:}" "$c" "${k%:*}"
done
for k in open write mkdir thread other; do
	is "$k" "$("$c" $k)" "Operation not permitted"
done
# a kernel without 32-bit system calls kills it either way
(TRACEMILL_CONFINE=no "$c" int80 >/dev/null 2>&1)
killed=$?
[ $killed = 0 ] && killed=159
("$c" int80 >out 2>err)
is "int 0x80" "$? $(cat out)" "$killed "
is "nothing was made" "$(ls MADE 2>/dev/null)$(cat there)" there

echo before >result
ok "an output is finished" "$c" output result
is "and has its name" "$(cat result) $(ls result.* 2>/dev/null)" "done "
is "an executable is opened" "$("$c" elf "$c")" "done"
is "what is none is not" "$("$c" elf there)" "Permission denied"
mkfifo pipe
is "nor is a pipe" "$("$c" elf pipe)" "Permission denied"
is "text only where a tool allows it" "$("$c" text there)" "Operation not permitted"
is "then it is" "$(MAY=1 "$c" text there)" "done"
is "but nothing of /proc" "$(MAY=1 "$c" text /proc/self/environ)" "Permission denied"
is "temporary files only where a tool allows it" "$("$c" temporary)" "Operation not permitted"
is "then they are made" "$(MAY=1 "$c" temporary)" "done"

is "memory has a bound" "$(TRACEMILL_MEMORY=64M timeout 60 "$c" memory 2>&1 | sed 's/^confinetest: //')" \
	"67108864 bytes of memory are filled, which is the bound: TRACEMILL_MEMORY=bytes sets another"
gives "which is a number" 1 "confinetest: TRACEMILL_MEMORY is no number of bytes" env TRACEMILL_MEMORY=much "$c" memory
tap_end
