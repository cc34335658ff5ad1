# For the tests of what aecc traces: sourced after tap.sh
# shellcheck shell=sh
if setarch -R true 2>/dev/null; then fixed='setarch -R'; else fixed=''; fi

# loaded WHAT: where that is loaded in the run of events `run`: its executable, or the library of this name; hexadecimal
loaded() {
	case $1 in
	*.so) ae2addr -c "$prog" run | sed -n "s|^library 0x\([0-9a-f]*\) .*/${1##*/}\$|\1|p" ;;
	*) ae2addr -c "$prog" run | sed -n 's/^load-address //p' ;;
	esac
}

# exact NAME PROG [LIBRARY...]: what is regenerated of a run is what a capture of another one has, of the program and the libraries;
# $from, if it is set: the function where both begin.  A program says where the library is that it opens: `at ADDRESS`.
exact() {
	name=$1 prog=$2
	shift 2
	# the environment has one size, which moves the stack
	env -i ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} ${from:+AE_FROM="$from"} AE_OUT=run $fixed "$prog" >traced 2>said
	is "$name: runs traced" "$?: $(cat said)" "0: "
	env -i ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} ${from:+AE_FROM="$from"} AE_OUT=off $fixed "$BUILD/bin/wscap" ${from:+--from "$from"} -o x.ws "$prog" >untraced ||
		fail "$name: capture"
	is "$name: the same output" "$(grep -v '^at ' traced)" "$(grep -v '^at ' untraced)"
	ae2addr -o refs "$prog" run || fail "$name: regenerates"
	at=$(loaded "$prog")
	of="-e $prog ${at:+--load $at}"
	for lib; do of="$of -e $lib --load $(loaded "$lib")$(sed -n 's/^at 0x/:/p' untraced)"; done
	# shellcheck disable=SC2086
	addrdiff -lsv $of refs x.ws >diff 2>&1 || fail "$name: as a capture" "$(cat diff)"
	ok "$name: something was compared" [ "$(sed -n 's/.* are the same: \([0-9]*\) references.*/\1/p' diff)" -gt 1000 ]
}
