/* The buffer of the recorder: which calls it makes, and records of the capture from what it wrote. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

/*
 * Calls that the recorder makes.  What they write is found as format/ws/syscall.def says, but only if they
 * succeed.
 */
#define NO {0}
#define RET(a, m) {FAST_RET, a, 0, m}
#define FIX(a, m) {FAST_FIX, a, 0, m}
#define ARG(a, i, m) {FAST_ARG, a, i, m}
static const struct { uint16_t nr; struct fast_call call; } known[] = {
	{SYS_read, {FAST_KNOWN | FAST_READS | FAST_WAITS, {RET(1, 1), NO}}},
	{SYS_pread64, {FAST_KNOWN | FAST_READS | FAST_WAITS, {RET(1, 1), NO}}},
	{SYS_write, {FAST_KNOWN | FAST_WRITES | FAST_WAITS, {NO, NO}}},
	{SYS_pwrite64, {FAST_KNOWN | FAST_WRITES | FAST_WAITS, {NO, NO}}},
	{SYS_writev, {FAST_KNOWN | FAST_WRITES | FAST_WAITS, {NO, NO}}},
	{SYS_close, {FAST_KNOWN | FAST_CLOSES, {NO, NO}}},
	{SYS_dup2, {FAST_KNOWN | FAST_DUPS, {NO, NO}}},
	{SYS_dup3, {FAST_KNOWN | FAST_DUPS, {NO, NO}}},
	{SYS_fcntl, {FAST_KNOWN | FAST_SOME, {NO, NO}}},
	{SYS_ioctl, {FAST_KNOWN | FAST_SOME, {FIX(2, 36), NO}}},
	{SYS_clock_gettime, {FAST_KNOWN | FAST_CLOCK, {FIX(1, 16), NO}}},
	{SYS_clock_getres, {FAST_KNOWN, {FIX(1, 16), NO}}},
	{SYS_gettimeofday, {FAST_KNOWN, {FIX(0, 16), FIX(1, 8)}}},
	{SYS_time, {FAST_KNOWN, {FIX(0, 8), NO}}},
	{SYS_times, {FAST_KNOWN, {FIX(0, 32), NO}}},
	{SYS_stat, {FAST_KNOWN, {FIX(1, 144), NO}}},
	{SYS_fstat, {FAST_KNOWN, {FIX(1, 144), NO}}},
	{SYS_lstat, {FAST_KNOWN, {FIX(1, 144), NO}}},
	{SYS_newfstatat, {FAST_KNOWN, {FIX(2, 144), NO}}},
	{SYS_statx, {FAST_KNOWN, {FIX(4, 256), NO}}},
	{SYS_statfs, {FAST_KNOWN, {FIX(1, 120), NO}}},
	{SYS_fstatfs, {FAST_KNOWN, {FIX(1, 120), NO}}},
	{SYS_readlink, {FAST_KNOWN, {RET(1, 1), NO}}},
	{SYS_readlinkat, {FAST_KNOWN, {RET(2, 1), NO}}},
	{SYS_getdents64, {FAST_KNOWN, {RET(1, 1), NO}}},
	{SYS_getxattr, {FAST_KNOWN, {RET(2, 1), NO}}},
	{SYS_lgetxattr, {FAST_KNOWN, {RET(2, 1), NO}}},
	{SYS_fgetxattr, {FAST_KNOWN, {RET(2, 1), NO}}},
	{SYS_listxattr, {FAST_KNOWN, {RET(1, 1), NO}}},
	{SYS_llistxattr, {FAST_KNOWN, {RET(1, 1), NO}}},
	{SYS_flistxattr, {FAST_KNOWN, {RET(1, 1), NO}}},
	{SYS_getcwd, {FAST_KNOWN, {RET(0, 1), NO}}},
	{SYS_getrandom, {FAST_KNOWN, {RET(0, 1), NO}}},
	{SYS_poll, {FAST_KNOWN | FAST_WAITS, {ARG(0, 1, 8), NO}}},
	{SYS_epoll_wait, {FAST_KNOWN | FAST_WAITS, {RET(1, 12), NO}}},
	{SYS_uname, {FAST_KNOWN, {FIX(0, 390), NO}}},
	{SYS_sysinfo, {FAST_KNOWN, {FIX(0, 112), NO}}},
	{SYS_wait4, {FAST_KNOWN | FAST_WAITS, {FIX(1, 4), FIX(3, 144)}}},
	{SYS_waitid, {FAST_KNOWN | FAST_WAITS, {FIX(2, 128), FIX(4, 144)}}},
	{SYS_pipe, {FAST_KNOWN, {FIX(0, 8), NO}}},
	{SYS_pipe2, {FAST_KNOWN, {FIX(0, 8), NO}}},
	{SYS_rt_sigaction, {FAST_KNOWN | FAST_GIVEN, {FIX(2, 32), NO}}},
	{SYS_rt_sigprocmask, {FAST_KNOWN | FAST_GIVEN, {FIX(2, 8), NO}}},
	{SYS_brk, {FAST_KNOWN, {NO, NO}}},
	{SYS_mmap, {FAST_KNOWN | FAST_MAPS, {NO, NO}}},
	{SYS_munmap, {FAST_KNOWN | FAST_MAPS, {NO, NO}}},
	{SYS_mprotect, {FAST_KNOWN | FAST_MAPS, {NO, NO}}},
	{SYS_futex, {FAST_KNOWN | FAST_SOME, {NO, NO}}},
	{SYS_madvise, {FAST_KNOWN | FAST_SOME, {NO, NO}}},
	{SYS_capget, {FAST_KNOWN, {FIX(0, 8), FIX(1, 24)}}},
	{SYS_prctl, {FAST_KNOWN | FAST_SOME, {NO, NO}}},
	{SYS_getrusage, {FAST_KNOWN, {FIX(1, 144), NO}}},
	{SYS_prlimit64, {FAST_KNOWN | FAST_SOME, {FIX(3, 16), NO}}},
	{SYS_arch_prctl, {FAST_KNOWN | FAST_SOME | FAST_SETS_FS, {NO, NO}}},
	{SYS_rseq, {FAST_KNOWN | FAST_DENIED, {NO, NO}}},
};

/* Calls that write nothing, if they succeed. */
static const uint16_t plain[] = {
	SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_mkdir,
	SYS_mkdirat, SYS_rmdir, SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat,
	SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown, SYS_fchownat,
	SYS_utimensat, SYS_chdir, SYS_fchdir, SYS_fsync, SYS_fdatasync,
	SYS_fadvise64, SYS_epoll_ctl, SYS_socket,
	SYS_bind, SYS_listen, SYS_shutdown, SYS_setsockopt,
	SYS_open, SYS_openat, SYS_lseek, SYS_access, SYS_faccessat,
	SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_getgid, SYS_geteuid,
	SYS_getegid, SYS_getpgrp, SYS_umask, SYS_dup, SYS_set_tid_address, SYS_set_robust_list,
	439,                            /* faccessat2 */
};

/* The same, which may wait for others. */
static const uint16_t waits[] = {
	SYS_flock, SYS_sendto, SYS_sendmsg, SYS_connect, SYS_nanosleep, SYS_clock_nanosleep, SYS_sched_yield,
};

void
fast_table(const struct cap *c, struct fast_area *a)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		a->call[known[i].nr] = known[i].call;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		a->call[plain[i]] = (struct fast_call){.when = FAST_KNOWN};
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		a->call[waits[i]] = (struct fast_call){.when = FAST_KNOWN | FAST_WAITS};
	for (size_t i = 0; c->fast->lent && i < FAST_CALLS; i++)
		if (!fast_lent_makes(i))
			a->call[i].when = 0;
	if (c->amid.early)              /* it may have registered one before it was captured */
		a->call[SYS_rseq].when = 0;
}

unsigned
fast_knows(const struct fast *f, const struct call *k)
{
	uint64_t lo, hi;

	if (f->lent && !fast_lent_makes(k->nr))
		return 0;
	if (!fast_may_some((uint64_t)k->nr, k->arg))
		return 0;
	if (k->nr == SYS_mmap || k->nr == SYS_munmap || k->nr == SYS_mprotect)
		return fast_may_map(k->nr, k->arg, &lo, &hi) ? FAST_KNOWN : 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].nr == k->nr)
			return known[i].call.when;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i] == k->nr)
			return FAST_KNOWN;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (waits[i] == k->nr)
			return FAST_KNOWN | FAST_WAITS;
	return 0;
}

int
fast_may_wait(const struct fast *f, const struct call *k, unsigned knows)
{
	int file = knows & (FAST_READS | FAST_WRITES) && k->arg[0] < FAST_FILES;

	return f->a && f->a->threads && knows & FAST_WAITS && !(file && f->a->file[k->arg[0]] & FAST_STEADY);
}

/* The processor's time since the last trigger that stopped the process: a bound for each call since then. */
static uint64_t
ring_time(struct cap *c)
{
	uint64_t now = put_cputime(c);

	return now ? now - c->cputime : 0;
}

/* The program blocks or unblocks signals. */
static void
ring_mask(struct cap *c, const struct call *k)
{
	uint64_t set = get_le64(c->newact);

	if (k->ret || !k->arg[1])
		return;
	if (k->arg[0] == SIG_BLOCK)
		c->mask |= set;
	else
		c->mask = k->arg[0] == SIG_UNBLOCK ? c->mask & ~set : set;
	c->mask &= ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));
}

/* Tells the recorder of a file whose bytes we can read at any time: what is mapped of it may be written to at once. */
static void
ring_steady(struct cap *c, const struct mapped_file *file)
{
	const struct region r = {.dev = file->dev, .ino = file->ino};
	const struct hold_file *f = hold_file(c->all, &r, file->name);
	struct fast_area *a = c->fast->a;

	a->steady[0] = file->dev;
	a->steady[1] = f && hold_steady(f) ? file->ino : 0;
}

/*
 * The process may have written to what it has mapped of a file since then: that must be read in the file, which must not have
 * changed where the recorder said that nobody writes to it.
 */
static void
ring_old(struct cap *c, const struct mapped_file *file, int code)
{
	const struct region r = {.dev = file->dev, .ino = file->ino};
	const struct hold_file *f = hold_file(c->all, &r, file->name);

	if (!f || (code && !hold_steady(f)))
		cap_stop(c, "a file that it has just mapped cannot be read, or was changed");
}

/* What else a call means to us. */
static void
ring_follow(struct cap *c, const struct call *k, const struct mapped_file *file)
{
	switch (k->nr) {
	case SYS_close: case SYS_dup2: case SYS_dup3:
		file_call(c, k);
		break;
	case SYS_rt_sigaction:
		sys_sigaction(c, k);
		break;
	case SYS_rt_sigprocmask:
		ring_mask(c, k);
		break;
	case SYS_brk:
		sys_brk(c, k);
		break;
	case SYS_set_tid_address:
		c->cleartid = k->arg[0];
		break;
	case SYS_mmap:
		/* the loader maps all of a library first, and may have written to its data since then */
		if (file && c->fast->a->nlate)
			(void)hold_file(c->all, &(struct region){.dev = file->dev, .ino = file->ino}, file->name);
		maps_map(c, k, file);
		if (file)
			ring_steady(c, file);
		break;
	case SYS_munmap:
		sys_munmap(c, k);
		break;
	case SYS_mprotect:
		sys_mprotect(c, k);
		break;
	}
}

/* What the recorder kept of the file that the call maps, or reads: 0 or -1.  name: room for FAST_NAME + 1 bytes. */
static int
ring_file(const uint8_t *p, uint64_t n, struct mapped_file *file, char *name)
{
	if (n < 16 || n > 16 + FAST_NAME)
		return -1;
	memcpy(name, p + 16, n - 16);
	name[n - 16] = 0;
	*file = (struct mapped_file){.dev = get_le64(p), .ino = get_le64(p + 8), .name = name};
	return 0;
}

/* Records one call.  p: its n bytes, which the program may have changed; 0, or -1: they make no sense. */
static int
ring_record(struct cap *c, const uint8_t *p, uint64_t n, uint64_t time)
{
	struct fast_rec f;
	struct ws_rec r = {.kind = WS_SYS};
	struct ws_rec_sys *s = &r.u.sys;
	struct mapped_file file = {.name = NULL};
	char name[FAST_NAME + 1];
	struct call k;
	uint64_t place = UINT64_MAX;

	memcpy(&f, p, sizeof(f));
	s->pc = f.pc;
	s->nr = f.nr;
	memcpy(s->arg, f.arg, sizeof(s->arg));
	s->ret = f.ret;
	s->hash = f.hash;
	if (time >= WS_TIME_LEAST && time <= WS_TIME_MAX)
		put_untimed(c, &(struct ws_rec){.kind = WS_TIME, .u.time = time});
	if (f.nr == UINT64_MAX) {
		r = (struct ws_rec){.kind = WS_TSC, .u.tsc = {.value = f.ret}};
		r.u.tsc.has_aux = f.arg[1] != 0;
		r.u.tsc.aux = f.arg[1] ? (uint32_t)f.arg[0] : 0;
		put_untimed(c, &r);
		return 0;
	}
	put_untimed(c, &r);
	for (uint64_t at = sizeof(f); at < n;) {
		struct fast_piece q;

		if (n - at < sizeof(q))
			return -1;
		memcpy(&q, p + at, sizeof(q));
		at += sizeof(q);
		if (q.n > n - at)
			return -1;
		if (q.addr == FAST_FILE || q.addr == FAST_OLD) {
			if (ring_file(p + at, q.n, &file, name))
				return -1;
			if (q.addr == FAST_OLD)
				ring_old(c, &file, (f.arg[2] & PROT_EXEC) != 0);
			if (f.nr != SYS_mmap && f.arg[0] < FAST_FILES)
				c->fast->from[f.arg[0]] = stored_file(c, &file);
			at += (q.n + 7) / 8 * 8;
			continue;
		}
		if (q.addr == FAST_AT && q.n == sizeof(place)) {
			place = get_le64(p + at);
			at += sizeof(place);
			continue;
		}
		if (q.addr == FAST_KEPT && q.n <= sizeof(c->newact)) {
			memcpy(c->newact, p + at, q.n);
			at += (q.n + 7) / 8 * 8;
			continue;
		}
		if (place != UINT64_MAX && f.arg[0] < FAST_FILES)
			stored_read(c, c->fast->from[f.arg[0]], place, q.addr, p + at, q.n);
		else
			put_bytes(c, q.addr, p + at, q.n);
		at += (q.n + 7) / 8 * 8;
	}
	k = (struct call){.nr = f.nr, .ret = (int64_t)f.ret};
	memcpy(k.arg, f.arg, sizeof(k.arg));
	ring_follow(c, &k, file.name ? &file : NULL);
	return 0;
}

void
fast_drain(struct cap *c)
{
	struct fast *f = c->fast;
	uint64_t head, time;
	const uint8_t *ring;

	if (!f || !f->a)
		return;
	head = *(volatile uint64_t *)&f->a->head;
	if (head == f->tail || head > FAST_ROOM)
		return;
	f->granted = 0;
	ring = f->p + FAST_RING;
	time = ring_time(c);
	while (f->tail < head) {
		struct fast_rec r;

		memcpy(&r, ring + f->tail, sizeof(r));
		if (r.size < sizeof(r) || r.size > head - f->tail ||
		    ring_record(c, ring + f->tail, r.size, time)) {
			f->tail = head;
			break;
		}
		f->tail += r.size;
		f->made++;
	}
	c->behind = 0;
	c->restart = RESTART_NOT;
}
