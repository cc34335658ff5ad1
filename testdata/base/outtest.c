/*
 * Outputs and unfinished files: writes TEXT, makes an unfinished folder beside it, then follows its
 * arguments. base/out.t runs it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/out.h"
#include "base/temp.h"

/* FILE.XXXXXX/a/b/c, and 300 files more */
static char *
folder(const char *path)
{
	char *dir = xasprintf("%s.XXXXXX", path), *s;

	if (temp_folder(dir) != 0)
		die_sys("%s", dir);
	s = xasprintf("mkdir -p %s/a/b && echo x >%s/a/b/c && cd %s && seq 300 | xargs touch", dir, dir, dir);
	if (system(s) != 0)
		die("%s", s);
	free(s);
	return dir;
}

int
main(int argc, char **argv)
{
	struct out *out;
	char *dir;
	uint64_t n;

	diag_init(argv[0], 1);
	if (argc != 4)
		die_usage("wanted: output text [close|drop|die|fork|SIGNAL]");
	if (!strcmp(argv[3], "run")) {
		diag_child();
		execlp("sh", "sh", "-c", argv[2], (char *)0);
	}
	out = out_create(argv[1], 0777);
	dir = folder("folder");
	out_str(out, argv[2]);
	out_flush(out);
	if (!strcmp(argv[3], "fork")) {
		/* a child's end is not ours */
		pid_t pid = fork();

		if (pid == 0)
			exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0 || access(dir, F_OK) != 0)
			die("the child removed it");
		out_close(out);
	} else if (!strcmp(argv[3], "close")) {
		out_close(out);
	} else if (!strcmp(argv[3], "drop")) {
		out_discard(out);
	} else if (!num_u64(argv[3], 1, 64, &n)) {
		raise((int)n);
		out_close(out);
	} else {
		die("as told");
	}
	temp_remove(dir);
	free(dir);
	return 0;
}
