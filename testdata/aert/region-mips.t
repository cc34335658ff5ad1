# Regions on MIPS, both byte orders, compared with what qemu saw of the whole run
# shellcheck shell=sh source=/dev/null
machine=mipsel opt="--target=mipsel -O2"
. "$HERE/region.sh"
for c in n d j x; do check $c ''; done
check d outer
machine=mips opt="--target=mips -O2"
. "$HERE/region.sh"
for c in d j; do check $c ''; done
is "the cases record something" "$((n_n > 300)) $((n_d > 150)) $((n_j > 200))" "1 1 1"
tap_end
