/* mostmem COMMAND...: prints, to standard error, the most memory that a process of it had, in KiB. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage u;
	pid_t pid = argc > 1 ? fork() : -1;
	int status;

	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || getrusage(RUSAGE_CHILDREN, &u) != 0)
		return 1;
	fprintf(stderr, "%ld\n", u.ru_maxrss);
	return 0;
}
