# A thin slice, by the text of a run and the disassembler's text of the program: an independent reading of both.
# awk -f thin.awk -v want=ID -v instance=K [-v control=1] DISASSEMBLY TEXT
# From the operands in AT&T's syntax: registers inside of parentheses form addresses, others are values.

function reg(name,	n) {
	n = canon[name]
	return n == "" ? name : n
}

function add(name, class,	k) {
	for (k = 1; k <= nreg; k++)
		if (regs[k] == name) {
			if (class == "v")
				what[k] = "v"
			return
		}
	regs[++nreg] = name
	what[nreg] = class
}

function inside(o, class,	in_, part, k, n) {
	in_ = o
	sub(/^[^(]*\(/, "", in_)
	sub(/\).*/, "", in_)
	n = split(in_, part, ",")
	for (k = 1; k <= n; k++)
		if (part[k] ~ /^%/ && part[k] !~ /rip/)
			add(reg(substr(part[k], 2)), class)
}

# Sets regs and what (v, a) of the instruction's register ports, and reads: memory ports.
function decode(t,	mn, ops, o, n, c, k, ch, depth, writes, first) {
	nreg = reads = 0
	sub(/[ \t]*[#<].*/, "", t)
	while (t ~ /^(rep|repz|repnz|bnd|notrack|data16|cs|lock) /)
		sub(/^[a-z0-9]+ +/, "", t)
	mn = t
	sub(/ .*/, "", mn)
	ops = t ~ / / ? t : ""
	sub(/^[^ ]* +/, "", ops)
	n = depth = 0
	o[++n] = ""
	for (k = 1; k <= length(ops); k++) {
		ch = substr(ops, k, 1)
		depth += (ch == "(") - (ch == ")")
		if (ch == "," && !depth)
			o[++n] = ""
		else
			o[n] = o[n] ch
	}
	if (ops == "")
		n = 0
	if (mn ~ /^nop/ || mn ~ /^jmp/ && ops !~ /%/ || mn == "xchg" && o[1] == o[2])
		return
	if (mn ~ /^movs[bwlq]$/ && n < 2 || ops ~ /%es:/) {     # a string: its registers are addresses
		add("rdi", "a"); add("rsi", "a"); add("rcx", "a"); add("flags", "a")
		reads = 1
		return
	}
	if (mn == "syscall") {
		split("rax rdi rsi rdx r10 r8 r9", c, " ")
		for (k = 1; k <= 7; k++)
			add(c[k], "a")
		return
	}
	if (mn ~ /^(xor|sub)/ && n == 2 && o[1] == o[2])
		return
	writes = mn ~ /^(mov|lea|set|pop)/ || mn ~ /^imul/ && n == 3
	for (k = n; k >= 1; k--) {
		first = k == n && (n > 1 || mn ~ /^(set|pop)/)
		if (o[k] ~ /\(/) {
			inside(o[k], mn ~ /^lea/ ? "v" : "a")
			if (mn !~ /^lea/ && !(first && writes) && mn !~ /^(call|jmp)$/)
				reads = 1
		} else if (o[k] ~ /^\*?%/) {
			ch = o[k]
			sub(/^\*?%/, "", ch)
			if (!(first && writes))
				add(reg(ch), "v")
		} else if (o[k] ~ /^0x[0-9a-f]+$/ && mn !~ /^(call|j)/ && mn !~ /^lea/ && !(first && writes))
			reads = 1
	}
	if (mn ~ /^(push|pop|call|ret)/) {
		add("rsp", "a")
		reads = reads || mn ~ /^(pop|ret)/
	}
	if (mn ~ /^leave/) {
		add("rbp", "a")
		reads = 1
	}
	if (mn == "cltq" || mn == "cwtl" || mn == "cltd" || mn == "cqto")
		add("rax", "v")
	if (mn ~ /^j/ && mn !~ /^jmp/ || mn ~ /^(cmov|set|adc|sbb)/)
		add("flags", "v")
}

BEGIN {
	n = split("ax bx cx dx si di bp sp", r, " ")
	for (i = 1; i <= n; i++) {
		canon["r" r[i]] = canon["e" r[i]] = canon[r[i]] = "r" r[i]
		canon[r[i] "l"] = "r" r[i]
		canon[substr(r[i], 1, 1) "l"] = canon[substr(r[i], 1, 1) "l"] == "" && i <= 4 ? "r" r[i] : canon[substr(r[i], 1, 1) "l"]
		if (i <= 4)
			canon[substr(r[i], 1, 1) "h"] = "r" r[i]
	}
	for (i = 8; i <= 15; i++)
		canon["r" i "d"] = canon["r" i "w"] = canon["r" i "b"] = "r" i
}
FNR == 1 { file++ }
file == 1 {
	if ($0 ~ /^ +[0-9a-f]+:\t/) {
		at = $0
		sub(/^ +/, "", at)
		sub(/:.*/, "", at)
		code = $0
		sub(/^[^\t]*\t/, "", code)
		gsub(/ +/, " ", code)
		sub(/ $/, "", code)
		dis[at] = code
	}
	next
}
FNR == 1 { next }
$1 == "SIZE" { port++; next }
$1 == "VALUES" || $1 == "NO" { port = -1; next }
$1 == "ORDER" { exit }
NF == 6 && $1 !~ /:/ {
	id = $1
	ports[id] = $2
	place[id] = $3
	port = -1
	next
}
port >= 0 && NF == 2 {
	split($1, x, ":")
	k = ++ndep[id, x[1]]
	dep[id, x[1], k] = port " " x[2] " " $2
}
END {
	for (id in place) {
		decode(dis[place[id]])
		if (1 + nreg + reads != ports[id])
			print "ports of " id ": " dis[place[id]] ": " nreg " registers and " reads " of memory, not " ports[id] - 1 >"/dev/stderr"
		for (k = 1; k <= nreg; k++)
			address[id, k] = what[k] == "a" || regs[k] == "rsp"
	}
	top = 0
	stack[++top] = want " " instance
	seen[want, instance] = 1
	while (top) {
		split(stack[top--], s, " ")
		print s[1] "#" s[2]
		for (k = 1; k <= ndep[s[1], s[2]]; k++) {
			split(dep[s[1], s[2], k], d, " ")
			if (control ? d[1] != 0 : d[1] == 0 || address[s[1], d[1]])
				continue
			if (seen[d[2], d[3]])
				continue
			seen[d[2], d[3]] = 1
			stack[++top] = d[2] " " d[3]
		}
	}
}
