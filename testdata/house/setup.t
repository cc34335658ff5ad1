# The set-up, against a dpkg-query and an apt-get of our own
. "$SRC/testdata/tap.sh"
[ "$(id -u)" = 0 ] || { skip "not root: sudo would be asked"; exit 0; }
mkdir stub
cat >stub/dpkg-query <<'X'
#!/bin/sh
for p; do :; done
grep -q "^$p$" missing && { echo "no packages found matching $p" >&2; exit 1; }
echo 'install ok installed'
X
cat >stub/apt-get <<'X'
#!/bin/sh
echo "$DEBIAN_FRONTEND: $*" | sed 's/ -[^ ]*//g; s/ [A-Za-z]*::[^ ]*//g' >>calls
case " $* " in *" $(cat broken) "*) echo "E: no network"; exit 100 ;; esac
X
chmod +x stub/*
PATH=$(pwd)/stub:$PATH

echo none >missing
echo nothing >broken
gives "nothing is missing" 0 "" sh "$SRC/testdata/setup"
[ -e calls ] && fail "apt-get is left alone" "$(cat calls)" || pass "apt-get is left alone"
printf 'zstd\nmandoc\n' >missing
gives "two are missing" 0 "setup: installing mandoc zstd" sh "$SRC/testdata/setup"
is "they are installed after an update" "$(cat calls)" "noninteractive: update
noninteractive: install mandoc zstd"
printf 'clang\n' >missing
gives "one that is asked for" 0 "setup: installing clang" sh "$SRC/testdata/setup" clang zstd
printf 'zstd\nmandoc\n' >missing
echo install >broken
gives "apt-get fails" 1 "setup: installing mandoc zstd
E: no network
setup: cannot install mandoc zstd" sh "$SRC/testdata/setup"
tap_end
