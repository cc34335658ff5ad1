# What handler.t tests, of clang's programs
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
if ! command -v clang >/dev/null || ! command -v clang++ >/dev/null; then
	skip 'clang is not here'
	exit 0
fi
AE_CC=clang AE_CXX=clang++
export AE_CC AE_CXX
. "$HERE/handler.t"
