/*
 * qemu-tracemill: a plugin for QEMU's user-mode emulators that writes all references of a program as a
 * reference stream, ref(5):
 *
 *   qemu-aarch64 -plugin PATH/qemu-tracemill.so,out=FILE[,inst=off] program
 *
 * QEMU reports an access of more than 8 bytes as several, and a modify as a load and a store. They are joined
 * to what they are when their instruction has ended. Each thread has words of its own, which are written some
 * thousands at a time, after an event that says whose they are if the last ones were of another thread.
 *
 * Debian does not package qemu-plugin.h: what is used of version 1 of the interface is declared here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ref/ref.h"

struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { CB_NO_REGS };
enum { MEM_RW = 3 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int,
    void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t,
    void *), int, int, void *);
void qemu_plugin_register_vcpu_exit_cb(uint64_t, void (*)(uint64_t, unsigned));
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t, void (*)(uint64_t, unsigned, int64_t, uint64_t, uint64_t,
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
bool qemu_plugin_mem_is_store(uint32_t);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t, const struct qemu_info *, int, char **);

#define CPUS    4096u
#define WORDS   8192u           /* of a thread, before they are written */
#define PIECES  256u            /* accesses of an instruction that are joined; more stay as they are */

struct cpu {
	uint64_t inst;                  /* the instruction that is executed, as a word */
	unsigned npiece, n;
	uint64_t piece[PIECES];         /* its accesses, as words */
	uint64_t word[WORDS + PIECES + 2];
};

static struct cpu *cpus[CPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what follows */
static int fd = -1;
static char *name;
static unsigned last;           /* the processor whose words were written last */
static bool any;
static bool fetches = true;

static void
plugin_die(const char *what)
{
	fprintf(stderr, "qemu-tracemill: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void
plugin_write(const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno != EINTR)
			plugin_die(name);
		at += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
}

static void
plugin_open(const char *path)
{
	static const char head[REF_HEADER] = "\x89TMREF\r\n\1\0\20\0\0\0\0";

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		plugin_die(path);
	plugin_write(head, sizeof head);
}

/* Writes the words of a processor; they are little-endian in the file. */
static void
cpu_write(struct cpu *c, unsigned number)
{
	uint64_t task = ref_make(REF_TASK, number, 0);

	if (!c->n)
		return;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	task = __builtin_bswap64(task);
	for (unsigned i = 0; i < c->n; i++)
		c->word[i] = __builtin_bswap64(c->word[i]);
#endif
	pthread_mutex_lock(&lock);
	if (last != number || (!any && number))
		plugin_write(&task, sizeof task);
	any = true;
	last = number;
	plugin_write(c->word, c->n * sizeof *c->word);
	pthread_mutex_unlock(&lock);
	c->n = 0;
}

/* The accesses of the instruction that has ended, joined: pieces of one; a load and a store of the same. */
static void
cpu_join(struct cpu *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->npiece; i++) {
		uint64_t w = c->piece[i], *p = n ? &c->piece[n - 1] : NULL;

		if (p && ref_kind(*p) == ref_kind(w) && ref_addr(*p) + ref_size(*p) == ref_addr(w) &&
		    ref_size(*p) + ref_size(w) <= REF_SIZEMAX)
			*p += (uint64_t)ref_size(w) << 48;
		else
			c->piece[n++] = w;
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t w = c->piece[i];

		if (i + 1 < n && ref_kind(w) == REF_LOAD && ref_kind(c->piece[i + 1]) == REF_STORE &&
		    ref_addr(w) == ref_addr(c->piece[i + 1]) && ref_size(w) == ref_size(c->piece[i + 1])) {
			w = ref_make(REF_MODIFY, ref_addr(w), ref_size(w));
			i++;
		}
		c->word[c->n++] = w;
	}
	c->npiece = 0;
}

static struct cpu *
cpu_of(unsigned number)
{
	if (number >= CPUS) {
		errno = EAGAIN;
		plugin_die("too many threads");
	}
	if (!cpus[number] && !(cpus[number] = calloc(1, sizeof **cpus)))
		plugin_die("memory");
	return cpus[number];
}

static void
plugin_exec(unsigned number, void *data)
{
	struct cpu *c = cpu_of(number);

	if (c->npiece)
		cpu_join(c);
	c->inst = (uint64_t)(uintptr_t)data;
	if (fetches)
		c->word[c->n++] = c->inst;
	if (c->n >= WORDS)
		cpu_write(c, number);
}

static void
plugin_mem(unsigned number, uint32_t info, uint64_t addr, void *data)
{
	struct cpu *c = cpu_of(number);

	/* QEMU 7.2 may call for an access of a helper function for an instruction after the end of the block */
	if ((uint64_t)(uintptr_t)data != c->inst)
		return;
	if (c->npiece == PIECES)
		cpu_join(c);
	if (c->n >= WORDS)
		cpu_write(c, number);
	c->piece[c->npiece++] = ref_make(qemu_plugin_mem_is_store(info) ? REF_STORE : REF_LOAD, addr,
	    1u << qemu_plugin_mem_size_shift(info));
}

static void
plugin_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0, n = qemu_plugin_tb_n_insns(tb); i < n; i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);
		uint64_t w = ref_make(REF_INST, qemu_plugin_insn_vaddr(in), (unsigned)qemu_plugin_insn_size(in));

		qemu_plugin_register_vcpu_insn_exec_cb(in, plugin_exec, CB_NO_REGS, (void *)(uintptr_t)w);
		qemu_plugin_register_vcpu_mem_cb(in, plugin_mem, CB_NO_REGS, MEM_RW, (void *)(uintptr_t)w);
	}
}

static void
cpu_end(struct cpu *c, unsigned number)
{
	cpu_join(c);
	cpu_write(c, number);
}

/* Nothing is told when a signal ends the program, and a child has a copy of what is not written. */
static void
plugin_syscall(uint64_t id, unsigned number, int64_t num, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
    uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)num, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	cpu_end(cpu_of(number), number);
}

static void
plugin_thread_end(uint64_t id, unsigned number)
{
	(void)id;
	cpu_end(cpu_of(number), number);
}

static void
plugin_end(uint64_t id, void *data)
{
	(void)id, (void)data;
	for (unsigned i = 0; i < CPUS; i++)
		if (cpus[i])
			cpu_end(cpus[i], i);
	if (close(fd) != 0)
		plugin_die(name);
}

static void
plugin_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void
plugin_after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child has a file of its own. What other threads have not written yet is in the parent's. */
static void
plugin_child(void)
{
	char path[4200];

	close(fd);
	for (unsigned i = 0; i < CPUS; i++)
		if (cpus[i])
			cpus[i]->n = cpus[i]->npiece = 0;
	any = false;
	last = 0;
	snprintf(path, sizeof path, "%s.%ld", name, (long)getpid());
	plugin_open(path);
	pthread_mutex_unlock(&lock);
}

EXPORT int
qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "out=", 4) == 0 && argv[i][4] && strlen(argv[i]) < 4096)
			name = argv[i] + 4;
		else if (strcmp(argv[i], "inst=off") == 0 || strcmp(argv[i], "inst=on") == 0)
			fetches = argv[i][6] == 'n';
		else {
			fprintf(stderr, "qemu-tracemill: %s: no such option; there are out=FILE and inst=off\n", argv[i]);
			return -1;
		}
	}
	if (!name || !(name = strdup(name))) {
		fprintf(stderr, "qemu-tracemill: out=FILE is missing\n");
		return -1;
	}
	plugin_open(name);
	if (pthread_atfork(plugin_before_fork, plugin_after_fork, plugin_child) != 0)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, plugin_translate);
	qemu_plugin_register_vcpu_syscall_cb(id, plugin_syscall);
	qemu_plugin_register_vcpu_exit_cb(id, plugin_thread_end);
	qemu_plugin_register_atexit_cb(id, plugin_end, NULL);
	return 0;
}
