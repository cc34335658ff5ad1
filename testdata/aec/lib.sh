# For the tests of regenerators: sourced behind tap.sh
# shellcheck shell=sh

# A sanitized library wants a sanitized program; what the sanitizer says of swapcontext is no error
if [ -n "$SAN" ]; then
	CFLAGS="-O1 -fsanitize=$SAN" LDFLAGS="-fsanitize=$SAN"
	export CFLAGS LDFLAGS
fi
unwarned() { sed -e '/^==[0-9]*==WARNING: ASan/d' -e '/^False positive error reports may follow/d' -e '/^For details see/d'; }
quiet() { unwarned | sed -e 's/^[^:]*: //' -e 's/File too large$/cannot be written/'; }

# A changed event can make a counted loop turn some 10^9 times: both end at this size of file
most() { (trap '' XFSZ; ulimit -f 200000; "$@"); }

# both PROG EVENTS: the same references, diagnostics and status from ae2addr and PROG.regen; they are in a.ref and a.err
both() {
	most ae2addr "$1" "$2" >a.ref 2>a.out
	both_a=$?
	most "./$1.regen" "$2" >b.ref 2>b.out
	both_b=$?
	: >a.err
	: >b.err
	[ ! -s a.out ] || quiet <a.out >a.err
	[ ! -s b.out ] || quiet <b.out >b.err
	[ $both_a = $both_b ] && cmp -s a.ref b.ref && cmp -s a.err b.err
}
