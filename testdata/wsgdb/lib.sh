# shellcheck shell=sh
# For the tests of wsgdb.  run_gdb CAPTURE COMMAND...: what gdb prints, without what it says about reading files.  With `here` set, and
# but for MATRIX=full, it asks wsgdb for the contents of files in one run of four only: that takes half of the time.  Nor does gdb read
# the lines of libc, from where Debian has them, which takes half of the rest
lines=/none
[ "${MATRIX-}" != full ] || lines=/usr/lib/debug
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
	DEBUGINFOD_URLS='' timeout 300 gdb -q -nx -batch -iex "set debug-file-directory $lines" -ex 'set width 0' -ex 'set confirm off' -ex 'set remotetimeout 600' -ex "$root" "$@" 2>&1 </dev/null |
		grep -v -e '^Reading ' -e '^warning: File transfers' -e 'No such file or directory'
}

# has WHAT TEXT PATTERN...: the text has lines that match the patterns, in this order
has() {
	has_what=$1 has_text=$2
	shift 2
	# one sed, which prints a line for each that it has found, and reads on after it
	has_script='' has_i=0
	for has_p do
		has_i=$((has_i + 1))
		has_script="$has_script
:$has_i
\\${has_sep}$has_p$has_sep!{
n
b $has_i
}
s/.*/found/p
n"
	done
	# after the last one it need not be the last line
	has_n=$(printf '%s\n\n' "$has_text" | sed -n "$has_script
q" | wc -l)
	if [ "$has_n" = $# ]; then pass "$has_what"; return; fi
	shift "$has_n"
	fail "$has_what" "no line like $1 (in order) in:
$has_text"
}
has_sep=$(printf '\001')
