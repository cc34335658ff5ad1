# shellcheck disable=SC2154
# matrix.sh: the exactness matrix, one row; sourced by exact-*.t, which sets `rows` to lines of
# `program option ... [-- argument ...]`, and functions for making them.  A row is one test.  `machine` is the target.
ae=$HERE
. "$HERE/oracle.sh"
target "${machine:=x86-64}"

# every level [option ...]: a row for each program of prog/ and of prog-mips/ that is for the machine and the level
every() {
	for _f in "$HERE"/prog/*.c "$HERE"/prog-mips/*.c; do
		_p=$(basename "$_f" .c)
		case $_p in *.*) continue ;; esac
		_on=$(option "$_f" targets) _at=$(option "$_f" levels)
		case " ${_on:-$machine} / ${_at:-$1} " in *" $machine "*/*" $1 "*) echo "$_p $*" ;; esac
	done
}

# some programs option ...: a row for each of the blank-separated programs
some() {
	_list=$1
	shift
	for _p in $_list; do echo "$_p $*"; done
}

# check_rows [option of exact ...]
check_rows() {
	if ! missing=$(can); then
		skip "$missing"
		return
	fi
	EXACT_DIR=$(pwd)
	export EXACT_DIR
	[ $machine = x86-64 ] || set -- -t $machine "$@"
	while read -r row; do
		# shellcheck disable=SC2086
		if said=$(sh "$HERE/exact" -q "$@" $row 2>&1); then
			pass "${said##*
}"
		else
			fail "$row" "$said"
		fi
	done <<-END
		$rows
	END
}
