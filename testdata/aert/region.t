# Regions: ae_start(), ae_stop() and AE_FROM record exactly the slices of the whole run that valgrind's lackey saw
# shellcheck shell=sh source=/dev/null
opt=-O2
. "$HERE/region.sh"
for c in n r d j q x; do check $c ''; done
check z leaf
check d leaf
check z cmp
is "the cases record something" "$((n_n > 300)) $((n_r > 500)) $((n_d > 150)) $((n_j > 200)) $((n_q > 1000)) $((n_zcmp))" "1 1 1 1 1 0"
tap_end
