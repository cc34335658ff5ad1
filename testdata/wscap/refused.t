# System calls that the kernel refuses with SIGSYS
. "$HERE/lib.sh"
gcc -O1 $static -o refused "$HERE/refused.c" || exit 1

for i in trap dispatch; do
	./refused $i >/dev/null
	[ $? != 77 ] || { skip "$i: not permitted here"; continue; }
	for o in on off; do
		captured "$i, --recorder $o" --recorder $o -- ./refused $i
		ok "$i, --recorder $o: the handler's signals" [ "$(wsinfo -l c.ws | grep -c ' sig 31 at ')" = 20 ]
		is "$i, --recorder $o: verified" "$(wsverify c.ws | grep -c ' 0 differences$')" 1
	done
done
tap_end
