# order.awk OUT REFS: do the references of order.c come in an order that can have been? OUT: what it printed; REFS: addrconv -f text
function hex(s,  v, i) {
	for (i = 3; i <= length(s); i++)
		v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
function bad(what) {
	print "reference " FNR ": " what
	exit failed = 1
}
BEGIN { at = 0 }
FNR == 1 && NR == 1 { slot = hex($1); end = slot + 4 * $4; writes = hex($2); reads = hex($3); next }
FNR == NR { is[n++] = $1; next }
$1 == "task" { task = $2; switches++; next }
{ a = hex($2) }
$1 == "inst" { pc = a; next }
$1 == "store" && a >= slot && a < end {
	if (a != slot + 4 * at)
		bad(at " stores to slot are expected before that to " $2)
	if (is[at] in who && who[is[at]] != task)
		bad(task " has written what " who[is[at]] " writes")
	who[is[at++]] = task
}
$1 == "store" && $3 == 4 && pc >= writes && pc < writes + 64 {
	if (full[$2])
		bad("a node is written again before it is read")
	full[$2] = 1
	nodes++
}
$1 == "load" && $3 == 4 && pc >= reads && pc < reads + 64 {
	if (!full[$2])
		bad("a node is read before it is written")
	full[$2] = 0
}
END {
	if (!failed)
		print at == n ? "ok" : "stores are missing", at, nodes + 0, switches + 0
}
