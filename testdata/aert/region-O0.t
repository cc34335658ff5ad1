# Regions at -O0, and what they leave at other ends of a program
# shellcheck shell=sh source=/dev/null
opt=-O0
. "$HERE/region.sh"
for c in r d j q; do check $c ''; done
check r recurse
check f ''
for c in 1 2; do
	child=$(echo o.e.[0-9]* | cut -d ' ' -f $c)
	ae2addr -c prog "$child" >counts 2>&1
	is "child $c: status, something" "$? $([ "$(sed -n 's/instructions //p' counts)" -gt 100 ] && echo yes)" "0 yes"
done
# a fault outside a region, in a function that was traced when the region ended; and more events than the buffer holds there
rm -f o.e
run o.e "" ./prog b >out 2>/dev/null
is "a fault outside: end record" "$? $(record o.e)" "139 1 11 0 0"
is "a fault outside: status and what is said" "$(ae2addr -o b.ref prog o.e 2>&1) $?" " 0"
check l ''
run l.e "" ./prog l 0000010
run m.e "" ./prog l 3000000
is "much outside: nothing more" "$(ae2addr -c prog m.e)" "$(ae2addr -c prog l.e)"
is "AE_FROM of no function" "$(AE_FROM=nosuch run n.e "" env AE_FROM=nosuch ./prog z 2>&1; ls n.e 2>/dev/null)" \
    "ae: AE_FROM=nosuch: no such traced function: untraced"
# gcc has nothing in their place, and traced objects link without the runtime
gcc -O1 -I"$SRC/src" "$HERE/region.c" -o plain && ./plain n
is "gcc" $? "$(run off "" ./prog n; echo $?)"
aecc -O1 -c -I"$SRC/src" "$HERE/region.c" -o obj.o && gcc obj.o -o obj && ./obj n
is "an object of aecc linked by gcc" $? "$(run off "" ./prog n; echo $?)"
tap_end
