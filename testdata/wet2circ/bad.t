# Malformed text: one line that says where and what, status 1
. "$SRC/testdata/tap.sh"

good() {
	cat <<-'T'
		2
		7 2 a0 t.c main 1
		SIZE 1
		    1:9 0
		SIZE 2
		    0:9 0
		    1:7 0
		VALUES 2
		    0:1
		    1:ff
		9 1 a4 t.c main 2
		SIZE 0
		NO VALUES
		ORDER 3
		9 1
		7 1
		7 1
	T
}
good >good.wet
is "good text is read" "$(wet2circ good.wet | wc -l | tr -d ' ')" 3

# bad WHAT LINE MESSAGE SED: the good text, edited
bad() {
	good | sed "$4" >bad.wet
	gives "$1" 1 "wet2circ: bad.wet: line $2: $3" wet2circ bad.wet
}
entry='no entry `X:id instance'"'"
bad "no count" 1 "no number of statements" '1s/2/two/'
bad "a count with a sign" 1 "no number of statements" '1s/^/+/'
bad "too few statements" 14 "no statement: id, use ports, address, file, function, line" '1s/2/3/'
bad "too many statements" 11 "something after all 1 statements" '1s/2/1/'
bad "an id twice" 11 "statement 7 for the second time" '11s/9/7/'
bad "an unknown id" 6 "there is no statement 8" '6s/9/8/'
bad "no use port" 11 "0 use ports" '11s/9 1/9 0/'
bad "too many use ports" 11 "4294967296 use ports" '11s/9 1/9 4294967296/'
bad "an address that is none" 2 "no statement: id, use ports, address, file, function, line" '2s/a0/g0/'
bad "no function" 2 "a statement without a function and a line number" '2s/ main//'
bad "a list is too short" 8 "$entry" '5s/2/3/'
bad "a list is too long" 7 "no VALUES or NO VALUES" '5s/2/1/'
bad "no list" 3 "no SIZE" '3s/SIZE/size/'
bad "a list without a number" 3 "no SIZE" '3s/ 1//'
bad "a huge list" 8 "$entry" '5s/2/18446744073709551615/'
bad "a number of more than 64 bits" 5 "no SIZE" '5s/2/18446744073709551616/'
bad "an entry without a colon" 6 "$entry" '6s/:/ /'
bad "an entry behind a later one" 7 "entry 1 after entry 3" '6s/0:/3:/'
bad "an instance that is not there" 6 "instance 1 of statement 9, which has 1" '6s/9 0/9 1/'
bad "another that is not there" 7 "instance 2 of statement 7, which has 2" '7s/7 0/7 2/'
bad "an entry of an instance that is not there" 8 "2 values, but a dependence of instance 5" '7s/1:/5:/'
bad "a value that is no number" 9 'no value `X:hexadecimal number'"'" '9s/1/x/'
bad "a value twice" 10 "entry 0 after entry 0" '10s/1:/0:/'
bad "a value is missing" 10 'no value `X:hexadecimal number'"'" '10d'
bad "no values are said" 8 "no VALUES or NO VALUES" '8,10d'
bad "an order too short" 17 "something after the order" '14s/3/2/'
bad "an order with a statement too few" 16 "the order has statement 7 1 times, not 2" '14s/3/2/;17d'
bad "an order too long" 18 'the text ends, `id count'"'"' of the order is missing' '14s/3/4/'
bad "an order of what is not there" 15 "there is no statement 10" '15s/9/10/'
bad "an order of nothing" 15 "0 statements from 9" '15s/9 1/9 0/'
bad "an order of too much" 16 "there is no statement 8" '16s/7 1/7 2/'
bad "an order without a statement" 4 "instance 0 of statement 9, which has 0" '15d;14s/3/2/'
bad "something after all" 18 "something after the order" '$a\
x'
gives "nothing" 1 "wet2circ: standard input: line 1: the text ends, number of statements is missing" wet2circ </dev/null
head -c 70000 /dev/zero | tr '\0' '1' >long.wet
gives "a line without an end" 1 "wet2circ: long.wet: line 1: a line of more than 65536 bytes" wet2circ long.wet
{ printf '1\n1 1 a '; head -c 100000000 /dev/zero | tr '\0' x; } >long.wet
gives "a statement without an end" 1 "wet2circ: long.wet: line 2: a line of more than 65536 bytes" sh -c 'case $SAN in *address*) ;; *) ulimit -v 400000 ;; esac; exec wet2circ long.wet'
gives "a file that is not there" 1 "wet2circ: none.wet: No such file or directory" wet2circ none.wet
gives "no dependences wanted" 2 "wet2circ: -n 0: not a number from 1 to 4294967295; see wet2circ --help" wet2circ -n 0 good.wet

# cut off anywhere: status 1 but for whole texts
n=$(wc -c <good.wet)
order=$(good | sed '/^ORDER/,$d' | wc -c)
is "cut off anywhere" "$(damaged good.wet cut.wet - wet2circ cut.wet)" "$(printf ' %s:0' $((order - 1)) "$order" $((n - 1)))"

# any byte another one: read, or refused by one line
is "other bytes anywhere" "$(damaged -0 -b 00,ff,39,20,0a -s 3 good.wet flip.wet - wet2circ flip.wet)" ""
tap_end
