# Arguments and environments, as long and as many as the system takes
. "$HERE/lib.sh"
cat >args.c <<-'EOF'
	#include <stdio.h>
	#include <string.h>
	/* how many, bytes of all, of the environment; a sum of what is in them */
	static void all(char **v)
	{
		unsigned long n = 0, bytes = 0, sum = 0;

		for (; v[n]; n++) {
			bytes += strlen(v[n]);
			for (const char *s = v[n]; *s; s++)
				sum = sum * 31 + (unsigned char)*s;
		}
		printf("%lu %lu %lu\n", n, bytes, sum);
	}
	int main(int argc, char **argv, char **env)
	{
		(void)argc;
		all(argv + 1);
		all(env);
		return 0;
	}
EOF
gcc -O2 -static -o args args.c || exit 1

long=$(head -c 100000 /dev/zero | tr '\0' x)
for opts in '' --first-touch; do
	# shellcheck disable=SC2086
	captured "an argument of 100 KB $opts" $opts -- ./args a "$long" b
done
is "wsinfo has it" "$(wsinfo c.ws | sed -n 's/^arguments  *//p' | wc -c)" 100012
# shellcheck disable=SC2046
captured "70,000 arguments" -- ./args $(seq 70000)
is "wsinfo has them" "$(wsinfo c.ws | sed -n 's/^arguments  *//p' | wc -w)" 70001
export LONG="$long" OTHER="$long"
captured "an environment of 200 KB" -- ./args a
unset LONG OTHER
# the most there are: 6 MB with their addresses
# shellcheck disable=SC3045
if ulimit -S -s unlimited 2>err; then
	# shellcheck disable=SC2046
	captured "600,000 arguments" -- ./args $(seq 600000 | sed 's/.*/a/')
else
	skip "the stack is limited"
fi
tap_end
