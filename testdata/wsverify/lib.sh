# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh
. "$SRC/testdata/ws2addr/lib.sh"

# made NAME: the program of NAME.s, and its capture NAME.ws
made() {
	${CC:-gcc} -nostdlib -static "${2:-$HERE}/$1.s" -o "$1" && wscap -o "$1.ws" "./$1" >"$1.out"
}

tiny() {
	made tiny "$SRC/testdata/ws2addr"
	[ $? = 42 ]
}
