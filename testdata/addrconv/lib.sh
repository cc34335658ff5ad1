# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# able: can programs be captured here?
able() { captures addrconv; }

# captured PROGRAM SOURCE [OPTION...]: compiles it without libraries and captures it in PROGRAM.ws; its status is 7
captured() {
	prog=$1 source=$2
	shift 2
	$GCC -O2 -g -fno-stack-protector -fcf-protection=none -nostdlib -static "$@" -o "$prog" "$source" || return
	wscap -o "$prog.ws" "./$prog"
	[ $? = 7 ]
}

# bytes FILE: how many
bytes() {
	wc -c <"$1" | tr -d ' '
}

# broken FORMAT: a capture that is cut off gives the beginning of the whole output, one line, and status 1
broken() {
	addrconv -f "$1" flow.ws >whole 2>err || { fail "$1: the whole"; return; }
	is "$1: a capture that is cut off anywhere" "$(damaged -s $((1 + $(bytes flow.ws) / 16)) flow.ws cut.ws whole addrconv -f "$1" cut.ws)" ""
}

# pieces FORMAT: parts of the run, one after the other, are the whole
pieces() {
	n=$(ws2addr -c flow.ws | sed -n 's/instructions //p')
	: >parts
	at=0
	for end in 1 2 50 51 52 53 54 $((n / 3)) $((n / 3 + 1)) $((n - 20)) $((n - 3)) ''; do
		addrconv -f "$1" -n "$at:$end" flow.ws >part || fail "$1 -n $at:$end"
		if [ $at = 0 ]; then cat part; else tail -n "+${2:-1}" part; fi >>parts
		at=$end
	done
	addrconv -f "$1" flow.ws >whole
	same "$1: parts of the run are the whole" parts whole
}
