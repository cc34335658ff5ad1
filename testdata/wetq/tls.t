# Names of thread-local variables, in the program and in a library, of members of bits, and of what C++ has: what gdb says is
# there, in the same run by wsgdb; and who wrote a part of a variable is who wrote its address
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v gdb >/dev/null && gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -qx 1 || { skip "no gdb with Python"; exit 0; }
${CXX:-g++} --version >out 2>&1 || { skip "no compiler of C++"; exit 0; }

. "$HERE/lib.sh"
sed -i 's/^source/tbreak work\ncontinue\nsource/' head
cp "$HERE"/tls/*.c "$HERE"/tls/*.cc .

# build HOW OPTIONS: static; or dynamic, with a library
build() {
	kind=$1
	shift
	if [ "$kind" = static ]; then
		${CC:-gcc} -g "$@" -c lib.c near.c && ${CXX:-g++} -g "$@" -static -o prog prog.cc lib.o near.o -pthread
	else
		${CC:-gcc} -g "$@" -shared -fPIC -o libfar.so lib.c && ${CC:-gcc} -g "$@" -c near.c &&
			${CXX:-g++} -g "$@" -o prog prog.cc near.o -L. -lfar -Wl,-rpath,"$PWD" -pthread
	fi
}

for how in "dynamic -O0" "static -O1 -gdwarf-3"; do
	# shellcheck disable=SC2086  # options
	build $how && wscap -o prog.ws ./prog || { fail "$how: a capture"; continue; }
	# of the one with a library only what is about thread-local variables: from line 56 on in add
	wetq list prog.ws | awk -v all="${how%% *}" '($4 ~ /prog\.cc$/ && (all == "static" || ($5 ~ /add$/ && $6 >= 56))) || $4 ~ /lib\.c$/' >own
	# what each line does last, and what uses the frame of each function
	awk '{ last[$4 " " $6] = $1 "#" $2 - 1 } !f[$5]++ { print "-n 30 -r --json uses " $1 "#" int($2 / 2) }
		END { for (l in last) print "-n 1 --json why " last[l] }' own | wetq -i prog.ws >answers 2>err
	n=$(compare)
	is "$how: some have names" "$((n > 10))" 1
	is "$how: right of $n" "$(grep -c '^right$\|^unknown$' said)" "$n"
	is "$how: gdb knows them" "$(($(grep -c '^right$' said) > 0 && ($(grep -c '^unknown$' said) == 0 || $(echo "$how" | grep -c dynamic))))" 1
	is "$how: wrong" "$(grep -v '^right$' said | grep -E '^(wrong|another)')" ""
	cat list >>all
done
for v in shop::seen shop::total calls mine.a mine.low mine.high flags.open flags.level flags.kind flags.wide flags.tiny this-\>price\\[; do
	grep -q "[ >.]$v" all && pass "$v is among them" || fail "$v is among them"
done

# who wrote a part is who wrote its bytes, by gdb's address of it
p=shop::Cart::add#4
printf 'monitor goto %s\nstepi\n' "$(wetq -n 1 at $p prog.ws | sed -n 's/^before instruction \([0-9]*\) .*/\1/p')" >script
parts='this->price[1] this->next this->id shop::seen shop::total mine.a main::b.count far near shop::Cart::carts'
for v in $parts; do
	case $v in main::*) echo up; w=b.count ;; *) w=$v ;; esac
	printf 'printf "%s *0x%%lx:%%d\\n", (long)&%s, (int)sizeof(%s)\n' "$v" "$w" "$w"
done >>script
sed -i '/^tbreak/d; /^continue/d; s/^source check.py/source script/' head
DEBUGINFOD_URLS='' gdb -nx -q -batch -x head prog 2>err </dev/null | grep '\*0x' >places
is "gdb has found them" "$(wc -l <places)" "$(echo "$parts" | wc -w)"
while read -r v at; do
	is "who $v" "$(wetq who "$v@$p" prog.ws 2>&1 | sed 's/.*: nobody/nobody/')" "$(wetq who "$at@$p" prog.ws 2>&1 | sed 's/.*: nobody/nobody/')"
done <places
is "a variable without a point" "$(wetq who shop::total prog.ws)" "$(wetq who shop::total@end prog.ws)"
is "a member of bits" "$(wetq who 'cart->flags.open@bump#3' prog.ws | awk '{ print $2, $3 }')" "prog.cc work"
gives "no member" 1 "wetq: prog.ws: this->zz: it has no member zz" wetq who "this->zz@$p" prog.ws
gives "no element" 1 "wetq: prog.ws: this->price[4]: it has no element 4, but 4" wetq who "this->price[4]@$p" prog.ws
gives "no pointer" 1 "wetq: prog.ws: *this->id: it is no pointer" wetq who "*this->id@$p" prog.ws
gives "no such thing" 1 "wetq: prog.ws: this->price[1]x: it is followed by x" wetq who "this->price[1]x@$p" prog.ws
tap_end
