# Helpers of the runtime's tests
# shellcheck shell=sh
. "$SRC/testdata/tap.sh"

# record FILE: how a recording ended, from its end record: reason, signal, untraced thread entries and handlers
record() {
	# shellcheck disable=SC2046
	set -- $(tail -c 80 "$1" | od -An -v -tu4 -w80)
	if [ "$1 $2" = "1684948289 64" ]; then echo "$5 $6 $9 ${11}"; else echo "no end record"; fi
}

# mid FILE: a fatal signal came in traced code
mid() {
	[ "$(tail -c 32 "$1" | od -An -v -tu8 -N8 | tr -d ' ')" != 0 ]
}

# whole PROG FILE: the trace can be regenerated to its end; if that is where recording stopped, or a signal came in traced code, this is said
whole() {
	whole_says=$(ae2addr "$1" <"$2" 2>&1 >/dev/null)
	set -- $? "$(record "$2")" "$2"
	case $2 in
	3*) [ "$1" = 1 ] && [ "${whole_says##*: }" = "recording stopped here, before the run ended" ]; return ;;
	1*) mid "$3" &&
		case ${whole_says#"ae2addr: standard input: signal $(echo "$2" | cut -d ' ' -f 2) ended the program in traced code"} in
		": the last references may be past that place" | ", at the instruction after the last reference") whole_says= ;;
		esac ;;
	esac
	[ "$1" = 0 ] && [ -z "$whole_says" ]
}

# part PROG FILE: recording stopped, which is said and is the status; what was recorded before is there, with -o too
part() {
	ae2addr "$1" "$2" >part.ref 2>part.err
	[ $? = 1 ] && [ "$(sed 's/byte [0-9]*/byte N/' part.err)" = "ae2addr: $2: byte N: recording stopped here, before the run ended" ] || return
	ae2addr -o part.file "$1" "$2" 2>/dev/null
	[ $? = 1 ] && cmp -s part.ref part.file && [ "$(wc -c <part.ref)" -gt 100000 ]
}
