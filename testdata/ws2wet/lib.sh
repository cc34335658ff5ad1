# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# able: can programs be captured, and visited, here?
able() { captures ws2wet; }

# foo1 [OPTION...]: the program of the format's description, compiled so and $static, and its capture foo1.ws with arguments 2 and 7
foo1() {
	cat >foo1.c <<'C'
int x, y, result;
int main(int argc, char **argv)
{
    if(argc >= 3)
    {
       x = atoi(argv[1]);
       y = atoi(argv[2]);
       result = x * 7;
       result = result + y;
       printf("result is %d\n", result);
    }
}
C
	${CC:-gcc} -w -g -O0 ${static-} "$@" foo1.c -o foo1 && wscap --names no -o foo1.ws ./foo1 2 7 >foo1.out
}

# block TEXT ID: the block of a statement
block() {
	awk -v id="$2" 'NR > 1 && /^[0-9]+ [0-9]+ [0-9a-f]+ [^ ]+ [^ ]+ [0-9]+$/ { on = $1 == id } /^ORDER/ { on = 0 } on' "$1"
}

# nameless: files, functions and lines taken out
nameless() {
	awk '/^[0-9]+ [0-9]+ [0-9a-f]+ [^ ]+ [^ ]+ [0-9]+$/ { $4 = "?"; $5 = "?"; $6 = "0" } { print }'
}
