# AE_LIMIT, and the names that %p and %n of AE_OUT make
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
. "$SRC/testdata/aec/lib.sh"

aecc -O1 "$HERE/limit.c" -o prog || fail aecc
inst() { ae2addr -c "$1" "$2" 2>/dev/null | awk '$1 == "instructions" { print $2 }'; }

# The events of a limited recording are the first ones of the whole, and so are the references
if setarch -R true 2>/dev/null; then
	env -i AE_LIMIT=9k AE_OUT=all setarch -R ./prog
	ae2addr -f text prog all >all.text
	for n in 1 50 1k; do
		env -i AE_LIMIT=$n AE_OUT=cut setarch -R ./prog
		is "AE_LIMIT=$n: end record" "$(record cut)" '4 0 0 0'
		ae2addr -f text prog cut >cut.text 2>err
		is "AE_LIMIT=$n: status and what is said" "$? $(cat err)" "0 ae2addr: cut: recording ended here by AE_LIMIT, before the run did"
		case $n in 1k) bytes=1024 ;; *) bytes=$n ;; esac
		is "AE_LIMIT=$n: bytes" "$(tail -c 56 cut | od -An -tu8 -N8 | tr -d ' ')" $bytes
		ok "AE_LIMIT=$n: the first references" cmp -n "$(wc -c <cut.text)" cut.text all.text
	done
	[ "$(wc -l <cut.text)" -gt 3000 ] && [ "$(wc -l <cut.text)" -lt "$(wc -l <all.text)" ]
	is "AE_LIMIT=1k: some, not all" $? 0
	aec -b -o regen prog
	./regen -f text cut >regen.text 2>err
	is "a regenerator says the same" "$? $(unwarned <err)" "0 regen: cut: recording ended here by AE_LIMIT, before the run did"
	same "and gives the same" regen.text cut.text
else
	skip "setarch cannot switch random addresses off"
fi
for n in 0 1x 10kk 99999999999999999999; do
	gives "AE_LIMIT=$n" 0 "ae: AE_LIMIT=$n: not a size of at least 1; k, M and G after the number are 1024, 1024k and 1024M: untraced" \
	    env AE_LIMIT=$n ./prog
done
is "no file" "$(ls ae.out 2>&1 | grep -c cannot)" 1

mkdir pn && cd pn || exit 1
AE_OUT=%p.%n ../prog 2 2>err
pid=$(echo *.3)
pid=${pid%.3}
is '%p.%n: of each program of a process, and of a child' "$(echo [0-9]*.[0-9] | sed "s/$pid/N/g; s/ [0-9][0-9][0-9]*/ C/g; s/^[0-9][0-9]*/C/" |
	tr ' ' '\n' | sort | tr '\n' ' ')$(cat err)" "C.1 N.1 N.2 N.3 "
is '%p.%n: none is lost' "$([ "$(inst ../prog "$pid.1")" -gt 15000 ] && [ "$(inst ../prog "$pid.2")" -gt 10000 ] &&
	[ "$(inst ../prog "$pid.3")" -gt 5000 ] && echo all)" all
rm -- * && cd ..
mkdir n && cd n || exit 1
AE_OUT=x%%n.%n ../prog 0
AE_OUT=x%%n.%n ../prog 2
is '%n: the next number' "$(echo *)" 'x%n.1 x%n.2 x%n.3 x%n.4 x%n.5'
rm -- * && cd ..
mkdir 'p%n' && cd 'p%n' || exit 1
AE_OUT=a.%p ../prog 0
AE_LIMIT=2k AE_OUT=b ../prog 1 2>err
is 'no %n of the folder' "$(echo * | sed 's/[0-9][0-9]*/N/g')" 'a.N b b.N err'
is 'an exec after the limit leaves the file alone' "$(record b | cut -d ' ' -f 1) $(record "$(echo b.*)" | cut -d ' ' -f 1)" '4 4'
tap_end
