/* Types and functions shared by the files of wsgdb: a server of gdb's remote protocol over a replayed run. */
#ifndef TM_APPS_WSGDB_H
#define TM_APPS_WSGDB_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/ws/kept.h"
#include "replay/history/history.h"

/*
 * Bytes of a packet, in either direction: what gdb is told.  All registers must fit; when gdb wants a
 * little of a file, it reads as much as fits, so it should not be much more than that.
 */
#define PACKET_MAX 6144u
#define NFILES 16u              /* files that gdb may have open at once */
#define NPOINTS 4096u           /* breakpoints and watchpoints at most */

/* A connection to gdb: packets with check sums, bytes that mean an interrupt. */
struct wire {
	int in, out;                    /* descriptors */
	int noack;                      /* packets are not acknowledged any more */
	int eof;                        /* gdb sends no more */
	int interrupt;                  /* one came while nothing ran: it is for what runs next */
	int gone;                       /* and reads no more */
	uint8_t room[2 * PACKET_MAX];   /* what was read: room[at] to room[n] is left */
	size_t at, n;
	char packet[2 * PACKET_MAX + 1];        /* the last packet, ends with a zero byte */
	size_t len;
	struct buf last;                /* the last packet sent, framed */
};

struct point {                          /* a Z packet */
	unsigned type;                  /* 0 to 4 */
	uint64_t addr, n;
};

struct server {
	struct wire *w;
	struct history *h;
	const char *name;               /* of the capture, for diagnostics */
	int multi;                      /* gdb understands processes: p1.1 */
	int extended;                   /* target extended-remote */
	int ended;                      /* the conversation is over */
	struct history_stop stop;       /* the last stop */
	int over;                       /* it is where the thread ended, or began, that was to step */
	uint32_t general, resumed;      /* the threads of Hg and Hc; 0: the one that runs */
	uint64_t modid;                 /* where libc says where a link map has its number of a TLS block; 0: not known */
	struct point *point;            /* owned */
	size_t npoint, cappoint;
	struct buf auxv, target, maps;  /* what qXfer and vFile read */
	uint64_t begin;                 /* the run is to be shown from here; 0: it is at its place */
	/* monitor goto: where the next command that runs begins; WS_UNKNOWN: no goto */
	uint64_t jump;
	int jumped;                     /* gdb was told to look at the libraries; then comes the stop */
	int saidmem;                    /* a warning that memory is not written */
	struct {
		int fd, maps, used;
		uint8_t *kept;          /* the contents of one that the capture keeps; owned */
		size_t nkept;
	} file[NFILES];
	struct ws_runs *runs;           /* of the capture, with the files that it keeps; NULL: it keeps none */
	int capture;                    /* its descriptor */
	struct buf said;                /* names of files that were warned of, each with a zero byte */
};

/*
 * packet.c.  wire_next: the next packet, in w->packet: 1; 0: gdb is gone.  wire_send sends a packet
 * of n bytes that need no escape.
 */
int wire_next(struct wire *w);
void wire_send(struct wire *w, const void *p, size_t n);
void wire_text(struct wire *w, const char *s);
int wire_interrupted(struct wire *w);           /* has gdb sent an interrupt since the last call? Never waits. */
/* "O" and the text in hexadecimal: gdb prints it, while it waits for a stop or the answer of monitor */
void wire_console(struct wire *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void packet_hex(struct buf *b, const void *p, size_t n);        /* appends bytes in hexadecimal */
/* appends bytes, escaped, as long as b has at most PACKET_MAX - 64 bytes; how many of them */
size_t packet_binary(struct buf *b, const uint8_t *p, size_t n);
/* bytes of 2n hexadecimal digits: 0, or -1 */
int packet_unhex(uint8_t *to, const char *s, size_t n);
/* a hexadecimal number at *s, which is advanced, and then `end`, unless that is zero: 0, or -1 */
int packet_number(const char **s, uint64_t *v, char end);

/* registers.c */
void registers_describe(struct server *s, struct buf *b);       /* the target description */
void registers_all(struct server *s, struct buf *b);            /* g */
int registers_one(struct server *s, uint64_t number, struct buf *b);    /* p: 0; -1: no such register */
void registers_expedite(struct server *s, struct buf *b);       /* rbp, rsp, rip for a stop reply */

/* thread.c */

/* The thread of `N` or `pP.N` at *p, which is advanced; 0: any, or all.  0, or -1: there is no such thread. */
int thread_parse(struct server *s, const char **p, uint32_t *number);
void thread_name(const struct server *s, struct buf *b, uint32_t number);       /* appends it, as gdb names it */
uint32_t thread_stopped(const struct server *s);        /* the one of the last stop */
void thread_select(struct server *s);                   /* H */
void thread_is_alive(struct server *s);                 /* T */
void thread_list(struct server *s);                     /* qfThreadInfo: all of them */
void thread_extra(struct server *s);                    /* qThreadExtraInfo */
void thread_symbol(struct server *s);                   /* qSymbol */
void thread_tls(struct server *s);                      /* qGetTLSAddr */
/* registers of a thread, and its processor state until the next call */
const uint8_t *thread_registers(struct server *s, uint32_t number, struct ws_regs *g);

/* run.c */
int run_packet(struct server *s);               /* a packet that runs, or ? : 1; 0: it is another */
void run_restart(struct server *s);             /* to the beginning, without an answer */
void run_reply(struct server *s);               /* the reply of the last stop */
int run_point(struct server *s);                /* Z and z: 1 */
int signal_of_gdb(uint64_t number);             /* Linux' number of gdb's; 0: none */

/* object.c */
void object_auxv(struct server *s);             /* at the beginning of the run: finds the auxiliary vector */
int object_word(struct server *s, uint64_t addr, uint64_t *v);  /* 8 bytes of memory: 0, or -1: there are none */
void object_maps(struct server *s);             /* makes s->maps, like /proc/PID/maps */
void object_transfer(struct server *s);         /* qXfer */

/* file.c */
void file_packet(struct server *s);             /* vFile */
void file_close_all(struct server *s);

/* monitor.c */
void monitor_packet(struct server *s);          /* qRcmd */

/* serve.c */
void serve(struct server *s);                   /* until gdb is gone */
_Noreturn void serve_bad(struct server *s);     /* the replay can do nothing more */

#endif
