# What aec -b and regenerators write: whole files under the final name, other things written through, nothing left behind
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
mkdir tmp && TMPDIR=$PWD/tmp && export TMPDIR
CFLAGS=${CFLAGS:--O0}
export CFLAGS
aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix && ae2addr matrix ae.out >right || exit 1
rm -rf tmp/*

ok "aec -b" aec -b matrix
ok "it can be run" test -x matrix.regen
# a device node of our own where we may make one, else the machine's
mknod null c 1 3 2>/dev/null && : >null 2>/dev/null || { rm -f null; ln -s /dev/null null; }
ok "aec -b -o into a device" aec -b -o null matrix
ok "it is one still" test -c null
ok "prog.regen -o into a device" ./matrix.regen -o null ae.out
ok "it is one still" test -c null
ok "ae2addr -o into a device" ae2addr -o null matrix ae.out
ok "it is one still" test -c null
mkfifo pipe
cat pipe >got &
./matrix.regen -o pipe ae.out 2>err
wait
same "into a pipe" got right
ok "it is one still" test -p pipe
cat pipe >got &
aec -b -o pipe matrix 2>err
wait
chmod +x got
./got ae.out 2>err | cmp -s - right && pass "a regenerator through a pipe" || fail "a regenerator through a pipe"

# A file under the name that the temporary one once had
echo mine >victim
cat >mine.sh <<'END'
ln -s victim "made.$$" && exec "$@"
END
sh mine.sh aec -b -o made matrix && sh mine.sh ./matrix.regen -o made2 ae.out 2>err
is "predictable names are not followed" "$(cat victim)" mine

mkdir shut && chmod 555 shut
if [ "$(id -u)" = 0 ] && ! touch shut/x 2>/dev/null || [ "$(id -u)" != 0 ]; then
	gives "a folder that may not be written" 1 "aec: shut/x: Permission denied" aec -b -o shut/x matrix
elif chown 65534 . tmp matrix ae.out && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	gives "a folder that may not be written" 1 "aec: shut/x: Permission denied" setpriv --reuid 65534 --clear-groups aec -b -o shut/x matrix
else
	skip "the superuser may write everywhere"
fi
gives "no folder" 1 "aec: none/x: No such file or directory" aec -b -o none/x matrix

# Nothing of a trace that is not whole
head -c 60 ae.out >cut
for t in "ae2addr matrix" ./matrix.regen; do
	$t cut >got 2>err
	is "$t: no events, no header" "$?: $(wc -c <got)" "1: 0"
	$t none >got 2>err
	is "$t: no file, no header" "$?: $(wc -c <got)" "1: 0"
done

# Compilers that fail: one line
printf '#!/bin/sh\necho "x.c:1: warning: w" >&2; echo "x.c:2: error: no space" >&2; echo more >&2; exit 1\n' >failcc
chmod +x failcc
gives "a compiler that fails" 1 "aec: the regenerator does not compile: x.c:2: error: no space" env CC="$PWD/failcc" aec -b matrix
ok "the old one is still there" ./matrix.regen -c ae.out

# Signals: the compiler sends one to aec, and waits.  Everything ends, nothing stays.
cat >cc <<'END'
#!/bin/sh
cd "$CCDIR" || exit 1
echo $$ >>ccpid
mkdir lock 2>/dev/null && kill -"$SIG" "$(cat pid)"
exec sleep 300
END
chmod +x cc
for sig in HUP INT QUIT TERM XCPU PIPE; do
	rm -rf lock ccpid pid
	SIG=$sig CC="$PWD/cc" CCDIR=$PWD sh -c 'echo $$ >pid; exec aec -b matrix' >out 2>&1
	st=$?
	is "$sig: status" "$(kill -l $st 2>/dev/null)" $sig
	is "$sig: nothing left" "$(ls tmp; ls -d matrix.regen.* 2>/dev/null)" ""
	left=
	while read -r p; do
		kill -0 "$p" 2>/dev/null && left="$left $p"
	done <ccpid
	is "$sig: compilers ended" "$left" ""
done
ok "the old one is still there" ./matrix.regen -c ae.out
tap_end
