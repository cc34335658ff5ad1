# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# flat FILE...: what cachesim --json says of these references with the options in $options, in the form of cachemodel
flat() {
	# shellcheck disable=SC2086
	cachesim --json $options "$@" >flat.json && awk -f "$HERE/flat.awk" flat.json
}

# log WORD...: a log; L1000 is a load of 8 bytes at 0x1000, and so on; 2L1000 one of 2 bytes; I400 an instruction of 4 bytes
log() {
	for word; do
		size=$(echo "$word" | sed -n 's/^\([0-9]*\)[ILSM].*/\1/p')
		kind=$(echo "$word" | sed 's/^[0-9]*\([ILSM]\).*/\1/')
		addr=$(echo "$word" | sed 's/^[0-9]*[ILSM]//')
		case $kind in
		I) printf 'I  %08x,%d\n' "0x$addr" "${size:-4}" ;;
		*) printf ' %s %08x,%d\n' "$kind" "0x$addr" "${size:-8}" ;;
		esac
	done
}
