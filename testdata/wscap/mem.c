/* Memory that changes in unusual ways: mem NAME; prints check sums of it */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* What calls write of which their arguments tell little: the lengths of what is printed depend on it. */
static void
told(void)
{
	struct sock_filter f[6] = {{6, 0, 0, 65535}, {6, 0, 0, 1}, {6, 0, 0, 2}, {6, 0, 0, 3}, {6, 0, 0, 4}, {6, 0, 0, 555}};
	struct sock_fprog prog = {6, f};
	struct sock_filter got[6] = {{0}};
	struct ethtool_ts_info d = {.cmd = ETHTOOL_GET_TS_INFO};
	struct ifreq r = {.ifr_name = "lo", .ifr_data = (void *)&d};
	unsigned long aux[128] = {0};
	char b[64] = "";
	struct iovec v[2] = {{b, 3}, {b + 10, 50}};
	socklen_t n = 6;
	int p[2], s = socket(AF_INET, SOCK_DGRAM, 0);

	if (pipe(p) || write(p[1], "hello, world", 12) != 12)
		exit(9);
	printf("%zd %s", vmsplice(p[0], v, 2, 0), b);
	printf(" %s\n", b + 10);
	prctl(0x41555856, aux, sizeof(aux), 0, 0);      /* PR_GET_AUXV */
	for (int i = 0; i < 128; i += 2)
		if (aux[i] == AT_PAGESZ)
			printf("page %lu\n", aux[i + 1]);
	setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
	printf("%d", getsockopt(s, SOL_SOCKET, SO_GET_FILTER, got, &n));
	printf(" %d %u\n", (int)n, got[5].k);
	printf("%d", ioctl(s, SIOCETHTOOL, &r));
	printf(" %u\n", d.so_timestamping * 1000);
}

static char own[32] = "old";

static void *
write_own(void *name)
{
	int fd = open(name, O_RDWR);

	if (fd < 0 || pwrite(fd, "much newer", 11, (intptr_t)own) != 11 || pwrite(fd, "longer", 7, (intptr_t)own + 10) != 7)
		exit(9);
	printf("%s\n", own);
	close(fd);
	strcpy(own, "old");
	return NULL;
}

/* The program's memory as a file, by its names */
static void
proc(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)getpid());
	write_own(name);
	write_own("/proc/self/mem");
	write_own("/proc/thread-self/mem");
}

/* and in a thread */
static void
thread(void)
{
	static char name[3][64] = {"/proc/self/mem", "/proc/thread-self/mem"};

	snprintf(name[2], sizeof(name[2]), "/proc/self/task/%d/mem", (int)getpid());
	for (int i = 0; i < 3; i++) {
		pthread_t t;

		pthread_create(&t, NULL, write_own, name[i]);
		pthread_join(t, NULL);
	}
}

static struct { char at[40][4096]; } far __attribute__((aligned(4096))) = {{{1}}};
static void *volatile far_events = far.at[10];

/* Memory in which nobody has been yet: the kernel would do a part of each call, or do it and fail after that. */
static void
parts(void)
{
	struct { long type; char text[8]; } *got = (void *)(far.at[20] + 4096 - 10), sent = {1, "message"};
	struct epoll_event *e = far_events, one = {.events = EPOLLOUT};
	char near[8];
	struct iovec v[2] = {{"first", 6}, {far.at[2] + 5, 7}}, to[2] = {{near, 6}, {far.at[6], 7}};
	struct iovec mine[2] = {{near, 8}, {far.at[27], 8}}, its[2] = {{near, 8}, {far.at[31], 8}};
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = v, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = v + 1, .msg_iovlen = 1}}};
	int sv[2], id = msgget(IPC_PRIVATE, 0600), ep = epoll_create1(0);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sv))
		exit(9);
	printf("%d\n", sendmmsg(sv[0], m, 2, 0));
	m[0].msg_hdr.msg_iov = to;
	m[1].msg_hdr.msg_iov = to + 1;
	printf("%d", recvmmsg(sv[1], m, 2, MSG_DONTWAIT, NULL));
	printf(" %s %u\n", near, m[1].msg_len);
	printf("%zd", process_vm_readv(getpid(), mine, 2, its, 2, 0));
	printf(" %zd\n", process_vm_writev(getpid(), mine, 2, (struct iovec[]){{near, 8}, {far.at[33], 8}}, 2, 0));
	printf("%d", msgsnd(id, &sent, 8, 0));
	printf(" %zd", msgrcv(id, got, 8, 0, IPC_NOWAIT));
	printf(" %s\n", got->text);
	msgctl(id, IPC_RMID, NULL);
	for (int i = 0; i < 400; i++)
		if (epoll_ctl(ep, EPOLL_CTL_ADD, eventfd(0, 0), &one))
			exit(9);
	printf("%d\n", epoll_wait(ep, e, 400, 0));
}

/* A terabyte is reserved and given away, as by GHC's runtime, and some of it later. */
static void
reserved(void)
{
	size_t all = (size_t)1 << 40, most = (size_t)128 << 20;
	char *p = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		exit(9);
	madvise(p, all, MADV_DONTNEED);
	mprotect(p, most, PROT_READ | PROT_WRITE);
	memset(p + most - 9000, 5, 9000);
	printf("%lx\n", sum(p + most - 16384, 16384));
	madvise(p, most, MADV_DONTNEED);
	printf("%lx\n", sum(p + most - 16384, 16384));
}

/* Two gigabytes are given away in pieces.  A file is mapped shared, as the C library does it in a locale. */
static void
pieces(void)
{
	size_t part = (size_t)48 << 20;
	int fd = open("mem.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *p = mmap(NULL, 44 * part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *s;

	if (p == MAP_FAILED || fd < 0 || ftruncate(fd, 8192))
		exit(9);
	s = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	s[5000] = 1;
	memset(p + part - 9000, 6, 9000);
	for (size_t i = 0; i < 44; i++)
		madvise(p + i * part, part, MADV_DONTNEED);
	printf("%lx %d\n", sum(p + part - 16384, 16384), s[5000]);
	unlink("mem.tmp");
}

/* Calls that write, or do not, as one of their arguments says: a descriptor table, sizes, handles of files. */
static void
calls(void)
{
	static uint32_t entry[4] = {1, 0x1000, 0x100, 0x51};
	static unsigned char b[3 * 4096], handle[40];
	uint16_t sizes[4] = {0};
	long mount = 0, r = 0;
	char *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(b, 7, sizeof(b));
	munmap(end + 4096, 4096);
	r += (unsigned char)syscall(SYS_modify_ldt, 0x11, entry, sizeof(entry));
	r += (unsigned char)syscall(SYS_modify_ldt, 1, entry, sizeof(entry) - 1);
	for (int i = 0; i < 5; i++)
		r = r * 3 + (unsigned char)syscall(SYS_modify_ldt, 0, b + 5, 100 + 1000 * i);
	printf("%lx %lx\n", r, sum(b, sizeof(b)));
	memset(b, 7, sizeof(b));
	r = (unsigned char)syscall(SYS_modify_ldt, 2, b, 4096) + (unsigned char)syscall(SYS_modify_ldt, 0, end + 4000, 8192);
	printf("%lx %lx %lx\n", r, sum(b, sizeof(b)), sum(end, 4096));
	for (unsigned i = 0; i < 10; i++)
		r = r * 3 + syscall(SYS_seccomp, i < 7 ? 3 : i, 0, sizes);
	printf("%lx %lx\n", r, sum(sizes, sizeof(sizes)));
	for (unsigned i = 0; i < sizeof(handle) - 8; i += 4) {
		memset(handle, 0, sizeof(handle));
		*(unsigned *)handle = i;
		r = r * 3 + syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount, 0);
		printf("%lx %lx %lx\n", r, mount, sum(handle, sizeof(handle)));
	}
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } test[] = {
		{"file", files}, {"advice", advice}, {"sysv", sysv}, {"nested", nested},
		{"told", told}, {"parts", parts}, {"proc", proc}, {"thread", thread}, {"reserved", reserved},
		{"pieces", pieces}, {"calls", calls},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(test) / sizeof(test[0]); i++) {
		if (strcmp(argv[1], test[i].name))
			continue;
		test[i].f();
		return 0;
	}
	return 2;
}
