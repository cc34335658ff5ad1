# BT9, read from its definition: the branches are those of -f branches, and the graph and its counts fit
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program with every kind of branch" captured flow "$HERE/flow.s"

# a reader: the branches as -f branches has them, then what does not fit
cat >read.awk <<'!'
function bad(what) { print "bad", NR ": " what }
NR == 1 && $0 != "BT9_SPA_TRACE_FORMAT" { bad("no BT9") }
{ sub(/#.*/, "") }
$1 ~ /_instruction_count:$/ { head[$1] = $2 }
$1 ~ /^BT9_/ { part = $1; next }
part == "BT9_NODES" && $1 == "NODE" {
	if ($2 != nodes++) bad("nodes are not numbered")
	if ($3 in at) bad("two nodes at " $3)
	at[$3] = 1
	pc[$2] = $3; size[$2] = $6; class[$2] = $8; behavior[$2] = $10; taken[$2] = $12; not[$2] = $14; targets[$2] = $16
	if ($4 != "-" || ($6 && ($7 != "class:" || $9 != "behavior:" || $11 != "taken_cnt:" || $13 != "not_taken_cnt:" ||
	    $15 != "tgt_cnt:" || NF != 16))) bad("node")
}
part == "BT9_EDGES" && $1 == "EDGE" {
	if ($2 != edges++) bad("edges are not numbered")
	if (!($3 in pc) || !($4 in pc)) bad("no such node")
	# readers know an edge by where it comes from, and where it goes to if it is taken
	if (size[$4] && ($3, $5 == "T" ? $6 : 0) in way) bad("two edges")
	way[$3, $5 == "T" ? $6 : 0] = 1
	from[$2] = $3; to[$2] = $4; dir[$2] = $5; target[$2] = $6; n[$2] = $8; count[$2] = $10
	if ($7 != "-" || $9 != "traverse_cnt:" || ($5 != "T" && $5 != "N") || NF != 10) bad("edge")
	if ($5 == "T" && !seen[$3, $6]++) different[$3]++
}
part == "BT9_EDGE_SEQUENCE" && $1 == "EOF" { part = "end"; next }
part == "BT9_EDGE_SEQUENCE" {
	if (!($1 in from) || NF != 1) bad("no such edge")
	if (from[$1] != here) { if (++jumps > most) bad("an edge begins elsewhere") }
	here = to[$1]
	left[$1]++
	total += n[$1] + (from[$1] != 0)
	went[from[$1], dir[$1]]++
	if (from[$1]) {
		k = class[from[$1]]
		k = k == "JMP+DIR+CND" ? "conditional" : k == "JMP+DIR+UCD" ? "jump" : k == "JMP+IND+UCD" ? "indirect-jump" : \
		    k == "CALL+DIR+UCD" ? "call" : k == "CALL+IND+UCD" ? "indirect-call" : k == "RET+IND+UCD" ? "return" : "?"
		p = pc[from[$1]]; t = target[$1]
		sub(/^0x0*/, "0x", p); sub(/^0x0*/, "0x", t)
		print p "," t "," k "," (dir[$1] == "T" ? 1 : 0)
	}
	lines++
}
END {
	if (part != "end") bad("no EOF")
	if (nodes && size[here]) bad("it does not end at the end")
	for (e in from) if (left[e] != count[e]) bad("traverse_cnt of " e)
	for (k in pc) if (size[k]) {
		if (taken[k] != went[k, "T"] + 0 || not[k] != went[k, "N"] + 0) bad("taken_cnt of " k)
		if (targets[k] != different[k] + 0) bad("tgt_cnt of " k)
		b = (!not[k] ? "AT" : !taken[k] ? "ANT" : "DYN") "+" (class[k] ~ /IND/ && different[k] > 1 ? "IND" : "DIR")
		if (behavior[k] != b) bad("behavior of " k)
	}
	if (head["branch_instruction_count:"] != lines) bad("branch_instruction_count")
	if (head["total_instruction_count:"] != total) bad("total_instruction_count: " total)
}
!
for p in flow ls; do
	[ $p = flow ] || wscap -o ls.ws sh -c 'echo /*' >/dev/null
	addrconv -f bt9 -o $p.bt9 $p.ws || fail "$p: converts"
	addrconv -f branches $p.ws | tail -n +2 >want
	awk -f read.awk $p.bt9 >got
	is "$p: what the reader says" "$(grep ^bad got)" ""
	same "$p: the same branches" got want
done
# an iteration of a string instruction is no instruction here
n=$(ws2addr -c flow.ws | sed -n 's/instructions //p')
once=$(ws2addr -f text flow.ws | awk -v again="0x$(nm flow | sed -n 's/^0*\(.*\) t again/\1/p')" '
	$1 == "inst" { if ($2 != last || $2 == again) n++; last = $2 } END { print n }')
ok "there are iterations" test "$once" -lt "$n"
is "instructions" "$(sed -n 's/^total_instruction_count: //p' flow.bt9)" "$once"
is "codes" "$(awk '$2 == 1 && $1 == "NODE" { print substr($5, 1, 4), $6 }' flow.bt9)" "0xe8 5"
addrconv -f bt9 ls.ws | cmp -s - ls.bt9
is "through a pipe" $? 0

# parts: each is a trace of its own, and together they have the same branches
: >parts
at=0
for end in 1 3 50 $((n / 3)) $((n - 20)) ''; do
	addrconv -f bt9 -n "$at:$end" flow.ws >part
	awk -f read.awk part >>parts
	at=$end
done
addrconv -f branches flow.ws | tail -n +2 >want
same "parts have the branches of the whole" parts want
addrconv -f bt9 -n 0:0 flow.ws >part
is "nothing" "$(awk -f read.awk part)" ""

# a capture that is cut off: what came before is a trace
size=$(bytes flow.ws) i=0 bad=''
while [ $i -lt "$size" ]; do
	head -c $i flow.ws >cut.ws
	timeout 120 addrconv -f bt9 cut.ws >part 2>err
	status=$?
	awk -f read.awk part >got
	[ $status = 1 ] && [ "$(wc -l <err)" = 1 ] && ! grep -q ^bad got && head -n "$(grep -c . got)" want | cmp -s - got ||
		bad="$bad $i:$status"
	i=$((i + 1 + size / 16))
done
is "a capture that is cut off anywhere" "$bad" ""

# a signal on the way from a branch to the next: it is still one edge
cat >sig.s <<'!'
	.globl	_start
	.data
act:	.quad	handler, 0x44000000, restore, 0
	.text
handler: mov	168(%rdx), %rax
	test	%rax, %rax
	jz	handler
	addq	$2, 168(%rdx)
	ret
restore: mov	$15, %eax
	syscall
_start:	mov	$13, %eax
	mov	$4, %edi
	lea	act(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$4, %ebp
loop:	test	%ebp, %ebp
	jz	out
	cmp	$2, %ebp
	je	same
same:	cmp	$2, %ebp
	sete	%al
	movzbl	%al, %eax
	neg	%eax
	and	$1, %eax
	dec	%ebp
	cmp	$1, %eax
	.byte	0x74, 0		# je to the next instruction
	test	%eax, %eax
	jz	loop
	ud2
	jmp	loop
out:	mov	$231, %eax
	mov	$7, %edi
	syscall
!
ok "a program with a signal" captured sig sig.s
addrconv -f bt9 sig.ws >sig.bt9
awk -v most=2 -f read.awk sig.bt9 | grep -v total_instruction_count >got
addrconv -f branches sig.ws | tail -n +2 >want
same "the same branches" got want
tap_end
