/* System calls whose effect on memory does not fit into a line of the table. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

#define IOV_MOST 1024u          /* buffers of an iovec array at most: UIO_MAXIOV of the kernel */
#define FILTER_MOST 4096u       /* instructions of a filter at most: BPF_MAXINSNS */
#define LDT_MOST (8192u * 8)    /* bytes of a local descriptor table */

static void
put_at(struct cap *c, uint64_t addr, uint64_t n)
{
	if (addr && n)
		put_mem(c, addr, n);
}

void
put_iov(struct cap *c, uint64_t iov, uint64_t count, uint64_t n)
{
	uint8_t v[64 * 16];

	if (count > IOV_MOST)
		count = IOV_MOST;
	while (count && n) {
		uint64_t k = count < 64 ? count : 64, i;

		if (tracee_read(&c->t, iov, v, k * 16) != k * 16)
			return;
		for (i = 0; i < k && n; i++) {
			uint64_t len = get_le64(v + 16 * i + 8);

			if (len > n)
				len = n;
			put_at(c, get_le64(v + 16 * i), len);
			n -= len;
		}
		iov += k * 16;
		count -= k;
	}
}

/* The fields of struct msghdr: name, namelen, iov, iovlen, control, controllen, flags. */
void
put_msg(struct cap *c, uint64_t msg, uint64_t n)
{
	uint8_t m[56];
	uint32_t namelen;
	uint64_t control;

	if (tracee_read(&c->t, msg, m, sizeof(m)) != sizeof(m))
		return;
	put_at(c, msg, sizeof(m));
	namelen = get_le32(m + 8);
	put_at(c, get_le64(m), namelen < 4096 ? namelen : 4096);
	put_iov(c, get_le64(m + 16), get_le64(m + 24), n);
	control = get_le64(m + 40);
	put_at(c, get_le64(m + 32), control < 65536 ? control : 65536);
}

/* struct mmsghdr: a msghdr and the number of bytes received. */
void
sys_recvmmsg(struct cap *c, const struct call *k)
{
	uint8_t len[4];

	for (int64_t i = 0; i < k->ret; i++) {
		uint64_t at = k->arg[1] + (uint64_t)i * 64;

		if (tracee_read(&c->t, at + 56, len, 4) != 4)
			return;
		put_msg(c, at, get_le32(len));
		put_at(c, at + 56, 4);
	}
	put_at(c, k->arg[4], 16);
}

void
sys_msgrcv(struct cap *c, const struct call *k)
{
	if (k->ret >= 0)
		put_at(c, k->arg[1], 8 + (uint64_t)k->ret);
}

void
sys_mincore(struct cap *c, const struct call *k)
{
	put_at(c, k->arg[2], (k->arg[1] + PAGE - 1) / PAGE);
}

void
sys_sigaction(struct cap *c, const struct call *k)
{
	if (k->ret || !k->arg[1] || k->arg[0] < 1 || k->arg[0] > 64)
		return;
	signal_action(c, (int)k->arg[0], c->newact);
}

/*
 * sigreturn changes all registers: recorded as a signal with number 0, from after the call to
 * where the program continues.
 */
void
sys_sigreturn(struct cap *c, const struct call *k)
{
	struct ws_rec r = {.kind = WS_SIG, .u.sig.icount = WS_UNKNOWN};

	(void)k;
	tracee_from_user(&r.u.sig.at, &c->in, c->out.rax);
	tracee_from_user(&r.u.sig.to, &c->out, c->out.rax);
	r.u.sig.nxsave = get_xsave(c);
	r.u.sig.xsave = c->all->xsave;
	wscap_put(c, &r);
}

/* The length of a filter counts its instructions; of all else, bytes. */
void
sys_getsockopt(struct cap *c, const struct call *k)
{
	uint8_t n[4];

	if ((int)k->arg[1] == SOL_SOCKET && (int)k->arg[2] == SO_GET_FILTER && !k->ret && tracee_read(&c->t, k->arg[4], n, 4) == 4)
		put_at(c, k->arg[3], get_le32(n) < FILTER_MOST ? get_le32(n) * 8u : FILTER_MOST * 8u);
}

/* Known requests, with the bytes that they write; memory is compared for others. */
static int
ioctl_writes(uint64_t req)
{
	switch (req) {
	case 0x5401: return 36;         /* TCGETS */
	case 0x5405: return 18;         /* TCGETA */
	case TIOCGWINSZ: return 8;
	case TIOCGPGRP: case TIOCGSID: case FIONREAD: case TIOCOUTQ: case TIOCMGET: case TIOCGETD: return 4;
	case FIOQSIZE: return 8;
	case 0x5402: case 0x5403: case 0x5404:  /* TCSETS, TCSETSW, TCSETSF */
	case TIOCSPGRP: case TIOCSWINSZ: case TIOCSCTTY: case TIOCNOTTY:
	case FIONBIO: case FIOASYNC: case FIOCLEX: case FIONCLEX: case TIOCEXCL: case TIOCNXCL: case TCSBRK:
	case TCXONC: case TCFLSH: case TIOCMSET: case TIOCMBIS: case TIOCMBIC:
	case 0x40049409: case 0x4020940d:       /* FICLONE, FICLONERANGE */
		return 0;
	case 0x80086601: case 0x80045430: return 8;     /* FS_IOC_GETFLAGS, TIOCGPTN */
	case 0x801c581f: return 28;     /* FS_IOC_FSGETXATTR */
	case 0x80081272: return 8;      /* BLKGETSIZE64 */
	case 0x40045431: return 0;      /* TIOCSPTLCK */
	}
	switch (req) {
	/* SIOCGIFCONF, SIOCGIFBR, SIOCSIFBR, SIOCETHTOOL: with pointers to more */
	case 0x8912: case 0x8940: case 0x8941: case 0x8946:
		return -1;
	}
	if (req >= 0x8910 && req <= 0x8948)
		return 40;              /* SIOCGIF...: struct ifreq */
	return -1;
}

void
sys_ioctl(struct cap *c, const struct call *k)
{
	int n = ioctl_writes(k->arg[1] & 0xffffffff);

	if (n > 0)
		put_at(c, k->arg[2], (uint64_t)n);
}

/* The bytes that a command of shmctl, semctl or msgctl writes; memory is compared for others: -1. */
static int
ipc_writes(const struct call *k)
{
	enum { SHM = sizeof(struct shmid_ds), SEM = sizeof(struct semid_ds), MSG = sizeof(struct msqid_ds) };
	static const struct { uint16_t nr; uint8_t cmd, bytes; } known[] = {
		{SYS_shmctl, IPC_RMID, 0}, {SYS_shmctl, IPC_SET, 0}, {SYS_shmctl, SHM_LOCK, 0}, {SYS_shmctl, SHM_UNLOCK, 0},
		{SYS_shmctl, IPC_STAT, SHM}, {SYS_shmctl, SHM_STAT, SHM}, {SYS_shmctl, SHM_STAT_ANY, SHM},
		{SYS_shmctl, IPC_INFO, sizeof(struct shminfo)}, {SYS_shmctl, SHM_INFO, sizeof(struct shm_info)},
		{SYS_semctl, IPC_RMID, 0}, {SYS_semctl, IPC_SET, 0}, {SYS_semctl, SETVAL, 0}, {SYS_semctl, SETALL, 0},
		{SYS_semctl, GETPID, 0}, {SYS_semctl, GETVAL, 0}, {SYS_semctl, GETNCNT, 0}, {SYS_semctl, GETZCNT, 0},
		{SYS_semctl, IPC_STAT, SEM}, {SYS_semctl, SEM_STAT, SEM}, {SYS_semctl, SEM_STAT_ANY, SEM},
		{SYS_semctl, IPC_INFO, sizeof(struct seminfo)}, {SYS_semctl, SEM_INFO, sizeof(struct seminfo)},
		{SYS_msgctl, IPC_RMID, 0}, {SYS_msgctl, IPC_SET, 0},
		{SYS_msgctl, IPC_STAT, MSG}, {SYS_msgctl, MSG_STAT, MSG}, {SYS_msgctl, MSG_STAT_ANY, MSG},
		{SYS_msgctl, IPC_INFO, sizeof(struct msginfo)}, {SYS_msgctl, MSG_INFO, sizeof(struct msginfo)},
	};
	uint64_t cmd = k->arg[k->nr == SYS_semctl ? 2 : 1] & 0xffffffff;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].nr == k->nr && known[i].cmd == cmd)
			return known[i].bytes;
	return -1;
}

void
sys_ipc(struct cap *c, const struct call *k)
{
	int n = ipc_writes(k);

	if (n > 0 && k->ret >= 0)
		put_at(c, k->arg[k->nr == SYS_semctl ? 3 : 2], (uint64_t)n);
}

/* Functions 0 and 2 read tables, which have 64 KiB at most; the others only write them. */
void
sys_modify_ldt(struct cap *c, const struct call *k)
{
	uint32_t f = (uint32_t)k->arg[0];

	if (f == 0 || f == 2)
		put_at(c, k->arg[1], k->arg[2] < LDT_MOST ? k->arg[2] : LDT_MOST);
}

/* Only one operation writes: the sizes of three structures. */
void
sys_seccomp(struct cap *c, const struct call *k)
{
	if ((uint32_t)k->arg[0] == SECCOMP_GET_NOTIF_SIZES)
		put_at(c, k->arg[2], sizeof(struct seccomp_notif_sizes));
}

int
call_known(const struct call *k)
{
	switch (k->nr) {
	case SYS_seccomp: return (uint32_t)k->arg[0] <= SECCOMP_GET_NOTIF_SIZES;
	case SYS_ioctl: return ioctl_writes(k->arg[1] & 0xffffffff) >= 0;
	case SYS_shmctl: case SYS_semctl: case SYS_msgctl: return ipc_writes(k) >= 0;
	}
	return 1;
}

void
sys_fcntl(struct cap *c, const struct call *k)
{
	switch (k->arg[1]) {
	case F_GETLK:
	case F_OFD_GETLK:
		put_at(c, k->arg[2], 32);
		break;
	case F_GETOWN_EX:
	case F_GET_RW_HINT:
	case F_GET_FILE_RW_HINT:
		put_at(c, k->arg[2], 8);
		break;
	}
}

void
sys_prctl(struct cap *c, const struct call *k)
{
	static const uint8_t enabled[4] = {PR_TSC_ENABLE};

	switch (k->arg[0]) {
	case PR_GET_NAME:
		put_at(c, k->arg[1], 16);
		break;
	case PR_GET_TSC:
		if (c->notsc)           /* it faults because of wscap */
			tracee_write(&c->t, k->arg[1], enabled, 4);
		put_at(c, k->arg[1], 4);
		break;
	case 0x41555856:        /* PR_GET_AUXV: the result is how many bytes there are */
		if (k->ret > 0)
			put_at(c, k->arg[1], k->arg[2] < (uint64_t)k->ret ? k->arg[2] : (uint64_t)k->ret);
		break;
	case PR_SET_MM:         /* PR_SET_MM_MAP_SIZE */
		put_at(c, k->arg[2], 4);
		break;
	case 62:                /* PR_SCHED_CORE */
		put_at(c, k->arg[4], 8);
		break;
	/* other operations write 4 or 8 bytes at the first argument, or nothing */
	default:
		put_at(c, k->arg[1], 8);
	}
}

void
sys_arch_prctl(struct cap *c, const struct call *k)
{
	/* ARCH_GET_FS, ARCH_GET_GS, ARCH_GET_XCOMP_SUPP and the like */
	if (k->arg[0] != 0x1001 && k->arg[0] != 0x1002)
		put_at(c, k->arg[1], 8);
}

void
sys_futex(struct cap *c, const struct call *k)
{
	put_at(c, k->arg[0], 4);
	if ((k->arg[1] & 127) == FUTEX_WAKE_OP || (k->arg[1] & 127) == FUTEX_CMP_REQUEUE_PI)
		put_at(c, k->arg[4], 4);
}

/* The child's copy of memory does not matter; memory that it shares was compared. */
void
sys_clone(struct cap *c, const struct call *k)
{
	uint8_t a[24];

	if (k->nr == SYS_clone && k->ret > 0) {
		put_at(c, k->arg[2], 4);
		if ((k->arg[0] & (CLONE_THREAD | CLONE_CHILD_SETTID)) == (CLONE_THREAD | CLONE_CHILD_SETTID))
			put_at(c, k->arg[3], 4);
	} else if (k->nr == SYS_clone3 && k->ret > 0 && tracee_read(&c->t, k->arg[0], a, 24) == 24) {
		put_at(c, get_le64(a + 8), 4);  /* pidfd */
		if (tracee_read(&c->t, k->arg[0] + 16, a + 8, 16) != 16)
			return;
		put_at(c, get_le64(a + 16), 4); /* parent_tid */
		if ((get_le64(a) & (CLONE_THREAD | CLONE_CHILD_SETTID)) == (CLONE_THREAD | CLONE_CHILD_SETTID))
			put_at(c, get_le64(a + 8), 4);
	}
}

/* Recorded at their beginning, as they do not return. */
void
sys_exit(struct cap *c, const struct call *k)
{
	(void)c;
	(void)k;
}

void
sys_exec(struct cap *c, const struct call *k)
{
	(void)c;
	(void)k;
}
