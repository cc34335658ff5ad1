# Memory does not grow with a stream, and a file cannot make it
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "sanitizers need more"; exit 0; }
test=$BUILD/test/streamtest

"$test" make 1000003 4 >piece
# long N: N MB
long() {
	i=0
	while [ $i -lt "$1" ]; do
		cat piece
		i=$((i + 1))
	done
}
# within KIB COMMAND: run with so much address space
within() {
	limit=$1
	shift
	# shellcheck disable=SC3045
	(ulimit -v "$limit" && "$@")
}
LIMIT_KIB=400000
long 40 >in
is "-1, 40 MB" "$(within $LIMIT_KIB bifcm -1c in 2>&1 | within $LIMIT_KIB bifcm -d 2>&1 | cmp - in 2>&1)" ""
is "-0, 40 MB of records" "$(within $LIMIT_KIB bifcm -0 -c -r 4,8 in 2>&1 | within $LIMIT_KIB bifcm -d 2>&1 | cmp - in 2>&1)" ""
bifcm -1 in -o in.bif
is "backward" "$(within $LIMIT_KIB bifcm -d -R in.bif | within $LIMIT_KIB bifcm -1 | within $LIMIT_KIB bifcm -d -R 2>&1 | cmp - in 2>&1)" ""
is "a part from a pipe" "$(within $LIMIT_KIB bifcm -d -s 4000000 -n 1000 <in.bif | cksum)" "$(tail -c +32000001 in | head -c 8000 | cksum)"

# a block that says that it has 8 columns of 4194304 values of 8 bytes, and a file that ends there
"$test" hostile >big.bif
gives "columns that are not there" 1 \
	"bifcm: big.bif: byte $(wc -c <big.bif) (record 0): the file was cut off in block 1 (records 0 to 4194303)" within 60000 bifcm -dc big.bif
gives "nor in a pipe" 1 "bifcm: standard input: byte $(wc -c <big.bif) (record 0): the file was cut off in block 1 (records 0 to 4194303)" \
	within 60000 bifcm -d <big.bif
tap_end
