# C++, compiled by ae++: two programs, each at one level, against qemu; with MATRIX=full all, at each level, against lackey too.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
command -v g++ >/dev/null || { skip "no g++"; exit 0; }
one_oracle
rows='inline -O2
throw -O2'
if [ "${MATRIX-}" = full ]; then
	rows=$(for f in "$HERE"/prog-cxx/*.cc; do
		p=$(basename "$f" .cc)
		case $p in *.*) continue ;; esac
		for o in -O0 -O1 -O2 -O3 -Os "-O2 -fPIC"; do echo "$p $o"; done
		# under valgrind, a static program's heap has another beginning: not by whole pages, where the processor has wide registers
		echo "-o qemu $p -O2 -static"
	done)
	check_rows -r
	rows='throw -O1'
	check_rows -p
else
	check_rows
fi
# threads run untraced: copies of the begins of functions, with tables of their own
rows='-n threads -Os'
check_rows
tap_end
