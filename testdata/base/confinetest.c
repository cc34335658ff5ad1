/*
 * confinetest what: after confine(), does it and says how it went:
 *   execve socket fork kill ptrace rename unlink	what no tool does
 *   open write mkdir link	files
 *   int80	a system call of 32-bit programs
 *   thread other	in a thread started afterwards, and in one that was there
 *   output FILE	an output that is finished afterwards
 *   elf FILE, text FILE, temporary	what the helper does
 *   memory	fills memory without end
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/out.h"
#include "base/temp.h"

static int go[2];

static int
try(const char *what, const char *file)
{
	char *argv[] = { (char *)"touch", (char *)(file ? file : "MADE"), NULL }, *env[] = { NULL };
	int r = -1;

	if (!strcmp(what, "execve"))
		return execve("/usr/bin/touch", argv, env);
	if (!strcmp(what, "socket"))
		return socket(AF_UNIX, SOCK_STREAM, 0);
	if (!strcmp(what, "fork"))
		return fork();
	if (!strcmp(what, "kill"))
		return kill(getppid(), 0);
	if (!strcmp(what, "ptrace"))
		return (int)ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
	if (!strcmp(what, "rename"))
		return rename("there", "MADE");
	if (!strcmp(what, "unlink"))
		return unlink("there");
	if (!strcmp(what, "open"))
		return open("there", O_RDONLY);
	if (!strcmp(what, "write"))
		return open("MADE", O_WRONLY | O_CREAT, 0666);
	if (!strcmp(what, "mkdir"))
		return mkdir("MADE", 0777);
	if (!strcmp(what, "elf"))
		return helper_open(file, HELPER_ELF);
	if (!strcmp(what, "text"))
		return helper_open(file, HELPER_TEXT);
	if (!strcmp(what, "temporary"))
		return temp_unnamed("confinetest");
	if (!strcmp(what, "int80"))
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");   /* getpid */
	return r;
}

static void *
thread(void *arg)
{
	char c;

	if (arg && read(go[0], &c, 1) != 1)
		return NULL;
	errno = 0;
	(void)try("open", NULL);
	printf("%s\n", strerror(errno));
	return NULL;
}

static void
memory(void)
{
	size_t n = UINT64_C(1) << 40;
	volatile char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);

	for (size_t i = 0; p != MAP_FAILED && i < n && !confine_memory_exceeded(); i += 4096)
		p[i] = 1;
	printf("%s\n", confine_memory_exceeded() ? confine_memory_exceeded() : "no bound");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *why, *file = argc > 2 ? argv[2] : NULL;
	struct out *o = NULL;
	pthread_t t;
	int r;

	diag_init(argv[0], 1);
	helper_allow(getenv("MAY") ? HELPER_ELF | HELPER_TEXT | HELPER_TEMP : HELPER_ELF);
	if (pipe(go) != 0 || (!strcmp(what, "other") && pthread_create(&t, NULL, thread, go) != 0))
		return 2;
	if (!strcmp(what, "output"))
		o = out_open(file);
	if (confine_process(NULL, NULL, &why) != 0)
		die("%s", why);
	if (o) {
		out_str(o, "done\n");
		out_close(o);
		return 0;
	}
	if (!strcmp(what, "memory")) {
		memory();
		return 0;
	}
	if (!strcmp(what, "thread") || !strcmp(what, "other")) {
		if (*what == 't' ? pthread_create(&t, NULL, thread, NULL) != 0 : write(go[1], "", 1) != 1)
			return 2;
		pthread_join(t, NULL);
		return 0;
	}
	errno = 0;
	r = try(what, file);
	printf("%s\n", r < 0 ? strerror(errno) : "done");
	return 0;
}
