# The tree: the rooms' READMEs list each file once; experiments fit the library; scripts are clean; no file that a build leaves is in the way
. "$SRC/testdata/tap.sh"
cd "$SRC" || exit 1

# a README in each room lists its files
for r in src/*/README; do
	d=${r%/README}
	find "$d" -type f ! -name README ! -name '.*' ! -name '*~' | sort >>"$TMPDIR/have"
	sed -n "/^## Files/,\$s,^    \\([a-z][^ ]*\\)  *[^ ].*,$d/\\1,p" "$r"
done | sort >"$TMPDIR/listed"
is "the rooms' READMEs list each file" "$(comm -23 "$TMPDIR/have" "$TMPDIR/listed" | tr '\n' ' ')" ""
is "and no other" "$(comm -13 "$TMPDIR/have" "$TMPDIR/listed" | tr '\n' ' ')" ""
is "and none twice" "$(uniq -d "$TMPDIR/listed" | tr '\n' ' ')" ""
is "each room has one" "$(for d in src/*/; do [ -f "${d}README" ] || echo "$d"; done)" ""
ok "src/README fits one screen" test "$(wc -l <src/README)" -le 50

# the root: what belongs there, what is built, and what git ignores (not if it was committed all the same)
if git rev-parse --verify -q HEAD >/dev/null 2>&1; then
	for f in * .[!.]*; do
		case $f in
		CONTRIBUTING | DEVIATIONS | GNUmakefile | LICENSE | NEWS | README.md | bin | examples | experiments | man | packaging | src | testdata) continue ;;
		.ci | .git | .gitignore | build | "$(basename "$BUILD")") continue ;;
		esac
		git check-ignore -q "$f" || echo "$f"
	done >"$TMPDIR/stray"
	is "nothing strays in the root" "$(tr '\n' ' ' <"$TMPDIR/stray")" ""
	XZ_OPT=-0 make -s dist O="$TMPDIR/dist" >/dev/null 2>&1
	is "the distribution has what is for its users" "$(tar tf "$TMPDIR"/dist/*.tar.xz | cut -d / -f 2 | sort -u | tr '\n' ' ')" \
		" CONTRIBUTING DEVIATIONS GNUmakefile LICENSE NEWS README.md bin examples experiments man packaging src testdata "
	is "and nothing that is for git or for CI" "$(tar tf "$TMPDIR"/dist/*.tar.xz | grep '/\.[^/]')" ""
	tar xf "$TMPDIR"/dist/*.tar.xz -C "$TMPDIR"
	version=$(sed -n 's/^VERSION = //p' GNUmakefile)
	ok "it can be built" make -n -s -C "$TMPDIR/tracemill-$version" O="$TMPDIR/made" all
	make -n -s -C "$TMPDIR/tracemill-$version" O="$TMPDIR/made" >"$TMPDIR/plain" 2>&1
	is "and a plain make builds all tools" "$(for t in $TOOLS; do grep -q "LINK.* bin/$t\$\|/bin/$t " "$TMPDIR/plain" || echo "$t"; done)" ""
	is "the version is in one place" "$(git ls-files bin src man GNUmakefile | xargs grep -n -F -w "$version" |
		grep -E "[Vv]ersion|VERSION|tracemill" | grep -v '^GNUmakefile:[0-9]*:VERSION = ')" ""
	grep -q "^$version " NEWS && pass "and NEWS has it" || fail "and NEWS has it"
else
	skip "no git repository"
fi

# what experiments build themselves, with the library as it is now
for f in $(grep -l '^#include "' experiments/*.c experiments/*/*.c); do
	# shellcheck disable=SC2086	# ccache gcc is two words
	ok "$f compiles" ${CC:-gcc} -std=gnu17 -Wall -Werror -fsyntax-only -Isrc "$f"
done

command -v shellcheck >/dev/null || skip "no shellcheck"
# SC1091: what is sourced is checked by itself; SC2034, SC2154: set here and used there; SC2010, SC2238: `ls | grep`, a file named cut;
# SC3044: takes `run suspend` for the builtin; SC2015: `test && pass || fail`, where pass cannot fail
if command -v shellcheck >/dev/null; then
	# what changed lately: it takes half a minute for all, and those that did not change were checked when they did
	recent=
	[ "${MATRIX-}" = full ] || recent=$(git log -n 30 --format= --name-only 2>/dev/null && git ls-files -m -o --exclude-standard)
	set --
	for f in .ci/run testdata/setup testdata/run testdata/*.sh testdata/*/*.sh testdata/*/*.t src/ae/*/aecc.conf bin/* packaging/* experiments/* experiments/*/*; do
		[ -f "$f" ] || continue
		case $f in
		*.sh | *.t | *.conf) ;;
		*)	first=
			read -r first <"$f"
			case $first in '#!'*sh) ;; *) continue ;; esac ;;
		esac
		[ -h "$f" ] && continue
		case "
$recent
" in
		"

" | *"
$f
"*) set -- "$@" "$f" ;;
		esac
	done
	# one run for all of them, with a line for each fault: FILE:LINE:...
	[ $# = 0 ] || shellcheck -s sh -S warning -e SC1091,SC2034,SC2154,SC2010,SC2238,SC2015,SC3043,SC3044 -f gcc "$@" >"$TMPDIR/check" 2>&1
	status=$?
	bad=" $(cut -d : -f 1 "$TMPDIR/check" | sort -u | tr '\n' ' ')" none=
	for f; do
		case $bad in
		*" $f "*) none=1; fail "shellcheck $f" "$(grep -F "$f:" "$TMPDIR/check")" ;;
		*) pass "shellcheck $f" ;;
		esac
	done
	is "shellcheck says no other" "$status" "${none:-0}"
fi
tap_end
