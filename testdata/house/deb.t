# make deb: four packages that hold what make install installs, each file once; what is unpacked works
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "same with sanitizers"; exit 0; }
command -v dpkg-shlibdeps >/dev/null || { skip "no dpkg-dev"; exit 0; }
cd "$SRC" || exit 1
make=${MAKE:-make}
m() { $make -s MAKE="$TMPDIR/install" O="$BUILD" DEBFULLNAME="A Builder" DEBEMAIL=builder@debian.org "$@" >"$TMPDIR/log" 2>&1; }

# what is in them is the same, however small they are
[ "${MATRIX-}" = full ] || { DPKG_DEB_COMPRESSOR_TYPE=none; export DPKG_DEB_COMPRESSOR_TYPE; }
# what make install-strip installs for the first of them is kept for those after it
cat >"$TMPDIR/install" <<END
#!/bin/sh
for a; do case \$a in DESTDIR=*) to=\${a#*=} ;; esac; done
if [ -e "$TMPDIR/installed" ]; then exec cp -R --preserve "$TMPDIR/installed" "\$to"; fi
$make "\$@" && cp -R --preserve "\$to" "$TMPDIR/installed"
END
chmod +x "$TMPDIR/install"
if m deb; then pass "make deb"; else fail "make deb" "$(cat "$TMPDIR/log")"; fi
version=$(sed -n 's/^VERSION = //p' GNUmakefile)-1
machine=$(dpkg --print-architecture)
tools=$BUILD/deb/tracemill_${version}_$machine.deb dev=$BUILD/deb/libaeregen-dev_${version}_$machine.deb
is "its fields" "$(dpkg-deb -f "$tools" Package Version Maintainer | tr '\n' ' ')" \
	"Package: tracemill Version: $version Maintainer: A Builder <builder@debian.org> "
ok "what its libraries are in" sh -c "dpkg-deb -f '$tools' Depends | grep -q 'libarchive13.*libc6 .*libzydis'"
lib=$BUILD/deb/libtracemill0_${version}_$machine.deb libdev=$BUILD/deb/libtracemill-dev_${version}_$machine.deb
for deb in "$tools" "$dev" "$lib" "$libdev"; do dpkg-deb -c "$deb" | awk '!/^d/ { print $6 }' | sort >"$TMPDIR/$(basename "$deb").list"; done
ok "and what the library loads" sh -c "dpkg-deb -f '$lib' Depends | grep -q 'libarchive13.*libc6'"
is "no file is in both" "$(sort "$TMPDIR"/*.list | uniq -d)" ""
is "the library's package" "$(grep -v /doc/ "$TMPDIR/$(basename "$dev").list" | tr '\n' ' ')" \
	"./usr/include/ae.h ./usr/lib/tracemill/libaeregen.a ./usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)/pkgconfig/aeregen.pc ./usr/share/man/man3/ae.h.3.gz "
arch=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
is "the shared library's packages" "$(cd "$TMPDIR" && cat libtracemill*.list | grep -v /doc/ | tr '\n' ' ')" \
	"./usr/include/tracemill.h ./usr/lib/$arch/libtracemill.so ./usr/lib/$arch/pkgconfig/tracemill.pc ./usr/share/man/man3/libtracemill.3.gz ./usr/lib/$arch/libtracemill.so.0 ./usr/lib/$arch/libtracemill.so.${version%-1} "
missing=
for t in $TOOLS; do grep -qx "./usr/bin/$t" "$TMPDIR/$(basename "$tools").list" || missing="$missing $t"; done
for p in man/*.[124-8]; do grep -qx "./usr/share/man/man${p##*.}/${p##*/}.gz" "$TMPDIR/$(basename "$tools").list" || missing="$missing $p"; done
is "the tools' package" "$missing" ""

cd "$TMPDIR" || exit 1
for deb in "$tools" "$dev" "$lib" "$libdev"; do dpkg-deb -x "$deb" root; done
echo 'int main(void) { return 0; }' >prog.c
PATH=$TMPDIR/root/usr/bin:/usr/bin:/bin
export PATH
ok "unpacked: a program is traced" sh -c 'aecc -O1 prog.c -o prog && ./prog && ae2addr -f text prog ae.out | grep -q ^inst'
ok "and a regenerator is built" sh -c 'aec -b prog && ./prog.regen -f text ae.out | grep -q ^inst'
ok "and a capture is replayed" sh -c 'wscap -o x.ws ./prog && ws2addr -c x.ws | grep -q ^instructions'

if command -v lintian >/dev/null; then
	is "lintian: errors" "$(lintian --allow-root --fail-on none "$tools" "$dev" 2>&1 | grep ^E:)" ""
else
	skip "no lintian"
fi

cd "$SRC" || exit 1
# Packages that would depend on nothing are not made
mkdir "$TMPDIR/stub"
for do in "echo shlibs:Depends=" "echo shlibdeps: no such library >&2; exit 2"; do
	printf '#!/bin/sh\n%s\n' "$do" >"$TMPDIR/stub/dpkg-shlibdeps"
	chmod +x "$TMPDIR/stub/dpkg-shlibdeps"
	(PATH=$TMPDIR/stub:$PATH && m deb)
	echo "$? $(grep -v '^make[:[]' "$TMPDIR/log")"
done >"$TMPDIR/refused"
is "dependencies that are not found" "$(cat "$TMPDIR/refused")" "2 make deb: dpkg-shlibdeps found no libraries of tracemill
2 shlibdeps: no such library"
is "no package is made then" "$(find "$BUILD/deb" -name '*.deb')" ""
tap_end
