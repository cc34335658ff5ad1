# gem5's elastic trace: the accesses are the references, and what depends on what is as the registers say
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
$GCC -O2 -o elasticread "$HERE/elasticread.c" && $GCC -O2 -o cvpread "$HERE/cvpread.c" || exit 1
ok "a program with every kind of branch" captured flow "$HERE/flow.s"
ok "a program with instructions of every shape" captured values "$HERE/values.s"
# no lazy binding, which uses xrstor: what that writes has no values
LD_BIND_NOW=1 wscap -o ls.ws sh -c 'echo /*' >/dev/null

# the records of CVP-1 are the same operations, with their registers: who wrote last what an operation reads
cat >deps.awk <<'!'
function near(s) { return s && NR - s < 2 * 576 }
{
	split($0, part, /[<>]/)
	split($0, word, " ")
	rob = reg = ""
	delete has
	type = word[2] == "load" ? "LOAD" : word[2] == "store" ? "STORE" : "COMP"
	if (type == "STORE") {
		if (near(store)) { rob = rob "," store; has[store] = 1 }
		if (near(load)) { rob = rob "," load; has[load] = 1 }
	}
	k = split(part[2], in_, " ")
	for (i = 1; i <= k; i++) {
		s = writer[in_[i]]
		if (near(s) && !(s in has)) { reg = reg "," s; has[s] = 1 }
	}
	size = word[3]
	sub(/.*\]/, "", size)
	print NR "," type (type == "COMP" ? "" : "," size) "," (word[2] == "fp" || word[2] == "slow" ? 4000 : 1000) ":" rob ":" reg
	k = split(part[3], out, " ")
	for (i = 1; i <= k; i++) {
		sub(/=.*/, "", out[i])
		writer[out[i]] = NR
	}
	# what has no value is not written there: the x87
	if (word[2] == "fp" && part[2] ~ / 24 /) writer[24] = NR
	if (type == "LOAD") load = NR
	if (type == "STORE") store = NR
}
!
for p in flow values ls; do
	addrconv -f elastic -o $p.el $p.ws || fail "$p: converts"
	./elasticread $p.el >$p.txt
	is "$p: the header" "$? $(head -n 1 $p.txt)" "0 tracemill 2=0 3=1000000000000 4=576"
	addrconv -f cvp $p.ws | ./cvpread - >records
	awk -f deps.awk records >want
	# without pc, weight and address
	tail -n +2 $p.txt | sed 's/^\([0-9]*\),[0-9]*,1,\(LOAD\|STORE\),[0-9]*,/\1,\2,/; s/^\([0-9]*\),[0-9]*,1,COMP/\1,COMP/' >got
	same "$p: what depends on what" got want
	cut -d' ' -f1 records >want
	tail -n +2 $p.txt | cut -d, -f2 | xargs printf '%x\n' >got
	same "$p: instructions" got want
	ws2addr -f text $p.ws | awk '$1 == "modify" { $1 = "load"; print; $1 = "store" } $1 != "inst"' >want
	tail -n +2 $p.txt | awk -F, '$4 != "COMP"' | sed 's/:.*//' | awk -F, '{ print $4, $5, $6 }' |
		xargs -n 3000 printf '%s 0x%x %s\n' | sed 's/^LOAD/load/; s/^STORE/store/' >got
	same "$p: accesses" got want
done
ok "there are many" test "$(wc -l <ls.txt)" -gt 100000
addrconv -f elastic ls.ws | cmp -s - ls.el
is "through a pipe" $? 0
broken elastic
tap_end
