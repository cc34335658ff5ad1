/* ws2laplace: converts records of a capture to records of the kernel trace. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "convert/ws2laplace/ws2laplace.h"
#include "format/ws/runs.h"

#define NAME_MOST 4096u         /* bytes of a file name at most: PATH_MAX */

static uint64_t
kernel_here(const struct job *j)
{
	return j->r ? replay_icount(j->r) : 0;
}

static struct lap_event
kernel_event(const struct job *j, enum lap_kind kind)
{
	struct lap_event e = { .kind = kind };

	e.f[LAP_PID] = j->pid;
	return e;
}

static struct lap_event
file_event(const struct job *j, enum lap_kind kind, const struct identity *id)
{
	struct lap_event e = kernel_event(j, kind);

	if (!strchr(lap_kind_fields(kind), 'p'))
		e.f[LAP_PID] = 0;
	e.f[LAP_INODE] = id->inode;
	e.f[LAP_MAJOR] = id->major;
	e.f[LAP_MINOR] = id->minor;
	return e;
}

static void
kernel_queue(struct job *j, struct lap_event e, const char *name)
{
	if (!j->scanning)
		emit_queue(j, e, name, kernel_here(j), 0);
}

/* Reads a string of the program; "?" if the capture does not have it. */
static void
kernel_string(struct job *j, uint64_t addr, char name[NAME_MOST])
{
	size_t n = j->r ? replay_read(j->r, addr, name, NAME_MOST - 1) : 0;

	name[n] = '\0';
	if (!name[0])
		strcpy(name, "?");
}

static char
type_of(const char *name)
{
	return strncmp(name, "/dev/", 5) != 0 || strncmp(name, "/dev/shm/", 9) == 0 ? 'f' : 'd';
}

static void
say_open(struct job *j, const struct opened *o, const char *name)
{
	struct lap_event e;

	if (!o)
		return;
	e = file_event(j, LAP_K_OPEN, &o->id);
	e.type = o->type;
	kernel_queue(j, e, name);
}

static void
open_file(struct job *j, const struct ws_rec_sys *s, uint64_t path, uint64_t flags)
{
	size_t ordinal = open_next(j);
	char name[NAME_MOST];
	struct identity id;
	struct opened *o;
	struct lap_event e;

	kernel_string(j, path, name);
	/* files without a name are all different */
	if (name[0] == '?' && !name[1] && !(ordinal < j->nordinal && j->mapped && j->mapped[ordinal].known))
		id = open_made_up(&ordinal, sizeof ordinal);
	else
		id = open_path(j, name, ordinal);
	o = open_set(j, s->ret, type_of(name), id);
	if (o)
		o->ordinal = ordinal;
	say_open(j, o, name);
	if (o && o->type == 'f' && flags & O_TRUNC) {
		e = file_event(j, LAP_K_TRUNCATE, &id);
		kernel_queue(j, e, NULL);
	}
}

static void
open_other(struct job *j, uint64_t fd, char type, const char *name)
{
	size_t ordinal = open_next(j);
	struct identity id = open_made_up(&ordinal, sizeof ordinal);

	if (ordinal < j->nordinal && j->mapped && j->mapped[ordinal].known)
		id = j->mapped[ordinal];
	id.inode ^= (uint64_t)(unsigned char)type << 56;
	say_open(j, open_set(j, fd, type, id), name);
}

static void
close_one(struct job *j, uint64_t fd)
{
	struct identity id;

	if (open_close(j, fd, &id))
		kernel_queue(j, file_event(j, LAP_K_CLOSE, &id), NULL);
}

/* at: offset in the file, or WS_UNKNOWN: the descriptor's offset. */
static void
kernel_transfer(struct job *j, enum lap_kind kind, uint64_t fd, uint64_t n, uint64_t at)
{
	struct opened *o = open_get(j, fd);
	struct lap_event e;

	if (!o)
		return;
	e = file_event(j, kind, &o->id);
	e.f[LAP_OFF] = at == WS_UNKNOWN ? o->off : at;
	e.f[LAP_LEN] = n;
	kernel_queue(j, e, NULL);
	if (at == WS_UNKNOWN && o->type == 'f')
		o->off += n;
}

/* The offset that a call's argument points to; none: WS_UNKNOWN. */
static uint64_t
kernel_offset(struct job *j, uint64_t addr)
{
	uint8_t b[8] = { 0 };

	if (!addr)
		return WS_UNKNOWN;
	if (j->r)
		replay_read(j->r, addr, b, 8);
	return get_le64(b);
}

static void
change_file(struct job *j, enum lap_kind kind, uint64_t path, uint64_t off)
{
	char name[NAME_MOST];
	struct identity id;
	struct lap_event e;

	kernel_string(j, path, name);
	if (name[0] == '?' && !name[1])
		return;
	id = open_path(j, name, 0);
	e = file_event(j, kind, &id);
	e.f[LAP_OFF] = off;
	kernel_queue(j, e, NULL);
}

static void
kernel_duplicate(struct job *j, uint64_t from, uint64_t to)
{
	if (from != to && to < j->nfd && j->fd[to])
		close_one(j, to);
	open_share(j, from, to);
}

/* Calls that create or change descriptors.  0: it is none of them. */
static int
kernel_descriptors(struct job *j, const struct ws_rec_sys *s)
{
	const uint64_t *a = s->arg;
	struct lap_event e;

	switch (s->nr) {
	case SYS_open: open_file(j, s, a[0], a[1]); return 1;
	case SYS_creat: open_file(j, s, a[0], O_TRUNC); return 1;
	case SYS_openat: open_file(j, s, a[1], a[2]); return 1;
	case SYS_openat2: open_file(j, s, a[1], kernel_offset(j, a[2])); return 1;
	case SYS_close: close_one(j, a[0]); return 1;
	case SYS_close_range:
		for (uint64_t fd = a[0]; fd <= a[1] && fd < j->nfd && !a[2]; fd++)
			close_one(j, fd);
		return 1;
	case SYS_dup: kernel_duplicate(j, a[0], s->ret); return 1;
	case SYS_dup2: case SYS_dup3: kernel_duplicate(j, a[0], a[1]); return 1;
	case SYS_fcntl:
		if (a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
			kernel_duplicate(j, a[0], s->ret);
		return 1;
	case SYS_pipe: case SYS_pipe2: j->pair = a[0]; return 1;
	case SYS_socket: open_other(j, s->ret, 's', "socket"); return 1;
	case SYS_memfd_create: open_other(j, s->ret, 'f', "memfd"); return 1;
	case SYS_accept: case SYS_accept4:
		e = kernel_event(j, LAP_K_ACCEPT);
		kernel_queue(j, e, NULL);
		open_other(j, s->ret, 's', "socket");
		return 1;
	case SYS_lseek: {
		struct opened *o = open_get(j, a[0]);

		if (o)
			o->off = s->ret;
		return 1;
	}
	default:
		return 0;
	}
}

/* Calls that move bytes or change files. */
static void
kernel_contents(struct job *j, const struct ws_rec_sys *s)
{
	const uint64_t *a = s->arg;
	struct lap_event e;
	struct opened *o;

	switch (s->nr) {
	case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: case SYS_getdents64:
		kernel_transfer(j, LAP_K_READ, a[0], s->ret, WS_UNKNOWN);
		break;
	case SYS_pread64: case SYS_preadv: case SYS_preadv2:
		kernel_transfer(j, LAP_K_READ, a[0], s->ret, a[3]);
		break;
	case SYS_write: case SYS_writev: case SYS_sendto: case SYS_sendmsg:
		kernel_transfer(j, LAP_K_WRITE, a[0], s->ret, WS_UNKNOWN);
		break;
	case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2:
		kernel_transfer(j, LAP_K_WRITE, a[0], s->ret, a[3]);
		break;
	case SYS_sendfile:
		kernel_transfer(j, LAP_K_READ, a[1], s->ret, kernel_offset(j, a[2]));
		kernel_transfer(j, LAP_K_WRITE, a[0], s->ret, WS_UNKNOWN);
		break;
	case SYS_copy_file_range: case SYS_splice:
		kernel_transfer(j, LAP_K_READ, a[0], s->ret, kernel_offset(j, a[1]));
		kernel_transfer(j, LAP_K_WRITE, a[2], s->ret, kernel_offset(j, a[3]));
		break;
	case SYS_unlink: change_file(j, LAP_K_DELETE, a[0], 0); break;
	case SYS_unlinkat: change_file(j, LAP_K_DELETE, a[1], 0); break;
	case SYS_truncate: change_file(j, LAP_K_TRUNCATE, a[0], a[1]); break;
	case SYS_ftruncate:
		o = open_get(j, a[0]);
		if (!o)
			break;
		e = file_event(j, LAP_K_TRUNCATE, &o->id);
		e.f[LAP_OFF] = a[1];
		kernel_queue(j, e, NULL);
		break;
	case SYS_shmctl:
		if (a[1] != IPC_RMID)
			break;
		e = kernel_event(j, LAP_K_DESTROY);
		e.f[LAP_SHM] = a[0];
		kernel_queue(j, e, NULL);
		break;
	default:
		break;
	}
}

static void
kernel_call(struct job *j, const struct ws_rec_sys *s)
{
	j->call = *s;
	j->pair = 0;
	if ((int64_t)s->ret < 0 && (int64_t)s->ret >= -4095)
		return;
	if (!kernel_descriptors(j, s) && !j->scanning)
		kernel_contents(j, s);
}

static void
kernel_map(struct job *j, const struct ws_rec_map *m)
{
	int called = j->call.nr == SYS_mmap && m->addr == j->call.ret && !(j->call.arg[3] & MAP_ANONYMOUS);
	struct opened *o = called && j->call.arg[4] < j->nfd ? j->fd[j->call.arg[4]] : NULL;
	int file = m->type == WS_FILE || m->type == WS_EXE || m->type == WS_INTERP;
	struct lap_event e = kernel_event(j, LAP_K_MAP);

	if (file) {
		struct identity id = open_map(j, m, o);

		e = file_event(j, LAP_K_MAPFILE, &id);
		e.f[LAP_OFF] = m->offset;
	} else if (j->call.nr == SYS_shmat && m->addr == j->call.ret) {
		e = kernel_event(j, LAP_K_ATTACH);
		e.f[LAP_SHM] = j->call.arg[0] & UINT32_MAX;
	}
	e.f[LAP_ADDR] = m->addr;
	e.f[LAP_LEN] = m->len;
	if (!j->scanning)
		emit_queue(j, e, file ? m->name : NULL, kernel_here(j), file && !(m->flags & WS_SHARED));
}

static void
kernel_memory(struct job *j, const struct ws_rec_mem *m)
{
	struct lap_event e = kernel_event(j, LAP_K_COPY);

	if (j->pair && m->p && m->addr <= j->pair && j->pair + 8 - m->addr <= m->n) {
		const uint8_t *p = m->p + (j->pair - m->addr);

		open_other(j, get_le32(p), 'p', "pipe");
		open_other(j, get_le32(p + 4), 'p', "pipe");
		j->pair = 0;
	}
	if (m->where != WS_KERNEL || !m->n || j->scanning)
		return;
	e.f[LAP_ADDR] = m->addr;
	e.f[LAP_LEN] = m->n;
	emit_queue(j, e, NULL, kernel_here(j), 0);
}

static void
kernel_finish(struct job *j, const struct ws_rec_end *end)
{
	if (end->how != WS_STOPPED)
		kernel_queue(j, kernel_event(j, LAP_K_EXIT), NULL);
	kernel_queue(j, (struct lap_event){ .kind = LAP_K_FINISH }, NULL);
}

int
call_record(void *arg, const struct ws_rec *rec)
{
	struct job *j = arg;
	struct lap_event e;

	switch (rec->kind) {
	case WS_SYS: kernel_call(j, &rec->u.sys); break;
	case WS_SIG: j->call.nr = UINT64_MAX; break;
	case WS_MAP: kernel_map(j, &rec->u.map); break;
	case WS_UNMAP:
		e = kernel_event(j, LAP_K_UNMAP);
		e.f[LAP_ADDR] = rec->u.range.addr;
		e.f[LAP_LEN] = rec->u.range.len;
		kernel_queue(j, e, NULL);
		break;
	case WS_MOVE:
		e = kernel_event(j, LAP_K_REMAP);
		e.f[LAP_ADDR] = rec->u.move.to;
		e.f[LAP_LEN] = rec->u.move.newlen;
		e.f[LAP_OLD] = rec->u.move.from;
		e.f[LAP_OLDLEN] = rec->u.move.oldlen;
		kernel_queue(j, e, NULL);
		break;
	case WS_MEM: kernel_memory(j, &rec->u.mem); break;
	case WS_END: kernel_finish(j, &rec->u.end); break;
	default: break;
	}
	return 0;
}

/* The first pass ignores faults; the second one reports them. */
void
call_scan(struct job *j, int fd, size_t run)
{
	struct fault f;
	struct ws_reader *in = ws_open_run(fd, run, &f);
	struct ws_rec rec;

	j->scanning = 1;
	while (in && ws_next(in, &rec) == 1) {
		if (rec.kind == WS_KEY && ws_skip_key(in) != 1)
			break;
		call_record(j, &rec);
	}
	if (in)
		ws_close(in);
	j->scanning = 0;
	j->nordinal = 0;
	open_free(j);
}

void
call_begin(struct job *j, const struct ws_header *h)
{
	struct lap_event e = kernel_event(j, LAP_K_EXEC);
	struct identity id = open_made_up(h->exe, strlen(h->exe));
	const struct ws_rec_map *m;

	for (size_t i = 0; (m = replay_map(j->r, i)); i++)
		if (m->type == WS_EXE) {
			id = open_map(j, m, NULL);
			break;
		}
	e.f[LAP_INODE] = id.inode;
	e.f[LAP_MAJOR] = id.major;
	e.f[LAP_MINOR] = id.minor;
	kernel_queue(j, e, h->exe);
	e = kernel_event(j, LAP_K_ASSIGN);
	e.f[LAP_SPACE] = j->space;
	kernel_queue(j, e, NULL);
	/* these two come first; records of mappings were queued before */
	for (int k = 0; k < 2; k++) {
		struct waiting w = j->queue[j->nqueue - 1];

		memmove(j->queue + 1, j->queue, (j->nqueue - 1) * sizeof *j->queue);
		j->queue[0] = w;
	}
	e = kernel_event(j, LAP_K_SCHEDULE);
	kernel_queue(j, e, NULL);
}
