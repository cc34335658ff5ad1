# JSON of the tools: every kind of value, quoting, UTF-8 that is wrong; read back by Perl where it can
. "$SRC/testdata/tap.sh"
json=$BUILD/test/jsontest
cat >want <<'X'
{
  "nothing": {},
  "numbers": [
    18446744073709551615,
    0.1,
    0.33333333333333331,
    -1e+300,
    null,
    null
  ],
  "strings": {
    "\"\\\u000a\u0001": "tab\u0009, é, €, 😀",
    "wrong": "\ufffd \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd\ufffd \ufffd\ufffd",
    "none": null,
    "inner": [
      []
    ]
  }
}
X
"$json" >got
same "the text" got want
if perl -MJSON::PP -e1 2>/dev/null; then
	perl -MJSON::PP -e 'undef $/; my $v = decode_json(<STDIN>); print "$v->{numbers}[0] $v->{numbers}[2] ", length($v->{strings}{wrong}), " ", scalar @{$v->{strings}{inner}}, "\n"' <got >read
	is "read back" "$(cat read)" "18446744073709551615 0.333333333333333 16 1"
fi
gives "a full disk" 1 "jsontest: standard output: No space left on device" sh -c "'$json' >/dev/full"
tap_end
