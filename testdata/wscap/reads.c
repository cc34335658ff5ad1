/* Reads the file data in many ways: reads [both]; prints a sum for each */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char room[1 << 20];
static unsigned sum;

static void
add(const unsigned char *p, ssize_t n)
{
	unsigned long v;

	for (ssize_t i = 0; i + 8 <= n; i += 8) {
		memcpy(&v, p + i, 8);
		sum = sum * 31 + (unsigned)v + (unsigned)(v >> 32) * 7;
	}
}

static void
say(const char *what)
{
	lseek(-1, sum, SEEK_SET);       /* a replay compares registers there */
	printf("%s %u\n", what, sum);
	fflush(stdout);
}

/* all of it, n bytes at a time, to room + at */
static void
whole(int fd, size_t n, size_t at)
{
	ssize_t k;

	lseek(fd, 0, SEEK_SET);
	while ((k = read(fd, room + at, n)) > 0)
		add(room + at, k);
}

int
main(int argc, char **argv)
{
	int fd = open("data", O_RDONLY), own, status;

	(void)argv;
	if (fd < 0)
		return 9;
	if (argc > 1) {                 /* two processes share the place in the file */
		pid_t pid = fork();

		for (int i = 0; i < 40; i++)
			add(room, read(fd, room, 8192));
		if (!pid)
			_exit((int)(sum % 50));
		wait(&status);
		return 0;
	}
	whole(fd, 4096, 0);
	say("pages");
	whole(fd, 300000, 0);
	say("large");
	whole(fd, 10000, 0);
	say("across pages");
	whole(fd, 65536, 12345);
	say("to an odd address");
	for (long at = 1; at < 700000; at += 70001)
		add(room, pread(fd, room, 20000, at));
	say("at odd places");
	add(room, pread(fd, room + 1, 1 << 19, 4096));
	say("large, at a place");
	lseek(fd, 8192, SEEK_SET);
	add(room, read(fd, room, 9000));
	add(room, read(fd, room, 9000));
	say("in turn");
	own = open("own", O_RDWR);      /* it has just been written, or nobody has touched it for a while: both are tried */
	add(room, read(own, room, 40000));
	memset(room, 'x', 5000);
	if (pwrite(own, room, 5000, 3000) != 5000)
		return 9;
	add(room, pread(own, room, 40000, 0));
	say("what was written");
	dup2(own, fd);
	add(room, pread(fd, room, 40000, 4096));
	say("another file of that number");
	return 0;
}
