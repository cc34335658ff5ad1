# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# able: can programs be captured here?
able() {
	command -v wscap >/dev/null && command -v ws2addr >/dev/null || { echo "no wscap or no ws2addr"; return 1; }
	wscap -o able.ws true 2>able.err || { echo "nothing can be captured here: $(head -n 1 able.err)"; return 1; }
}

# tiny: the program tiny, and its capture tiny.ws
tiny() {
	${CC:-gcc} -nostdlib -static "$HERE/tiny.s" -o tiny && { wscap -o tiny.ws ./tiny >tiny.out; [ $? = 42 ]; }
}

# bytes FILE: how many
bytes() {
	wc -c <"$1" | tr -d ' '
}
