# Two real programs, forked by one parent and run by turns: what is shared is one memory, what is not is not
. "$SRC/testdata/tap.sh"
wscap -o a.ws true 2>err || { skip "no captures here: $(cat err)"; exit 0; }
wscap -o b.ws echo hello world >out.b
ws2laplace -p 2 -a 2 -k a.k -f text -o a.r a.ws
is "a capture becomes traces" $? 0
ws2laplace -p 3 -a 3 -k b.k -f text -o b.r b.ws
is "another one" $? 0

# The parent has libc mapped at a place of its own, and memory that its children see until they or it write to it
grep '^M.*/libc\.so' a.k | head -n 1 >libc
read -r _ _ _ _ _ inode major minor _ libc <libc
cat >prelude <<END
X 0 1 1 8 1 /bin/parent
A 0 1 1
M 0 1 70000000 180000 $inode $major $minor 0 $libc
m 0 1 10000000 4000
S 0 1
i 1 4 1 70030000
w 2 8 1 10000000
w 3 8 1 10001000
F 4 2 1
A 4 2 2
D 4 1 2 0 100000000
F 5 3 1
A 5 3 3
D 5 1 3 0 100000000
S 6 2
r 6 8 2 10000000
i 7 4 2 70030000
C 8 2 10001000
w 8 8 2 10001000
S 9 3
r 9 8 3 10000000
r a 8 3 10001000
S b 1
r b 8 1 10001000
r c 8 1 10000000
T d 1
END
awk -f "$HERE/join.awk" -v slice=7000 prelude a.k a.r b.k b.r
laplace-text -b -w refs >refs.wide
ok "merges" laplace-merge -o out refs.wide kernel
is "three processes" "$(sed -n 's/^process \([^ ]*\).*/\1/p' out/manifest | tr '\n' ' ')" "p1 p2 p3 "
is "they ran by turns" "$(grep -c '^S' out/p2/t2 | awk '{ print ($1 > 5) }')" 1

# before they execute: the parent's pages
head -n 12 out/p2/t2 | awk '/^[rwi]/' >child2
head -n 8 out/p3/t3 | awk '/^[rwi]/' >child3
page() { awk -v f="$2" -v p="$3" '$1 ~ /^[rwi]$/ && $4 == p { n++; if (n == f) print $5 }' "$1"; }
heap=$(page out/p1/t1 1 10000) next=$(page out/p1/t1 1 10001)
is "a page that nobody wrote is shared by all three" "$(page child2 1 10000) $(page child3 1 10000) $(page out/p1/t1 2 10000)" "$heap $heap $heap"
is "a copy is the child's own" "$([ "$(page child2 1 10001)" != "$next" ] && echo own)" own
is "the others keep theirs" "$(page child3 1 10001) $(page out/p1/t1 2 10001)" "$next $next"
is "libc is where the parent had it" "$(page child2 1 70030)" "$(page out/p1/t1 1 70030)"

# behind exec: each task's references are those of its capture, with pages instead of addresses
pages() {
	awk 'function up(s,  n, d) {           # s + 1
			n = length(s)
			if (n == 0) return "1"
			d = index("0123456789abcdef", substr(s, n, 1))
			return d == 16 ? up(substr(s, 1, n - 1)) "0" : substr(s, 1, n - 1) substr("0123456789abcdef", d + 1, 1)
		}
		function put(t, size, page, room) {
			if (size > room) { put(t, room, page, room); put(t, size - room, up(page), 4096) }
			else print t, substr("0123456789abcdef", int(size / 16) + 1, size > 15) substr("0123456789abcdef", size % 16 + 1, 1), page
		}
		BEGIN { for (i = 0; i < 16; i++) v[substr("0123456789abcdef", i + 1, 1)] = i }
		{
			n = length($2)
			room = 4096 - v[substr($2, n - 2, 1)] * 256 - v[substr($2, n - 1, 1)] * 16 - v[substr($2, n, 1)]
			page = substr($2, 3, n - 5)
			if ($1 == "inst") put("i", $3, page, room)
			if ($1 == "load" || $1 == "modify") put("r", $3, page, room)
			if ($1 == "store" || $1 == "modify") put("w", $3, page, room)
		}'
}
for t in 2 3; do
	case $t in 2) c=a.ws ;; 3) c=b.ws ;; esac
	ws2addr -f text $c | pages >want
	awk '/^X/ { on = 1 } on && /^[rwi]/ { print $1, $3, $4 }' out/p$t/t$t >got
	is "task $t has references" "$(awk 'END { print (NR > 50000) }' got)" 1
	same "task $t refers to what ws2addr gives" got want
	grep -v '^[rwi]' out/p$t/t$t | awk '/^X/ { on = 1 } on && $1 != "S" && $1 != "e" { $2 = ""; print }' >got
	case $t in 2) c=a.k ;; 3) c=b.k ;; esac
	awk '$1 != "S" && $1 != "e" { $2 = ""; print }' $c >want
	same "and has its kernel records" got want
	awk '/^X/ { on = 1 } on && /^[rwi]/ { print $1, $4, $5 }' out/p$t/t$t | sort -u >pages$t
done

# libc: fetched pages by their place in the file.  The files' own place is that of the first mapping of each.
base() { grep '^M.*/libc\.so' "$1" | head -n 1 | cut -d' ' -f4; }
code() {
	awk -v base="$1" 'function hex(s,  i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		BEGIN { b = hex(base) / 4096 }
		$1 == "i" { p = hex($2) - b; if (p >= 0 && p < 384) print p, $3 }' "$2" | sort
}
code "$(base a.k)" pages2 >code2
code "$(base b.k)" pages3 >code3
join code2 code3 >both
is "both run code of libc" "$(awk 'END { print (NR > 10) }' both)" 1
is "each page of it is one page of memory" "$(awk '$2 != $3' both)" ""
is "nothing else of libc's code has these numbers" "$(awk '{ if (($3 in at) && at[$3] != $1) print } { at[$3] = $1 }' both)" ""
awk '$1 == "w" { print $3 }' pages2 | sort -u >written2
awk '$1 == "w" { print $3 }' pages3 | sort -u >written3
is "both write" "$(cat written2 written3 | awk 'END { print (NR > 10) }')" 1
is "no page that one writes is the other's" "$(comm -12 written2 written3)" ""
awk '{ print $3 }' pages3 | sort -u >all3
is "nor read by it" "$(comm -12 written2 all3)" ""
laplace-merge -b -o packed refs.wide kernel
laplace-text packed/p3/t3 >got
same "packed, the same" got out/p3/t3
bad=
for f in packed/p*/t* packed/kernel; do
	laplace-text "$f" 2>err | cmp -s - "out${f#packed}" || bad="$bad $f"
done
is "and all the others" "$bad" ""
tap_end
