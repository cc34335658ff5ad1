# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# able: can programs be captured here?
able() { captures ws2addr; }

# tiny: the program tiny, and its capture tiny.ws
tiny() {
	${CC:-gcc} -nostdlib -static "$HERE/tiny.s" -o tiny && { wscap -o tiny.ws ./tiny >tiny.out; [ $? = 42 ]; }
}

# bytes FILE: how many
bytes() {
	wc -c <"$1" | tr -d ' '
}
