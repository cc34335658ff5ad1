# make install and uninstall, with DESTDIR and PREFIX
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "same with sanitizers"; exit 0; }
cd "$SRC" || exit 1
m() { ${MAKE:-make} -s O="$BUILD" PREFIX=/opt/tm DESTDIR="$TMPDIR/root" "$@" >"$TMPDIR/log" 2>&1; }

if m install; then pass "install"; else fail "install" "$(cat "$TMPDIR/log")"; fi
missing=
for t in $TOOLS; do [ -x "$TMPDIR/root/opt/tm/bin/$t" ] || missing="$missing $t"; done
for p in man/*.[1-9]; do [ -f "$TMPDIR/root/opt/tm/share/man/man${p##*.}/${p##*/}" ] || missing="$missing $p"; done
for f in "$BUILD"/lib/tracemill/* "$BUILD"/lib/tracemill/*/* "$BUILD"/include/*; do
	[ -f "$f" ] || continue
	f=${f#"$BUILD"/}
	[ -f "$TMPDIR/root/opt/tm/$f" ] || missing="$missing $f"
done
is "everything is there" "$missing" ""
"$TMPDIR/root/opt/tm/bin/addrdiff" >/dev/null 2>&1
is "an installed tool runs" $? 2
if m uninstall; then pass "uninstall"; else fail "uninstall" "$(cat "$TMPDIR/log")"; fi
is "nothing is left" "$(find "$TMPDIR/root" -type f)" ""
tap_end
