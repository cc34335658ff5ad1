# Programs for i386 are not captured: they run to their ends, and their runs have no instructions
. "$HERE/lib.sh"
as --32 -o i386.o "$HERE/i386.s" && ld -m elf_i386 -o i386 i386.o || exit 1
./i386 >want.out 2>/dev/null
if [ $? != 3 ]; then
	skip "the kernel executes no programs for i386"
	tap_end
	exit
fi
for i in on off; do
	wscap --recorder $i -o c.ws ./i386 >got.out 2>got.err
	is "--recorder $i: status" $? 3
	same "--recorder $i: output" got.out want.out
	is "--recorder $i: messages" "$(cat got.err)" "wscap: the capture ends here, the program continues: it is a 32-bit program"
	is "--recorder $i: replayed" "$(ws2addr -c c.ws 2>/dev/null | head -n 1)" "instructions 0"
	wscap --recorder $i -o c.ws sh -c './i386; echo $?; ./i386' >got.out 2>got.err
	is "--recorder $i, executed by a script: status" $? 3
	is "--recorder $i, executed by a script: output" "$(cat got.out)" "ok
3
ok"
	is "--recorder $i, executed by a script: messages" "$(grep -c '\[.*it is a 32-bit program' got.err)" "$(grep -c '' got.err)"
	ok "--recorder $i, executed by a script: replayed" ws2addr -c c.ws
done
tap_end
