# tracemill doctor: one line for each thing; what is missing or limited here is said, and decides the status
. "$SRC/testdata/tap.sh"

tracemill doctor >all 2>err
status=$?
is "nothing goes to standard error" "$(cat err)" ""
is "all lines begin with their word" "$(grep -v -E '^(ok      |limited |missing )[^ ].{17}[^ ]' all)" ""
missing=
for tool in $TOOLS; do
	[ "$tool" = tracemill ] || grep -q "^ok      $tool " all || missing="$missing $tool"
done
is "each tool is there and runs" "$missing" ""
for what in ptrace confinement rdtsc 'debug registers' cpuid processor 'address space' memory limits 'this folder' 'temporary files' \
	'wscap -> ws2addr' 'x86-64 runtime' 'x86-64 compiler' 'mipsel runtime' 'mips compiler' valgrind qemu-mipsel gnuplot; do
	grep -q -E "^(ok      |limited |missing )$what  *[^ ]" all && pass "$what" || fail "$what" "$(cat all)"
done
# where the tests run, both ways work: other tests need them
is "both ways work here" "$status $(grep -c -E '^(ok|limited) +(wscap -> ws2addr|aecc -> ae2addr) ' all)" "0 2"
[ $status = 0 ] || sed 's/^/# /' all
is "nothing is left of it" "$(ls "$TMPDIR")" ""

# doctor in a folder with some of the tools, and nothing else in PATH but what is named
mkdir -p bin path
cp "$BUILD/bin/tracemill" bin
in_path() { for f; do ln -s "/bin/$f" path; done; }  # command -v knows the builtin only
says() {
	what=$1 want=$2
	shift 2
	env "$@" PATH="$PWD/path" bin/tracemill doctor >few 2>err
	got=$?
	grep -q -x -F "$want" few && pass "$what" || fail "$what" "$want
not in:
$(cat few err)"
}
says "no tools" "missing wscap -> ws2addr  wscap is not installed"
is "status" $got 1
is "all tools are missing" "$(grep -c '^missing [^ ]* *not in .*/bin or PATH' few)" "$(($(echo "$TOOLS" | wc -w) - 1))"
says "what a tool is built with" "missing aerw              not in $(pwd -P)/bin or PATH: it is built with libzydis-dev libdw-dev libiberty-dev"
says "programs that are not there" "missing gnuplot           for the pictures of the demo (Debian package gnuplot-nox)"
says "compilers" "missing mips compiler     mips-linux-gnu-gcc (Debian packages gcc-mips-linux-gnu libc6-dev-mips-cross)"
in_path true
for tool in wscap ws2addr; do ln -s "$BUILD/bin/$tool" bin; done
says "one way" "missing aecc              not in $(pwd -P)/bin or PATH"
is "status of one way" "$got $(grep -c '^ok  *wscap -> ws2addr ' few)" "1 1"

# what the environment and the limits change
says "no confinement" "limited confinement       off, as TRACEMILL_CONFINE=no says: a capture needs the same trust as a program" TRACEMILL_CONFINE=no
says "no traps" "limited rdtsc             does not fault: wscap stops at those that it finds in the code (wscap(1), BUGS)" TRACEMILL_TRAPS=no
says "a bad bound of memory" "missing memory            TRACEMILL_MEMORY is many, which is no number of bytes: captures are not executed" TRACEMILL_MEMORY=many
is "then captures are not replayed" "$(grep -c '^missing wscap -> ws2addr' few)" 1
says "a small one" "limited memory            a replay may fill 0.5 GB: large programs fill more" TRACEMILL_MEMORY=512M
(
	ulimit -f 100000
	env PATH="$PWD/path" bin/tracemill doctor >few
)
is "a limit of the shell" "$(grep -c '^limited limits *ulimit -f: [0-9]* bytes in a file' few)" 1

# a tool that fails, one of another version, one that never worked
rm bin/ws2addr
printf '#!/bin/sh\necho "ws2addr: broken" >&2\nexit 1\n' >bin/ws2addr
printf '#!/bin/sh\necho "wsinfo (tracemill) 0.0"\n' >bin/wsinfo
printf '\177ELF' >bin/bifcm
chmod +x bin/*
in_path sh
says "a tool that fails" "missing ws2addr           does not run: ws2addr: broken"
is "status of a way that fails" "$got $(grep -c '^missing wscap -> ws2addr  ws2addr: broken$' few)" "1 1"
says "another version" "limited wsinfo            has another version, 0.0"
says "what cannot be executed" "missing bifcm             does not run: Exec format error"
tap_end
