# shellcheck shell=sh
# For the tests of wsgdb.  run_gdb CAPTURE COMMAND...: what gdb prints, without what it says about reading files.  With `here` set, and
# but for MATRIX=full, it asks wsgdb for the contents of files in one run of four only: that takes half of the time
run_gdb() {
	on=$1
	shift
	echo run >>runs         # it may be called in a subshell, where a variable would be lost
	root='set height 0'
	if [ "${here-}" ] && [ "${MATRIX-}" != full ] && [ $(($(wc -l <runs) % 4)) != 1 ]; then root='set sysroot /'; fi
	set -- "target remote | wsgdb $on" "$@"
	n=$#
	while [ "$n" -gt 0 ]; do
		set -- "$@" -ex "$1"
		shift
		n=$((n - 1))
	done
	DEBUGINFOD_URLS='' timeout 300 gdb -q -nx -batch -ex 'set width 0' -ex 'set confirm off' -ex 'set remotetimeout 600' -ex "$root" "$@" 2>&1 </dev/null |
		grep -v -e '^Reading ' -e '^warning: File transfers' -e 'No such file or directory'
}

# has WHAT TEXT PATTERN...: the text has lines that match the patterns, in this order
has() {
	has_what=$1 has_text=$2
	shift 2
	has_rest=$has_text
	for has_p do
		has_at=$(printf '%s\n' "$has_rest" | grep -n -m 1 -e "$has_p" | cut -d : -f 1)
		if [ -z "$has_at" ]; then
			fail "$has_what" "no line like $has_p (in order) in:
$has_text"
			return
		fi
		has_rest=$(printf '%s\n' "$has_rest" | tail -n +$((has_at + 1)))
	done
	pass "$has_what"
}
