/* aec -b: write the files to a temporary folder, run make there, take the program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aec.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/out.h"

/* Run a program to its end: its exit status, 127 if it cannot be run */
static int
run(char *const argv[])
{
	pid_t pid = fork();
	int st;

	if (pid == 0) {
		dup2(2, 1);     /* standard output is not make's to write to */
		diag_child();
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return 127;
	while (waitpid(pid, &st, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(st) ? WEXITSTATUS(st) : 126;
}

static void
cleanup(const char *dir)
{
	char *argv[] = {"rm", "-rf", (char *)dir, NULL};

	run(argv);
}

/* Copy the built program to its place, under a temporary name first. */
static int
install(const char *from, const char *to)
{
	char *temp = xasprintf("%s.%ld", to, (long)getpid()), buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);
	ssize_t n = -1;

	if (in >= 0 && out >= 0)
		while ((n = read(in, buf, sizeof buf)) > 0)
			if (write(out, buf, (size_t)n) != n) {
				n = -1;
				break;
			}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) != 0)
		n = -1;
	if (n != 0 || rename(temp, to) != 0) {
		unlink(temp);
		n = -1;
	}
	free(temp);
	return (int)n;
}

void
build(struct aec *a, const char *out)
{
	const char *tmp = getenv("TMPDIR"), *cc = getenv("CC"), *cflags = getenv("CFLAGS"), *ld = getenv("LDFLAGS");
	char *dir = xasprintf("%s/aec.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *jobs = xasprintf("-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	char *vcc = xasprintf("CC=%s", cc && *cc ? cc : "cc"), *vcf = xasprintf("CFLAGS=%s", cflags && *cflags ? cflags : "-O2");
	char *vld = xasprintf("LDFLAGS=%s", ld ? ld : ""), *made;
	char *argv[] = {"make", "-s", "-C", dir, jobs, vcc, vcf, vld, NULL};
	int st;

	if (!mkdtemp(dir))
		die_sys("%s", dir);
	a->dir = dir;
	write_files(a);
	unsetenv("MAKEFLAGS");          /* of a make that runs us: its jobs are not ours */
	unsetenv("MFLAGS");
	unsetenv("MAKELEVEL");
	st = run(argv);
	made = xasprintf("%s/prog.regen", dir);
	if (st == 0 && install(made, out) != 0) {
		warn_sys("%s", out);
		st = 1;
	} else if (st == 127)
		warn("make cannot be run");
	else if (st != 0)
		warn("the regenerator does not compile");
	cleanup(dir);
	if (st != 0)
		exit(1);
	free(made);
	free(dir);
	free(jobs);
	free(vcc);
	free(vcf);
	free(vld);
}
