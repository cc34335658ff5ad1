# The set-up, against a dpkg-query, an apt-get, an id and a sudo of our own
. "$SRC/testdata/tap.sh"
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
cat >stub/id <<'X'
#!/bin/sh
cat uid
X
cat >stub/sudo <<'X'
#!/bin/sh
[ "$1" = -n ] && { shift; [ -e password ] && exit 1; }
[ "$1" = true ] || echo "sudo $*" | sed 's/ [A-Za-z]*::[^ ]*//g; s/ -[^ ]*//g; s/ env [A-Z_]*=/ /' >>calls
"$@"
X
echo 0 >uid
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

# Not root: sudo, which is asked for a password on a terminal only
echo nothing >broken
echo 1000 >uid
rm calls
gives "sudo" 0 "setup: installing mandoc zstd" sh "$SRC/testdata/setup"
is "apt-get is run by it" "$(grep -c '^sudo noninteractive apt-get' calls)" 2
: >password
rm calls
gives "sudo wants a password, and nobody can give it" 1 "setup: missing packages; run as root: apt-get install mandoc zstd" \
	sh "$SRC/testdata/setup"
[ -e calls ] && fail "nothing is run" "$(cat calls)" || pass "nothing is run"
if command -v script >/dev/null; then
	is "on a terminal somebody can" "$(script -q -e -c "sh '$SRC/testdata/setup'" /dev/null </dev/null | tr -d '\r')" \
		"setup: installing mandoc zstd (sudo may ask for your password)"
	is "apt-get is run then" "$(grep -c '^sudo noninteractive apt-get' calls)" 2
else
	skip "no script(1)"
fi
tap_end
