/* Memory that changes in unusual ways: mem NAME; prints check sums of it */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/fiemap.h>

static unsigned long
sum(const void *p, size_t n)
{
	const unsigned char *b = p;
	unsigned long s = 0;

	while (n--)
		s = s * 31 + *b++;
	return s;
}

static void
files(void)
{
	int fd = open("mem.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *s, *p, text[5000];

	memset(text, 'x', sizeof(text));
	if (fd < 0 || ftruncate(fd, 20000))
		exit(9);
	s = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 8192);
	p[5000] = 1;
	if (pwrite(fd, text, sizeof(text), 6000) != (ssize_t)sizeof(text))
		exit(9);
	printf("%lx %lx\n", sum(s, 8192), sum(p, 8192));
	if (pread(fd, text, 50, 3000) != 50 || ftruncate(fd, 4096) || ftruncate(fd, 20000))
		exit(9);
	printf("%lx %lx\n", sum(s, 8192), sum(p, 8192));
	unlink("mem.tmp");
}

static void
advice(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q;

	memset(p, 7, 1 << 20);
	madvise(p + 4096, 8192, MADV_DONTNEED);
	madvise(p + 65536, 65536, MADV_FREE);
	memset(p + 65536, 8, 65536);
	printf("%lx\n", sum(p, 1 << 20));
	q = mremap(p, 1 << 20, 3 << 20, MREMAP_MAYMOVE);
	printf("%lx\n", sum(q, 3 << 20));
	q = mremap(q, 3 << 20, 1 << 19, 0);
	p = mremap(q + 8192, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, q + (1 << 18));
	printf("%lx %lx\n", sum(q, 8192), sum(p, 16384));
	munmap(q, 4096);
	sbrk(100000);
	p = sbrk(0);
	memset(p - 50000, 3, 50000);
	sbrk(-60000);
	sbrk(60000);
	printf("%lx\n", sum((char *)sbrk(0) - 60000 + 16384, 30000));
}

static void
sysv(void)
{
	int id = shmget(IPC_PRIVATE, 10000, 0600);
	char *a = shmat(id, NULL, 0), *b = shmat(id, NULL, 0);
	unsigned short v[8];
	struct shmid_ds ds;
	struct semid_ds sem;
	struct msqid_ds msg;

	memset(&ds, 1, sizeof(ds));
	shmctl(id, IPC_STAT, &ds);
	printf("%zu %d\n", (size_t)ds.shm_segsz, (int)ds.shm_nattch);
	shmctl(id, IPC_RMID, NULL);
	a[5] = 9;                       /* two mappings of the same memory: a replay has two memories */
	printf("%lx %d\n", sum(a, 10000), a != b);
	shmdt(b);
	shmdt(a);
	memset(v, 7, sizeof(v));
	memset(&sem, 1, sizeof(sem));
	id = semget(IPC_PRIVATE, 3, 0600);
	printf("%d %d\n", semctl(id, 1, SETVAL, 5), semctl(id, 1, GETVAL));
	semctl(id, 0, IPC_STAT, &sem);
	semctl(id, 0, GETALL, v);       /* how many there are is not known: all memory is compared */
	printf("%d %d %d %d %d\n", (int)sem.sem_nsems, v[0], v[1], v[2], v[3]);
	semctl(id, 0, IPC_RMID);
	memset(&msg, 1, sizeof(msg));
	id = msgget(IPC_PRIVATE, 0600);
	msgctl(id, IPC_STAT, &msg);
	printf("%d %d\n", (int)msg.msg_qnum, (int)msg.msg_lspid);
	msgctl(id, IPC_RMID, NULL);
}

/* Pointers to pointers, and an ioctl that is not in the table */
static void
nested(void)
{
	int sv[2], fd = open("/proc/self/exe", O_RDONLY);
	char x[100], y[200], ctl[CMSG_SPACE(sizeof(int))];
	struct iovec v[3] = {{x, 7}, {NULL, 0}, {y, sizeof(y)}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 3, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
	struct { struct fiemap f; struct fiemap_extent e[8]; } fm;

	memset(&fm, 0, sizeof(fm));
	memset(x, 0, sizeof(x));
	memset(y, 0, sizeof(y));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || write(sv[0], "hello, world and more", 21) != 21)
		exit(9);
	printf("%zd %s %s\n", recvmsg(sv[1], &m, 0), x, y);
	if (readv(fd, v, 3) < 0)
		exit(9);
	fm.f.fm_length = ~0ull;
	fm.f.fm_extent_count = 8;
	printf("%d %lx\n", ioctl(fd, FS_IOC_FIEMAP, &fm) <= 0, sum(x, 100) ^ sum(y, 200));
	if (!fm.f.fm_mapped_extents)
		return;
	printf("%d\n", fm.e[0].fe_length > 0);
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } test[] = {
		{"file", files}, {"advice", advice}, {"sysv", sysv}, {"nested", nested},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(test) / sizeof(test[0]); i++) {
		if (strcmp(argv[1], test[i].name))
			continue;
		test[i].f();
		return 0;
	}
	return 2;
}
