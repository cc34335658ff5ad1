# shellcheck disable=SC2154
# matrix.sh: the exactness matrix, one row; sourced by exact-*.t, which sets `rows` to lines of
# `program option ... [-- argument ...]`, and functions for making them.  A row is one test.

# every option ...: a row for each program of prog/
every() {
	for _p in "$HERE"/prog/*.c; do
		_p=$(basename "$_p" .c)
		case $_p in *.*) continue ;; esac
		echo "$_p $*"
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
	for tool in valgrind qemu-x86_64; do
		command -v $tool > /dev/null || { skip "$tool is not here"; return; }
	done
	EXACT_DIR=$(pwd)
	export EXACT_DIR
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
