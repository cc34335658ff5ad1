# aec --print-schema, --schema: the schemas of real programs as text, and back
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

# Programs of all kinds: what aec makes of the text is, byte for byte, what it makes of the section
for p in calls callback jumps copy strings vector tls sort interp endings stack; do
	set -- "$SRC/testdata/ae/prog/$p.c"
	for more in "$SRC/testdata/ae/prog/$p".*.c; do
		case $more in *'*'* | *.plain.c) ;; *) set -- "$@" "$more" ;; esac
	done
	# functions of the plain files are left undefined here: nothing is run
	for o in -O0 -O2; do
		turn 3 || continue
		aecc $o -Wl,--unresolved-symbols=ignore-all -pthread "$@" -o prog -lm >err 2>&1 || { fail "$p $o" "$(cat err)"; continue; }
		rm -rf a b
		if aec --print-schema prog >text && aec -o a prog && aec -o b --schema text prog && diff -r a b >diff &&
		    aec --print-schema --schema text prog | cmp -s - text; then
			pass "$p $o"
		else
			fail "$p $o" "$(head -n 5 diff)"
		fi
	done
done

aecc -O1 -g "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
ok "-o" aec --print-schema -o matrix.sma matrix
is "source lines" "$(grep -c '^start_block.* ; matrix.c:[0-9]*$' matrix.sma)" "$(grep -c '^start_block' matrix.sma)"
is "names of data" "$(sed -n 's/^field 0 .* ; 0x[0-9a-f]* //p' matrix.sma)" a
is "the figure's store" "$(grep -c '^store_inst.4:[0-9]* 0(#r' matrix.sma)" 1
ok "-b --schema" aec -b --schema - matrix <matrix.sma
both matrix ae.out && pass "regenerates" || fail "regenerates" "$(cat a.err b.err)"

# It is the text that counts: a store that became a load
sed 's/^store_inst.4:/load_inst.4:/' matrix.sma >loads
ok "changed" aec -b --schema loads matrix
both matrix ae.out && fail "regenerates otherwise" || pass "regenerates otherwise"
is "the stores are loads" "$(addrdiff a.ref b.ref 2>&1 | grep -c 'first difference\|differ')" 1

cp matrix other && objcopy --remove-section .aeschema other
ok "a program without its section" aec -b --schema matrix.sma -o matrix.regen other
both matrix ae.out && pass "regenerates too" || fail "regenerates too" "$(cat a.err b.err)"

# What is wrong with a text
gives "another executable's" 1 "aec: text: this is not the schema of matrix, but that of another executable" aec -o dir --schema text matrix
head -n 20 matrix.sma >cut
gives "cut off" 1 "aec: cut: line 20: the text ends before the last block" aec -o dir --schema cut matrix
sed '$d' matrix.sma >cut
gives "cut off at the end" 1 "aec: cut: line $(wc -l <cut): the text ends before end_schema" aec -o dir --schema cut matrix
sed 's/^need .*/need R4/' matrix.sma >bad
gives "another machine's" 1 "aec: bad: line $(grep -n '^need' bad | sed 's/:.*//; 1q'): no register or variable: 'R4'" aec -o dir --schema bad matrix
sed 's/^need .*/need rsp/' matrix.sma >bad
gives "what the program cannot have" 1 "aec: bad: bad schema: register given twice at entry" aec -o dir --schema bad matrix
: >empty
gives "nothing" 1 "aec: empty: contains no schema" aec -o dir --schema empty matrix
gives "no text" 1 "aec: none: No such file or directory" aec -o dir --schema none matrix
gives "both" 2 "aec: only one of -b and --print-schema can be given; see aec --help" aec -b --print-schema matrix

# The paper's example on its machine: figure 3 as it is in ae-schema(5), which shows both side by side; programs of both byte orders
sed -n '/^\.Sh TEXT/,/^\.Ed/p' "$SRC/man/ae-schema.5" | sed -n '/aec --print-schema$/,/^\.Ed/p' | sed '1d; /^\./d; s/^\\&//' >page
cut -c39- page | sed 's/ *$//; /^$/d' >ours
cut -c1-38 page | sed 's/ *$//; /^$/d; /omitted\|includes\|^uneventful\|^end_block 3/d' >figure
is "the paper's lines are ours, but for combined placeholders" "$(grep -v -x -F -f ours figure)" ""
for m in mipsel mips; do
	for tool in $m-linux-gnu-gcc qemu-$m; do
		command -v $tool >/dev/null || { skip "no $tool"; continue 2; }
	done
	AERW_AS=$m-linux-gnu-as aerw -p -m $m -o example.s "$SRC/testdata/ae/paper/example.s" &&
	    $m-linux-gnu-gcc -c example.s -o example.o && aecc --target=$m example.o -o example || exit 1
	aec --print-schema example | sed -n '/^start_function sub/,/^end_function/p' | sed '/^$/d' >printed
	same "figure 3 on $m" ours printed
	# figure 4, with the prologue and epilogue
	aec -o regen example
	sed -n '/^__ae_sub/,/^}/p' regen/*.sma.c | grep -v 'const uint64_t in_pc' >printed
	same "figure 4 on $m" "$SRC/testdata/aec/figure4" printed
	ok "matrix.c for $m" aecc --target=$m -O2 "$SRC/testdata/aec/matrix.c" -o matrix
	AE_OUT=ae.out qemu-$m -L /usr/$m-linux-gnu ./matrix
	aec --print-schema matrix >text
	ok "-b --schema" aec -b --schema text matrix
	both matrix ae.out && pass "regenerates" || fail "regenerates" "$(cat a.err b.err)"
done
tap_end
