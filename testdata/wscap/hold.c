/* A mapped file of which little is read: hold NAME [shared]; prints what was read */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (2u << 20)
static int fd, sharing = MAP_PRIVATE;
static const char *name = "data.tmp";

static unsigned
word(const char *p, size_t at)
{
	unsigned v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

static char *
map(int prot)
{
	char *p = mmap(NULL, SIZE, prot, sharing, fd, 0);

	if (p == MAP_FAILED)
		exit(9);
	return p;
}

/* Mappings inside and out of the recorder: it comes after some calls. */
static void
warm(void)
{
	for (int i = 0; i < 100; i++)
		if (getppid() < 0 || munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096))
			exit(9);
}

/* Another mapping in its place, at once written to if it may be; no call is made until then. */
static char *
over(char *p, size_t at, size_t size, int prot, int file, off_t offset)
{
	char *q = mmap(p + at, size, prot, MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0), file, offset);

	if (q != p + at)
		exit(9);
	if (prot & PROT_WRITE) {
		q[5] = (char)(q[5] + 7);
		q[20001] = (char)(q[20001] + 7);
	}
	return q;
}

/* As a dynamic loader maps a library: all of it, then its parts over that; also over what it has looked at. */
static unsigned
load(void)
{
	char *p = map(PROT_READ), *code = over(p, 65536, 65536, PROT_READ | PROT_EXEC, fd, 65536);
	char *data = over(p, 262144, 131072, PROT_READ | PROT_WRITE, fd, 1 << 20);
	char *zero = over(p, 393216, 65536, PROT_READ | PROT_WRITE, -1, 0);
	unsigned sum = word(data, 4) + word(data, 20000) + word(data, 70000) + word(zero, 20000) + word(zero, 30000);

	if (mprotect(data, 8192, PROT_READ) || munmap(p + (1 << 20), 65536))
		exit(9);
	sum += word(code, 4) + word(p, 600000) + word(p, 1400000);
	data = over(p, 590000 / 4096 * 4096, 65536, PROT_READ | PROT_WRITE, fd, 1 << 20);
	code = over(p, 1400000 / 4096 * 4096, 65536, PROT_READ | PROT_EXEC, fd, 1 << 20);
	sum += word(data, 4) + word(data, 30000) + word(code, 8192);
	data = over(code, 0, 65536, PROT_READ | PROT_WRITE, fd, 4096);
	sum += word(data, 20000) + word(data, 60000) + (unsigned)data[5];
	if (munmap(p, 65536) || mprotect(code, 65536, PROT_READ))
		exit(9);
	lseek(-1, sum, SEEK_SET);       /* a replay compares registers there */
	return sum;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *p, *q, text[100];
	unsigned sum = 0;
	pid_t pid;

	fd = open(name, O_RDWR);
	if (fd < 0)
		return 9;
	if (argc > 2)
		sharing = MAP_SHARED;
	warm();
	p = map(strcmp(what, "private") ? PROT_READ : PROT_READ | PROT_WRITE);
	sum = word(p, 70000) + word(p, 1000000);
	if (!strcmp(what, "unmap")) {                   /* the pages are gone before anybody looks */
		munmap(p, SIZE);
	} else if (!strcmp(what, "over")) {
		q = mmap(p + 65536, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		sum += word(q, 8192) + word(p, 300000);
	} else if (!strcmp(what, "file")) {             /* another part of the file in its place */
		mmap(p + 65536, 131072, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 1 << 20);
		sum += word(p, 70000) + word(p, 300000);
	} else if (!strcmp(what, "advise")) {
		madvise(p, SIZE, MADV_DONTNEED);
		sum += word(p, 70000) + word(p, 200000);
	} else if (!strcmp(what, "move")) {
		q = mremap(p, SIZE, SIZE / 2, 0);
		q = mremap(q, SIZE / 2, SIZE / 2, MREMAP_MAYMOVE | MREMAP_FIXED,
		    mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		sum += word(q, 70000) + word(q, 300000);
	} else if (!strcmp(what, "private")) {
		p[70001] = p[400000] = 7;
		sum += word(p, 70000) + word(p, 400004);
		if (pread(fd, p + 500001, 10, 3) != 10)
			return 9;
		sum += word(p, 500000) + word(p, 503000);
	} else if (!strcmp(what, "write")) {            /* what was read is not in the file any more */
		memset(text, 'x', sizeof(text));
		if (pwrite(fd, text, sizeof(text), 70000 - 20) != sizeof(text) || pwrite(fd, text, 10, 900000) != 10)
			return 9;
		sum += word(p, 70000) + word(p, 900000) + word(p, 800000);
	} else if (!strcmp(what, "shared")) {
		q = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		sum += word(q, 70000);
	} else if (!strcmp(what, "cut")) {
		close(open(name, O_RDWR | O_TRUNC));
	} else if (!strcmp(what, "fork") || !strcmp(what, "vfork")) {
		pid = what[0] == 'v' ? vfork() : fork();
		if (!pid) {
			volatile unsigned k = word(p, 70000) + word(p, 1500000);

			if (what[0] == 'f')
				munmap(p, 65536);
			_exit((int)(k % 50));
		}
		wait(&fd);
		sum += word(p, 1800000) + (unsigned)fd;
	} else if (!strcmp(what, "protect")) {          /* it writes where it could only read before */
		mprotect(p, SIZE, PROT_READ | PROT_WRITE);
		sum += word(p, 900000) + word(p, 1200000);
		p[900001] = p[300000] = 7;
		sum += word(p, 900000) + word(p, 300000);
	} else if (!strcmp(what, "child")) {            /* a child writes to the file, through a mapping of its own */
		pid = fork();
		if (!pid) {
			q = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			q[900001] = q[70001] = 7;
			_exit(0);
		}
		wait(&fd);
		sum += word(p, 900000) + word(p, 70000) + word(p, 1200000);
	} else if (!strcmp(what, "exec")) {
		execl("/bin/echo", "echo", sum % 3 ? "a" : "b", (char *)NULL);
	} else if (!strcmp(what, "kill")) {
		printf("%u\n", sum);
		fflush(stdout);
		kill(getpid(), SIGKILL);
	} else if (!strcmp(what, "load")) {
		for (int i = 0; i < 3; i++)
			sum += load();
	} else if (!strcmp(what, "late")) {             /* after the capture was written up to here */
		while (access("go", F_OK))
			usleep(20000);
		sum += word(p, 1600000) + word(p, 70000);
	}
	printf("%u\n", sum);
	return 0;
}
