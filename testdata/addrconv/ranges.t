# -n: the outputs of ranges, one after the other, are that of the whole
. "$SRC/testdata/tap.sh"
command -v wscap >/dev/null && wscap -o run.ws expr 1 + 2 >sum 2>err || { skip "nothing can be captured here: $(head -n 1 err)"; exit 0; }
for f in text lackey din pinatrace ramulator champsim csv addr; do
	addrconv -f $f -o want run.ws && addrconv -f $f -n 0:3333 -o a run.ws && addrconv -f $f -n 3333:50000 -o b run.ws &&
		addrconv -f $f -n 50000: -o c run.ws || fail "$f is written"
	case $f in
	csv) { cat a; tail -n +2 b; tail -n +2 c; } >got ;;
	addr) { cat a; tail -c +17 b; tail -c +17 c; } >got ;;
	*) cat a b c >got ;;
	esac
	same "$f" want got
done
tap_end
