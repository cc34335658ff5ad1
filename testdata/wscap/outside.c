/*
 * Reads memory that others write to: packets (a socket's ring), events (perf's ring), or, as `ask MEMORY TO FROM`, memory in
 * which another process, `answer MEMORY FROM TO`, writes between a byte in one pipe and a byte in the other.  Prints what it
 * read there.  `hold MEMORY` maps it and waits, `twice MEMORY` maps it twice.  Status 77: the system has no such memory for us.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FRAME = 2048, FRAMES = 64, PACKETS = 40, MEMORY = 65536, ROUNDS = 50, PAGES = 9 };

static void
unless(int ok)
{
	if (!ok)
		exit(77);
}

static unsigned long
sum(const volatile uint8_t *p, size_t n)
{
	unsigned long s = 0;

	while (n--)
		s = s * 31 + *p++;
	return s;
}

static void
packets(void)
{
	struct tpacket_req req = {FRAME * 8, FRAMES / 8, FRAME, FRAMES};
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex("lo")};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), u = socket(AF_INET, SOCK_DGRAM, 0), at_frame = 0;
	uint8_t *ring, text[100];

	unless(s >= 0 && at.sll_ifindex && !setsockopt(s, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)));
	ring = mmap(NULL, FRAME * FRAMES, PROT_READ | PROT_WRITE, MAP_SHARED, s, 0);
	unless(ring != MAP_FAILED && !bind(s, (struct sockaddr *)&at, sizeof(at)));
	for (int i = 0; i < PACKETS; i++) {
		memset(text, i * 7, sizeof(text));
		unless(sendto(u, text, sizeof(text), 0, (struct sockaddr *)&to, sizeof(to)) == (ssize_t)sizeof(text));
		for (;;) {
			volatile struct tpacket_hdr *h = (void *)(ring + FRAME * at_frame);

			if (!(h->tp_status & TP_STATUS_USER))
				break;
			printf("%u bytes, %lx\n", h->tp_len, sum(ring + FRAME * at_frame + h->tp_mac, h->tp_len));
			h->tp_status = TP_STATUS_KERNEL;
			at_frame = (at_frame + 1) % FRAMES;
		}
	}
}

static void
events(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY,
	    .mmap = 1, .mmap_data = 1, .exclude_kernel = 1};
	long page = sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	volatile struct perf_event_mmap_page *p;
	uint64_t from = 0;

	unless(fd >= 0);
	p = mmap(NULL, (size_t)page * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unless(p != MAP_FAILED);
	for (int i = 0; i < ROUNDS; i++) {
		void *m = mmap(NULL, (size_t)page * (size_t)(1 + i % 5), PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0);

		printf("%d: %d, %lu bytes, %lx\n", i, m != MAP_FAILED, (unsigned long)(p->data_head - from),
		    sum((uint8_t *)p + page + from, (size_t)(p->data_head - from)));
		from = p->data_head;
	}
}

static uint32_t *
memory(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	uint32_t *p;

	unless(fd >= 0 && !ftruncate(fd, MEMORY));
	p = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unless(p != MAP_FAILED);
	return p;
}

static void
ask(volatile uint32_t *p, int to, int from)
{
	char c = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		p[i] = i;
		p[500] = i + 1;
		unless(write(to, &c, 1) == 1 && read(from, &c, 1) == 1);
		printf("%u %u %lx\n", p[1000 + i], p[500], sum((uint8_t *)p, MEMORY));
	}
}

static void
answer(volatile uint32_t *p, int from, int to)
{
	char c;

	for (uint32_t i = 0; read(from, &c, 1) == 1; i++) {
		p[1000 + i] = p[i] * 17 + (uint32_t)getpid();
		p[500] = 0;             /* as it was when the other one was stopped last */
		p[(i * 2654435761u) % (MEMORY / 4 - 2000) + 2000] = i;
		unless(write(to, &c, 1) == 1);
	}
}

/* Maps all of a file `times` times, and writes to it. */
static void
map(const char *name, int times)
{
	int fd = open(name, O_RDWR);
	off_t n = lseek(fd, 0, SEEK_END);

	while (times--) {
		volatile uint8_t *p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		unless(p != MAP_FAILED);
		p[n / 2]++;
	}
	unless(write(1, "m\n", 2) == 2);
}

int
main(int argc, char **argv)
{
	volatile uint32_t *p = argc == 5 ? memory(argv[2]) : NULL;
	int there, back;

	if (p) {        /* in this order, as each waits for the other one */
		there = open(argv[3], !strcmp(argv[1], "ask") ? O_WRONLY : O_RDONLY);
		back = open(argv[4], !strcmp(argv[1], "ask") ? O_RDONLY : O_WRONLY);
	}
	if (argc == 3 && !strcmp(argv[1], "hold")) {
		map(argv[2], 1);
		pause();
	} else if (argc == 3 && !strcmp(argv[1], "twice"))
		map(argv[2], 2);
	else if (argc == 2 && !strcmp(argv[1], "packets"))
		packets();
	else if (argc == 2 && !strcmp(argv[1], "events"))
		events();
	else if (p && !strcmp(argv[1], "ask"))
		ask(p, there, back);
	else if (p && !strcmp(argv[1], "answer"))
		answer(p, there, back);
	else
		return 2;
	return 0;
}
