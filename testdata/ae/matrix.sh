# shellcheck disable=SC2154
# matrix.sh: the exactness matrix, one row; sourced by exact-*.t, which sets `rows` to lines of
# `program option ... [-- argument ...]`, and functions for making them.  A row is one test.  `machine` is the target.
ae=$HERE
. "$HERE/oracle.sh"
target "${machine:=x86-64}"

# every level [option ...]: a row for each program of prog/ and of prog-mips/ that is for the machine and the level.  Each is
# at one level, a third of them at -O2; of those for all machines MIPS has every second.  MATRIX=full has all at each level, and each
# row with both oracles: it takes some 20 minutes.
every() {
	_i=0 _mine="2 5"
	case $1 in -O0) _mine=0 ;; -O1) _mine=1 ;; -O3) _mine=3 ;; -Os) _mine=4 ;; esac
	[ "${MATRIX-}" = full ] && _mine="0 1 2 3 4 5"
	for _f in "$HERE"/prog/*.c "$HERE"/prog-mips/*.c; do
		_p=${_f##*/}
		_p=${_p%.c}
		case $_p in *.*) continue ;; esac
		_i=$((_i + 1))
		# five levels and the second one twice: programs go by six
		case $machine/${MATRIX-}/$_f in
		x86-64/* | */full/* | */prog-mips/*) ;;
		*) [ $((_i / 6 % 2 + _i % 2)) = 1 ] || continue ;;
		esac
		option "$_f" targets; _on=$option
		option "$_f" levels; _at=$option
		[ "${MATRIX-}" = full ] || _at=${_at%% *}
		# one that is not for each level is at all that it is for
		case " $_mine / ${_at:+$((_i % 6))} " in *" $((_i % 6)) "*) ;; *) continue ;; esac
		case " ${_on:-$machine} / ${_at:-$1} " in *" $machine "*/*" $1 "*) echo "$_p $*" ;; esac
	done
}

# some programs option ...: a row for each of the blank-separated programs
some() {
	_list=$1
	shift
	for _p in $_list; do echo "$_p $*"; done
}

# few programs option ...: for one of them, another one each time; for all if MATRIX=full
few() {
	[ "${MATRIX-}" = full ] && { some "$@"; return; }
	_list=$1
	shift
	_turn=$((${_turn:-0} + 1))
	echo "$(echo "$_list" | awk -v turn=$_turn '{ print $(turn % NF + 1) }') $*"
}

# half programs option ...: every second of them; for all if MATRIX=full
half() {
	[ "${MATRIX-}" = full ] && { some "$@"; return; }
	_list=$1
	shift
	for _p in $(echo "$_list" | awk '{ for (i = 1; i <= NF; i += 2) print $i }'); do echo "$_p $*"; done
}

# third programs option ...: every third of them; for all if MATRIX=full
third() {
	[ "${MATRIX-}" = full ] && { some "$@"; return; }
	_list=$1
	shift
	for _p in $(echo "$_list" | awk '{ for (i = 1; i <= NF; i += 3) print $i }'); do echo "$_p $*"; done
}

# one_oracle: the rows that follow are compared with one oracle, the faster, unless they or their programs name others
one_oracle() {
	[ "${MATRIX-}" = full ] && return
	EXACT_ORACLES=qemu
	export EXACT_ORACLES
}

# no_plain: programs of the rows that follow are not compiled without aecc, too.  The matrix of levels does that for each program.
no_plain() {
	[ "${MATRIX-}" = full ] && return
	EXACT_PLAIN=no
	export EXACT_PLAIN
}

# check_rows_regen: check_rows, and aec's regenerator for every fourth row, or with MATRIX=full for all
check_rows_regen() {
	_all=$rows
	rows=$(echo "$_all" | awk -v full="${MATRIX-}" 'full == "full" || NR % 4 == 0')
	[ "$rows" ] && check_rows -r
	rows=$(echo "$_all" | awk -v full="${MATRIX-}" 'full != "full" && NR % 4')
	[ "$rows" ] && check_rows
}

# check_rows [option of exact ...]: $label, if set, begins the name of each test
check_rows() {
	if ! missing=$(can); then
		skip "$missing"
		return
	fi
	EXACT_DIR=$(pwd) EXACT_BUILT=keep
	export EXACT_DIR EXACT_BUILT
	[ $machine = x86-64 ] || set -- -t $machine "$@"
	while read -r row; do
		# shellcheck disable=SC2086
		if said=$(sh "$HERE/exact" -q "$@" $row 2>&1); then
			pass "${label-}${said##*
}"
		else
			fail "${label-}$row" "$said"
		fi
	done <<-END
		$rows
	END
}
