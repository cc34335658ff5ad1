# Filters, against awk; the binary formats that are only written, against readers in awk; bad input
. "$SRC/testdata/tap.sh"

awk 'BEGIN {
	split("inst load store modify", name)
	for (i = 0; i < 20000; i++) {
		x = (x * 1103515245 + 12345) % 2147483648
		k = int(x / 65536) % 16
		k = k < 7 ? 1 : k < 11 ? 2 : k < 15 ? 3 : 4
		if (i % 4000 == 0) printf "task 0x%x\n", i / 4000 % 3
		a = k == 1 ? 4198400 + 4 * (int(x / 65536) % 256) : 65536 + 8 * (int(x / 256) % 4096)
		printf "%s 0x%x %d\n", name[k], a, k == 1 ? 4 : 8
	}
}' >all.text
addrconv -o all.ref all.text
n=$(grep -c ^inst all.text)

# filter WHAT AWK OPTION...: what awk leaves of the text; n is the number of the instruction, here its address
filter() {
	what=$1 program=$2
	shift 2
	awk 'function hex(s,  v, i) {
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	BEGIN { n = -1 }
	{ inst = /^inst/; task_ = /^task/; data = !inst && !task_; at = hex($2) }
	inst { n++; here = at }
	task_ { task = at }
	'"$program" all.text >want
	addrconv -f text "$@" all.ref >got
	same "$what" got want
	ok "$what: some are left, some are not" test "$(wc -l <got)" -gt 0 -a "$(wc -l <got)" -lt "$(wc -l <all.text)"
}
filter "no fetches" '!inst' -i
filter "kinds" '/^(load|modify)/' --kinds load,modify
filter "a range of addresses" '!data || (at >= 69632 && at < 73728)' --address 0x11000:12000
filter "several" 'data && (at < 69632 || at >= 81920)' --address :11000 --address 0x14000: -i --kinds load,store,modify
filter "a range of code" 'task_ || (here >= 4198656 && here < 4198912)' --code 401100:0x401200
filter "a range of instructions" 'n >= 100 && n < 2000 || (task_ && n == 1999)' -n 100:2000
filter "a sample" 'task_ || n < 0 || n % 1000 < 50' --sample 50/1000
filter "a sample of data" 'data && (n < 0 || n % 1000 < 50)' --sample 50/1000 --kinds load,store,modify
filter "a task" 'task == 1' --task 1

# Data that miss: 8 sets of 2 lines of 64 bytes, by awk
filter "misses" 'function touch(l,  s) {
	s = l % 8
	if (first[s] == l) return 0
	if (second[s] == l) { second[s] = first[s]; first[s] = l; return 0 }
	second[s] = first[s]; first[s] = l
	return 1
}
!data || touch(int(at / 64) + 8)' --misses 1k,2

# libCacheSim: requests for lines, and which is the next
addrconv -f libcachesim --line 32 all.ref >got
awk 'function hex(s,  v, i) {
	for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
BEGIN { print "time,id,size" }
/^task/ { next }
/^inst/ { n++ }
{ a = hex($2); for (l = int(a / 32); l <= int((a + $3 - 1) / 32); l++) print n + 0 "," l ",32" }' all.text >want
same "libcachesim" got want
addrconv -f oracle --line 32 all.ref >got.bin
addrconv -f oracle --line 32 all.ref | cmp -s - got.bin
is "oracle to a pipe" $? 0
sed 1d want | awk -F, '{ t[NR] = $1; id[NR] = $2; size[NR] = $3 }
END {
	for (i = NR; i; i--) { next_[i] = id[i] in last ? last[id[i]] : -1; last[id[i]] = i - 1 }
	for (i = 1; i <= NR; i++) print t[i], id[i], 0, size[i], next_[i], next_[i] < 0 ? -1 : 0
}' >want2
od -An -v -w24 -t d4 got.bin | awk '{ print $1, $2, $3, $4, $5, $6 }' >got
same "oracleGeneral, by od" got want2

# gem5's packets, by a decoder of protobuf in awk
addrconv -f gem5 all.ref | od -An -v -w1 -t u1 | awk '
	function byte() { return b[p++] + 0 }
	function varint(  v, m, c) { m = 1; do { c = byte(); v += c % 128 * m; m *= 128 } while (c >= 128); return v }
	{ b[NR - 1] = $1 }
	END {
		if (byte() != 103 || byte() != 101 || byte() != 109 || byte() != 53) exit 1
		end = varint(); end += p
		while (p < end) { t = byte(); v = varint(); if (t == 10) p += v; else head = head sprintf(" %d:%.0f", t, v) }
		print "head" head
		while (p < NR) {
			end = varint(); end += p
			flags = 0
			while (p < end) { t = byte(); v = varint(); f[t / 8] = v; if (t == 40) flags = v }
			printf "%d %s 0x%x %d %d 0x%x\n", f[1], f[2] == 1 ? "r" : "w", f[3], f[4], flags, f[7]
		}
	}' >got
awk 'BEGIN { print "head 16:0 24:1000000000000"; pc = "0x0" }
	/^task/ { next }
	/^inst/ { n += 1000; pc = $2; print n + 0, "r", $2, $3, 256, pc; next }
	!/^store/ { print n + 0, "r", $2, $3, 0, pc }
	!/^load/ { print n + 0, "w", $2, $3, 0, pc }' all.text >want
same "gem5" got want

# QEMU's execlog
cat >log <<'L'
0, 0x401000, 0x48, "mov rax, [rsp]", load, 0x7fff0010
0, 0x401004, 0x50, "push rax", store, 0x7fff0008, RAM
0, 0x401005, 0x90, "nop"
0, 0x401006, 0xa5, "movsd", load, 0x7000, RAM, store, 0x8000, RAM
L
cat >want <<'L'
inst 0x401000 4
load 0x7fff0010 4
inst 0x401004 4
store 0x7fff0008 4
inst 0x401005 4
inst 0x401006 4
load 0x7000 4
store 0x8000 4
L
addrconv -f text log >got
same "QEMU's execlog" got want

# Columns in another order, others among them, no sizes
printf 'cpu,address,kind\n1,0x10,R\n2,0x20,W\n3,0x30,inst\n' | addrconv -f text --size 2 >got
is "a table of another kind" "$(cat got)" "load 0x10 2
store 0x20 2
inst 0x30 2"

# bad WHAT INPUT MESSAGE: the message, after what comes before it
bad() {
	printf "$2" >in
	gives "$1" 1 "addrconv: in: $3" addrconv -f text in
	is "$1: what comes before" "$(cat tap.out)" "load 0x10 ${4-4}"
}
bad "din" '0 10\n0 xyz\n0 20\n' "line 2: no address"
bad "din, label" '0 10\n\n9 10\n' "line 3: no label from 0 to 4"
bad "din, address" '0 10\n1 1234567890123\n' "line 2: address out of range"
bad "din, the last line" '0 10\n0 ' "line 2: no address"
bad "text" 'load 0x10 8\nload 0x10\n' "line 2: no size" 8
bad "text, size" 'load 0x10 8\nload 0x10 256\n' "line 2: the kind does not have this size" 8
bad "text, kind" 'load 0x10 8\njump 0x10 8\n' "line 2: unknown kind" 8
bad "csv" 'kind,address,size\nload,0x10,8\nload,0x10\n' "line 3: too few columns" 8
bad "csv, number" 'kind,address,size\nload,0x10,8\nload,10,8\n' "line 3: no address" 8
bad "ramulator" '0x10 R\n0x10 X\n' "line 2: neither R nor W"
bad "ramulator2" 'LD 0x10\nLD 0x10 5\n' "line 2: something follows the reference"
bad "dramsim3" '0x10 READ 5\n0x10 READ\n' "line 2: neither READ nor WRITE"
addrconv -f npy all.ref >x.npy
head -c 1001 x.npy >cut.npy
gives "npy" 1 "addrconv: cut.npy: byte 1001: truncated array" addrconv -f text cut.npy
is "npy: what comes before" "$(wc -l <tap.out)" 87
head -c 100 x.npy >cut.npy
gives "npy, header" 1 "addrconv: cut.npy: byte 100: truncated header" addrconv -f text cut.npy
{ printf 'load 0x10 8\n'; head -c 300000 /dev/zero | tr '\0' x; } >long
gives "a long line" 1 "addrconv: long: line 2: a line that is too long" addrconv -f text long

# Wrong values of options
for o in "-f nosuch" "-F gem5" "--kinds inst,x" "--address 401000" "--address 20:10" "--sample 5" "--sample 9/5" "--misses 32k" \
	"--misses 100,3" "--size 0" "--line 1" "--task x"; do
	# shellcheck disable=SC2086
	addrconv $o all.ref >out 2>err
	is "addrconv $o" "$? $(wc -c <out) $(wc -l <err)" "2 0 1"
done
# NumPy itself, of any Python that has it: what it reads, and what it writes in types of its own
py=
for p in python3 /usr/bin/python3; do
	[ "$py" ] || ! $p -c 'import numpy' 2>/dev/null || py=$p
done
if [ "$py" ]; then
	$py -c '
import numpy as np
a = np.load("x.npy")
names = ["inst", "load", "store", "modify", "enter", "back", "exit", "task"]
for r in a:
    print(names[r["kind"]], hex(r["address"]), *([r["size"]] if r["size"] else []))
b = np.zeros(len(a), dtype=[("kind", "<u4"), ("other", "<u2"), ("address", "<u8"), ("size", "u1")])
for f in "kind", "address", "size":
    b[f] = a[f]
np.save("y.npy", b)
np.save("w.npy", (a["address"] & np.uint64(0xffffffffffff)) | a["size"].astype("<u8") << np.uint64(48) |
    a["kind"].astype("<u8") << np.uint64(56))
np.save("e.npy", b[:0])
np.save("f.npy", b[:2].reshape(1, 2))' >got
	same "numpy.load" got all.text
	for f in y w; do
		addrconv -f text $f.npy >got
		same "numpy.save, $f" got all.text
	done
	addrconv -f text e.npy >got
	is "an empty array" "$? $(wc -c <got | tr -d ' ')" "0 0"
	gives "two dimensions" 1 "addrconv: f.npy: byte 10: the array has more than one dimension" addrconv f.npy
else
	skip "no python3 has numpy"
fi
tap_end
