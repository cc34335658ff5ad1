/*
 * The event file of a traced program, ae.out(5): a header, chunks of events with check sums, an end
 * record. The reader returns the payloads of one thread; only a schema knows what events mean.
 */
#ifndef TM_FORMAT_AE_EVENTS_H
#define TM_FORMAT_AE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#define EV_MAGIC     "\x89" "AEOUT" "\r\n"
#define EV_PACKED    "\x89" "AEPK\r\n"   /* magic of a packed event file, aepack(5) */
#define EV_VERSION   7          /* 6 has no order of synchronisation, 5 has no streams of handlers, 4 no libraries, 3 no base, 2 one thread only */
#define EV_IDMAX     32
#define EV_HEADMIN   104        /* bytes of a header without a parent's name */
#define EV_HEADMAX   8192
#define EV_MODPATH   56         /* offset of the path in the payload of a library's record */
#define EV_MODMIN    64
#define EV_MODMAX    8176
#define EV_CHUNKMAX  (4u << 20)
#define EV_ENDLEN    64         /* bytes of the end record after its 16 bytes of frame */

#define EV_CHILD     1u         /* flag of the header: a forked child */

/*
 * Of a thread that did not end the process: EV_EXIT if it ended before that, or was outside traced code; EV_RUNNING if
 * it ran traced code; EV_LOST if nobody knows what its last events are.
 */
enum ev_reason { EV_EXIT, EV_SIGNAL, EV_EXEC, EV_STOPPED, EV_LIMITED, EV_NREASONS, EV_RUNNING = EV_NREASONS, EV_LOST };

/* Records of a thread */
enum ev_thread { EV_BEGINS, EV_CHUNK, EV_ENDS };

enum ev_access { EV_NOACCESS, EV_SOME, EV_READ, EV_WRITE, EV_NACCESSES };

#define EV_PAGE 4096u           /* zeros after a chunk end at a multiple of this offset */

/* Items of a run sequence; 1 to EV_NFUNC0 begin a function number. */
#define EV_RETURN    0x00
#define EV_UNWIND    0xfd
#define EV_ENTER     0xfe
#define EV_LAND      0xff
#define EV_CAUGHT    0xffff     /* instead of the site: an exception lands in the frame that has this stack pointer in it */
#define EV_NFUNC0    252
/* EV_UNWIND with such a word, which is no stack pointer: a point in the order of synchronisation; the number is the rest */
#define EV_POINT     (UINT64_C(1) << 63)
#define EV_BIRTH     (UINT64_C(1) << 62)     /* ... the one at which the thread was made, with which its stream begins */
#define EV_NFUNCS    (256u * EV_NFUNC0)      /* functions that have numbers */

/* Name of a machine by its ELF number; NULL if it has none here. */
const char *ev_machine(unsigned machine);

/* Number of the i-th function of the executable; at most 256 * EV_NFUNC0 functions have one. */
static inline unsigned
ev_funcno(unsigned i)
{
	return (i / EV_NFUNC0) << 8 | (1 + i % EV_NFUNC0);
}

/* Reads up to n bytes; fewer only at the end of the input or after an error. */
typedef size_t ev_read_fn(void *arg, void *buf, size_t n);
/* Passes over them in the same way */
typedef size_t ev_pass_fn(void *arg, size_t n);

struct ev_header {
	uint8_t id[EV_IDMAX];
	unsigned idlen;
	uint16_t machine;               /* ELF's number */
	uint64_t fs;                    /* fs base (thread pointer) of the traced thread */
	uint64_t flags;
	uint64_t parent_pos;            /* EV_CHILD: number of the parent's events that come first */
	uint32_t parent_task;           /* ... and of its thread that they are of */
	uint64_t base;                  /* what the addresses of the run are more than those of the executable's file */
	char parent[EV_HEADMAX];        /* EV_CHILD: its file, "" if unknown */
};

struct ev_end {
	uint32_t reason, sig;           /* enum ev_reason, for the thread that is read */
	uint64_t nbytes, nthread, nhandler, rip;
	/* EV_SIGNAL of an access to memory: the address, and what it was; else EV_NOACCESS */
	uint64_t addr;
	uint32_t access;                /* enum ev_access */
	uint32_t tail;                  /* of the last bytes of events, those after the access are none */
};

/* A shared library of the run */
struct ev_module {
	uint32_t first, n;              /* its functions have the numbers from `first` on, counted from 0 */
	uint64_t base;                  /* as that of the executable */
	uint8_t id[EV_IDMAX];
	unsigned idlen;
	uint64_t off;                   /* of its record */
	char *path;                     /* owned */
};

struct ev_reader {
	ev_read_fn *read;
	ev_pass_fn *pass;               /* set after ev_open, or NULL: then `read` is used */
	void *arg;
	struct ev_header head;
	struct ev_end end;              /* valid when `ended` */
	int ended;
	const char *err;                /* NULL, or a static message */
	uint64_t erroff;                /* the byte of the file that is at fault */
	uint64_t off;                   /* bytes of the file read */
	uint64_t nbytes;                /* payload bytes returned */
	uint64_t payload_off;           /* file offset of the last payload returned */
	size_t nlast;                   /* its bytes */
	int last;                       /* no payload follows the one returned */
	uint32_t task;                  /* the thread that is read, from 1 */
	uint64_t fs;                    /* its thread pointer */
	uint32_t interrupts;            /* it has handlers that interrupted the traced code of this one; 0: a thread */
	int ordered;                    /* the order of synchronisation is in the events, if there are several threads */
	uint32_t next;                  /* the lowest number of a thread that is higher; 0: none was seen yet */
	int list;                       /* set after ev_open: `begins` is made */
	uint32_t *begins;               /* owned: the numbers of all streams, but the first, that have begun */
	size_t nbegin;
	uint64_t other;                 /* payload bytes of other threads that were passed over */
	struct ev_module *module;       /* owned: the libraries so far, by number */
	size_t nmodule;
	/* private */
	uint8_t frame[16];
	int have_frame;
	int version, begun, left;       /* left: the thread's stream has ended, in this way (enum ev_reason), or -1 */
	uint8_t part[8];                /* the first bytes of a chunk of a thread */
	uint8_t *payload;               /* owned, EV_CHUNKMAX bytes */
	uint8_t *waste;                 /* owned, for what is passed over */
};

/* Reads and checks the header: 0, or -1 with err and erroff. Allocates all memory that is ever needed. */
int ev_open(struct ev_reader *r, ev_read_fn *read, void *arg);

/* The library whose function has this number, as far as the file was read; NULL: none. Valid until the next call */
const struct ev_module *ev_module(const struct ev_reader *r, uint32_t number);

/* Before ev_next: reads thread n instead of the first. 0, or -1 with err and erroff. */
int ev_task(struct ev_reader *r, uint32_t n);

/* Are there other threads than the first in the file, as its end record at p says, EV_ENDLEN + 16 bytes? -1: it is none */
int ev_several(const uint8_t *p);

/*
 * The next payload: its length, *p valid until the next call; 0 after the end record; -1 at a fault
 * (err, erroff). The part of a truncated chunk that is there is returned before the fault; a chunk
 * with a wrong check sum is not.
 */
long ev_next(struct ev_reader *r, const uint8_t **p);
void ev_close(struct ev_reader *r);

uint64_t ev_checksum(const uint8_t *p, size_t n);

/*
 * Short values: 8 bytes, mostly of pointers, in 4, 8 or 12 bytes, which the first four tell. Only the shortest form is
 * valid: ev_short returns how many bytes the value at p has, of which there are 12, or 0.
 */
#define EV_SHORTMAX 12
static inline unsigned ev_shortlen(uint32_t first) { return !(first >> 31) ? 4 : first == UINT32_MAX ? 12 : 8; }
unsigned ev_short(const uint8_t *p, uint64_t *v);
unsigned ev_putshort(uint8_t *p, uint64_t v);

#endif
