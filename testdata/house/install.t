# make install and uninstall, with DESTDIR, PREFIX and a variable for each folder; what is installed works where it is
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "same with sanitizers"; exit 0; }
cd "$SRC" || exit 1
m() { ${MAKE:-make} -s O="$BUILD" PREFIX=/opt/tm DESTDIR="$TMPDIR/root" "$@" >"$TMPDIR/log" 2>&1; }

if m install; then pass "install"; else fail "install" "$(cat "$TMPDIR/log")"; fi
top=$TMPDIR/root/opt/tm
missing=
for t in $TOOLS; do
	[ -x "$top/bin/$t" ] || missing="$missing $t"
	[ -f "$top/share/bash-completion/completions/$t" ] && [ -f "$top/share/zsh/site-functions/_$t" ] || missing="$missing completion:$t"
done
for p in man/*.[1-9]; do [ -f "$top/share/man/man${p##*.}/${p##*/}" ] || missing="$missing $p"; done
for f in "$BUILD"/lib/tracemill/* "$BUILD"/lib/tracemill/*/* "$BUILD"/include/* src/format/magic; do
	[ -f "$f" ] || continue
	f=${f#"$BUILD"/}
	[ -f "$top/$f" ] || [ -f "$top/share/tracemill/${f##*/}" ] || missing="$missing $f"
done
is "everything is there" "$missing" ""
"$top/bin/addrdiff" >/dev/null 2>&1
is "an installed tool runs" $? 2

# The rest of the line, completed: complete TOOL WORD...; the last word is the one that is completed
complete() {
	bash -c '
		source "$0/$1" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && COMP_LINE="$*" && COMP_POINT=${#COMP_LINE} &&
		f=$(complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/") && $f "$1" && echo "${COMPREPLY[*]}"' "$top/share/bash-completion/completions" "$@"
}
is "bash: what there is of a long name" "$(complete wetz --ar)" "--arch --arch-parameters="
is "bash: all options of wscap" "$(complete wscap -)" \
	"$(wscap --help | sed -n 's/^  *\(-.\), \(--[a-z-]*=*\).*/\1 \2/p; s/^      \(--[a-z-]*=*\).*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
is "bash: a value" "$(complete wetz --kind = l) $(complete wetz -m '')" "loads full loads replay paper"
is "bash: formats" "$(complete ws2addr -f '')" "addr lackey din text"
is "bash: machines" "$(complete aecc --target = ''), $(complete ae++ --target = '')" "x86-64 mipsel mips, x86-64 mipsel mips"
is "bash: levels" "$(complete wetz -9)" -9
is "bash: questions" "$(complete wetq '')" "list cf values addrs why html deps uses at walk who whynot slice dot annotate dice arch"
is "bash: one question only" "$(complete wetq -n 3 list l)" ""
is "bash: a program" "$(complete wscap -o file gnuplotnotatal) $(complete wscap -o file bas | tr ' ' '\n' | sort -u | grep -cx bash)" " 1"
is "bash: its options are not the tool's" "$(complete wscap ls --r)" ""
is "bash: tools" "$(complete tracemill wse) $(complete tracemill help wsc) $(complete tracemill d)" " wscap doctor"
for t in $TOOLS; do
	case $t in aecc | ae++) continue ;; esac
	complete "$t" -- | tr ' ' '\n' | grep -c . | grep -qx "$("$t" --help | grep -c -E '^ +(-.+)?--[a-z]')" || echo "$t"
done >"$TMPDIR/wrong"
is "bash: as many long names as --help has" "$(cat "$TMPDIR/wrong")" ""
if command -v zsh >/dev/null; then
	for t in $TOOLS; do zsh -n "$top/share/zsh/site-functions/_$t" 2>&1; done >"$TMPDIR/wrong"
	is "zsh: read" "$(cat "$TMPDIR/wrong")" ""
fi

# file(1) knows what the tools write
echo 'int main(void) { return 0; }' >"$TMPDIR/prog.c"
(
	cd "$TMPDIR" || exit
	aecc prog.c -o prog && AE_OUT=x.out ./prog && ae2addr -o x.ref prog x.out && aepack -o x.pk prog x.out && wscap -o x.ws ./prog && ws2wet -n :100 -o x.txt x.ws &&
		wetz -o x.wet x.txt && bifcm -r addr -o x.bif x.ref &&
		ws2laplace -k k -o x.lap x.ws
)
knows() { is "file: $1" "$(file -b -m "$top/share/tracemill/magic" "$TMPDIR/$1" | cut -d , -f 1)" "$2"; }
if command -v file >/dev/null; then
	is "its magic is understood" "$(cd "$TMPDIR" && file -C -m "$top/share/tracemill/magic" 2>&1)" ""
	knows x.out "tracemill events of a run"
	knows x.pk "tracemill packed events of a run"
	knows x.ref "tracemill reference stream"
	knows x.ws "tracemill working-set capture"
	knows x.wet "tracemill whole execution trace"
	knows x.bif "tracemill compressed stream of values"
	knows x.lap "tracemill Laplace trace of references"
	is "file: version and type" "$(file -b -m "$top/share/tracemill/magic" "$TMPDIR/x.ws") $(file -b --mime-type -m "$top/share/tracemill/magic" "$TMPDIR/x.wet")" \
		"tracemill working-set capture, version 1 application/x-tracemill-wet"
else
	skip "no file(1)"
fi

# The library of regenerators: nothing but ae.h's names; and the example of its page, by pkg-config
nm -g --defined-only "$top/lib/tracemill/libaeregen.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort >"$TMPDIR/names"
is "its global names are ae.h's" "$(while read -r name; do grep -q "\<$name\>" src/ae/regen/ae.h || echo "$name"; done <"$TMPDIR/names")" ""
ok "ae_recreate is among them" grep -qx ae_recreate "$TMPDIR/names"
is "and so is what it does not define" "$(nm -u "$top/lib/tracemill/libaeregen.a" 2>/dev/null | grep -E ' (in|out|src|ref|ev|xmalloc|die)(_.*)?$')" ""
if command -v pkg-config >/dev/null; then
	pc() { PKG_CONFIG_PATH=$top/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMPDIR/root pkg-config "$@"; }
	is "pkg-config: version" "$(pc --modversion aeregen)" "$(sed -n 's/^VERSION = //p' GNUmakefile)"
	sed -n '/^#include <ae.h>/,/^\.Ed/p' man/ae.h.3 | sed '/^\.Ed/d; s/\\e/\\/g' >"$TMPDIR/count.c"
	(cd "$TMPDIR" && aec -o dir prog && make -s -C dir CC=gcc) >"$TMPDIR/log" 2>&1
	# names that the library has inside and an application may have, too
	echo 'int out_open(void) { return 1; } int xmalloc(void) { return 2; } int die(void) { return 3; } int in_open;' >"$TMPDIR/own.c"
	# shellcheck disable=SC2046     # they are words
	ok "pkg-config: the example of ae.h(3)" gcc -O2 "$TMPDIR/count.c" "$TMPDIR/own.c" "$TMPDIR"/dir/*.sma.o "$TMPDIR/dir/ae_table.o" \
		$(pc --cflags --libs aeregen) -o "$TMPDIR/count"
	is "and it counts" "$("$TMPDIR/count" "$TMPDIR/x.out" | cut -d , -f 1)" "$(ae2addr -c "$TMPDIR/prog" "$TMPDIR/x.out" | awk '$1 == "instructions" { print $2, $1 }')"
else
	skip "no pkg-config"
fi

# The shared library: the example of its page, by pkg-config
if command -v pkg-config >/dev/null && [ -e "$BUILD/lib/libtracemill.so" ]; then
	sed -n '/^#include <stdio.h>/,/^\.Ed/p' man/libtracemill.3 | sed '/^\.Ed/d; s/\\e/\\/g' >"$TMPDIR/stored.c"
	# shellcheck disable=SC2046     # they are words
	ok "pkg-config: the example of libtracemill(3)" gcc -O2 "$TMPDIR/stored.c" $(pc --cflags --libs tracemill) -o "$TMPDIR/stored"
	is "and it counts" "$(LD_LIBRARY_PATH=$top/lib "$TMPDIR/stored" "$TMPDIR/x.ref")" \
		"$(addrconv -f csv "$TMPDIR/x.ref" | awk -F , '$1 == "store" || $1 == "modify" { n += $3 } END { print n, "bytes stored" }')"
fi

if m uninstall; then pass "uninstall"; else fail "uninstall" "$(cat "$TMPDIR/log")"; fi
is "nothing is left" "$(find "$TMPDIR/root" ! -type d)" ""

# Each folder by itself: what looks for others finds them
places="BINDIR=/opt/x/bin LIBDIR=/opt/y/lib64 INCLUDEDIR=/opt/z/inc DATADIR=/opt/u MANDIR=/opt/v/man"
# shellcheck disable=SC2086     # they are arguments
if m install-strip $places; then pass "install with other folders"; else fail "install with other folders" "$(cat "$TMPDIR/log")"; fi
top=$TMPDIR/root/opt
is "all of it is there" "$(cd "$top" && find . -type f | cut -d / -f 2,3 | sort -u | tr '\n' ' ')" \
	"u/bash-completion u/tracemill u/zsh v/man x/bin y/lib64 z/inc "
for t in $TOOLS; do file "$top/x/bin/$t" | grep -q 'not stripped' && echo "$t"; done >"$TMPDIR/wrong"
is "and stripped" "$(cat "$TMPDIR/wrong")" ""
cd "$TMPDIR" || exit 1
ok "aecc finds its runtime" "$top/x/bin/aecc" prog.c -o prog2
ok "aec finds its library and header" "$top/x/bin/aec" -b prog2
ok "and the regenerator works" sh -c 'AE_OUT=x2.out ./prog2 && ./prog2.regen -f text x2.out | grep -q ^inst'
is "tracemill doctor finds the runtime" "$("$top/x/bin/tracemill" doctor | grep -c '^ok  *x86-64 runtime')" 1
is "pkg-config finds them" "$(PKG_CONFIG_PATH=$top/y/lib64/pkgconfig pkg-config --cflags aeregen | tr -d ' ')" -I/opt/z/inc
cd "$SRC" || exit 1
# shellcheck disable=SC2086
if m uninstall $places; then pass "uninstall from there"; else fail "uninstall from there" "$(cat "$TMPDIR/log")"; fi
is "nothing is left there" "$(find "$TMPDIR/root" ! -type d)" ""
tap_end
