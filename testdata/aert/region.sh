# region.sh: regions of region.c, compared with what an oracle saw of the whole run; sourced, with $opt and $machine
# shellcheck shell=sh source=/dev/null disable=SC2154
. "$HERE/lib.sh"
. "$SRC/testdata/aec/lib.sh"
ae=$SRC/testdata/ae
. "$ae/oracle.sh"
target "${machine:=x86-64}"
if ! missing=$(can); then
	skip "$missing"
	exit 0
fi
prepare
pushes=0
[ $machine != x86-64 ] || pushes=1         # a call stores its return address
# shellcheck disable=SC2086
aecc $opt -I"$SRC/src" "$HERE/region.c" -o prog && aec -b prog || exit 1

# seen CASE: what the oracle saw, as lackey prints it, in log
seen() {
	if [ $machine = x86-64 ]; then
		lackey log "$lpad" ./prog "$1"
	else
		rm -f seen
		fetchmem seen "" "$(text prog)" ./prog "$1"
		set -- $?
		addrconv -f lackey -o log seen
		return $1
	fi
}

# slice FUNCTION LOG: what a recording of this run has to be, by the rules of aert(7). A call from untraced code to a traced
# function is recorded to its end, which is where its return address is loaded again from where the call stored it, or where control is in a function
# that no case traces; a region that was left in such a call can begin again after that end.
slice() {
	nm -S prog | awk -v from="$1" -v pushes=$pushes '
		function size(s, i, n) {
			for (i = 1; i <= length(s); i++) n = n * 16 + index("123456789abcdef", substr(s, i, 1))
			return n
		}
		# addresses are strings of 8 hexadecimal digits, as lackey has those of the program
		FILENAME == "-" {
			$1 = substr($1, length($1) - 7)
			if ($4 ~ "^(" "leaf|work|recurse|stops|outer|begins|away|catches|lost|cmp|sorts|much|floods|ends" ")$") entry[$1] = $4
			if ($4 ~ /^(main|jumps|forks)$/) { lo[++n] = $1; hi[n] = sprintf("%08x", size($1) + size($2)) }
			if ($4 ~ /^__ae_st(art|op)$/) mark[$1] = $4
			next
		}
		$1 == "I" {
			pc = substr($2, 1, index($2, ",") - 1)
			if (length(pc) == 8) for (i = 1; i <= n; i++) if (pc >= lo[i] && pc < hi[i]) call = dead = ""
			if (!(pc in mark) && !(pc in entry)) { }
			else if (mark[pc] == "__ae_start") { if (!live) wanted = 1 }
			else if (mark[pc] == "__ae_stop") { if (live) { dead = call; call = "" } live = wanted = 0 }
			else {
				if (entry[pc] == from) { if (!live) wanted = 1; from = "" }
				if (wanted && dead == "") { live = 1; wanted = 0 }
				if (live && call == "") call = pushes ? stored : "-"
			}
		}
		live && call != "" { print }
		$1 == "S" { stored = $2 }
		$1 == "L" && $2 == call { call = "" }
		$1 == "L" && $2 == dead { dead = "" }' - "$2"
}

# check CASE FROM: the recording of a case
check() {
	want=; [ "$2" != cmp ] || want='ae: AE_FROM: the function was never called: nothing recorded'
	_emulate=$emulate _env=''
	if [ "$emulate" ]; then emulate="$emulate -E AE_FROM=$2"; else _env=${2:+env AE_FROM=$2}; fi
	run o.e "" $_env ./prog "$1" >out 2>err
	got=$? emulate=$_emulate
	# the oracle sees a case once, wherever recordings of it begin
	log=log.$machine.$1
	[ -f "$log" ] || { seen "$1" >out.off 2>err.off; echo $? >"$log.status"; mv log "$log"; }
	is "$1 $2: status, messages" "$got $(cat err)" "$(cat "$log.status") $want"
	slice "$2" "$log" >cut
	ae2addr prog o.e >ref 2>err || fail "$1 $2: ae2addr" "$(cat err)"
	if [ -s cut ]; then
		ok "$1 $2: references" addrdiff -s -e prog ref cut
	else
		is "$1 $2: nothing" "$(ae2addr -f text prog o.e)" ""
	fi
	./prog.regen o.e >ref.regen 2>/dev/null
	same "$1 $2: a regenerator gives the same" ref ref.regen
	eval "n_$1$2=\$(ae2addr -c prog o.e | sed -n 's/instructions //p')"
}
