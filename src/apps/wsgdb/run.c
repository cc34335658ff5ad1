/* Packets that run the program, breakpoints, and what gdb is told of a stop. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/mem.h"

/* What a packet asks for */
struct resume {
	int back, step, range;
	uint32_t thread;                /* steps; 0: the one that runs */
	uint64_t from, to;              /* range: steps while the pc is there */
};

/* gdb numbers signals in its own way */
static const struct { uint8_t gdb, linux; } signals[] = {
	{ 1, SIGHUP }, { 2, SIGINT }, { 3, SIGQUIT }, { 4, SIGILL }, { 5, SIGTRAP }, { 6, SIGABRT }, { 8, SIGFPE },
	{ 9, SIGKILL }, { 10, SIGBUS }, { 11, SIGSEGV }, { 12, SIGSYS }, { 13, SIGPIPE }, { 14, SIGALRM },
	{ 15, SIGTERM }, { 16, SIGURG }, { 17, SIGSTOP }, { 18, SIGTSTP }, { 19, SIGCONT }, { 20, SIGCHLD },
	{ 21, SIGTTIN }, { 22, SIGTTOU }, { 23, SIGIO }, { 24, SIGXCPU }, { 25, SIGXFSZ }, { 26, SIGVTALRM },
	{ 27, SIGPROF }, { 28, SIGWINCH }, { 30, SIGUSR1 }, { 31, SIGUSR2 }, { 32, SIGPWR }, { 77, 32 }, { 78, 64 },
};

static unsigned
signal_to_gdb(int sig)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].linux == sig)
			return signals[i].gdb;
	return sig > 32 && sig < 64 ? (unsigned)sig + 12 : 143; /* SIG33 is 45; 143: unknown */
}

int
signal_of_gdb(uint64_t number)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].gdb == number)
			return signals[i].linux;
	return number >= 45 && number <= 75 ? (int)number - 12 : 0;
}

/* Says once more what happened at the end, as gdb only says that there is no more history. */
static void
say_end(struct server *s)
{
	struct history_end e = history_ended(s->h);

	if (e.fault)
		wire_console(s->w, "wsgdb: the capture ends here: %s\n", e.fault->err);
	else if (e.end && e.end->how == WS_EXITED)
		wire_console(s->w, "wsgdb: the program exits here with status %u\n", e.end->status);
	else if (e.end && e.end->how == WS_KILLED)
		wire_console(s->w, "wsgdb: signal %u killed the program here\n", e.end->status);
	else
		wire_console(s->w, "wsgdb: the capture ends here, before the program did\n");
}

static int
has_point(const struct server *s, unsigned type, uint64_t addr)
{
	for (size_t i = 0; i < s->npoint; i++)
		if (s->point[i].type == type && s->point[i].addr == addr)
			return 1;
	return 0;
}

static void
run_thread(struct server *s, struct buf *b)
{
	buf_str(b, "thread:");
	thread_name(s, b, thread_stopped(s));
	buf_u8(b, ';');
}

/* There is news of the libraries: gdb looks at them. */
static void
run_libraries(struct server *s)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "T05library:;");
	run_thread(s, &b);
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

void
run_reply(struct server *s)
{
	const struct history_stop *stop = &s->stop;
	uint64_t pc = replay_regs(history_replay(s->h))->rip;   /* where a breakpoint is, the thread runs */
	struct buf b = BUF_INIT;
	unsigned sig = signal_to_gdb(SIGTRAP);

	if (s->over)
		sig = 0;        /* else gdb says that the thread that runs there got SIGTRAP */
	else if (stop->why == HISTORY_SIGNAL)
		sig = signal_to_gdb(stop->sig);
	else if (stop->why == HISTORY_INTERRUPT)
		sig = signal_to_gdb(SIGINT);
	buf_printf(&b, "T%02x", sig);
	switch (stop->why) {
	case HISTORY_BREAK: buf_str(&b, has_point(s, 0, pc) ? "swbreak:;" : "hwbreak:;"); break;
	case HISTORY_WATCH:
		buf_printf(&b, "%s:%" PRIx64 ";", stop->access == HISTORY_WRITE ? "watch" :
		    stop->access == HISTORY_READ ? "rwatch" : "awatch", stop->addr);
		break;
	case HISTORY_BEGIN: buf_str(&b, "replaylog:begin;"); break;
	case HISTORY_END: buf_str(&b, "replaylog:end;"); break;
	default: break;
	}
	run_thread(s, &b);
	s->general = thread_stopped(s);
	registers_expedite(s, &b);
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

static void
run_stopped(struct server *s, struct history_stop stop)
{
	if (stop.why == HISTORY_BAD)
		serve_bad(s);
	s->stop = stop;
	if (stop.why == HISTORY_END)
		say_end(s);
	run_reply(s);
}

/*
 * The program is elsewhere, at once: gdb looks at the libraries, and goes on with what it was
 * doing.  The next packet has the stop as its answer.
 */
static void
run_jump(struct server *s)
{
	struct history_stop stop = history_goto(s->h, s->jump);

	s->jump = WS_UNKNOWN;
	if (stop.why == HISTORY_BAD)
		serve_bad(s);
	s->stop = stop;
}

/* Goes to where the conversation begins, once gdb waits for it: it has little patience before. */
static void
run_begin(struct server *s)
{
	uint64_t to = s->begin;

	s->begin = 0;
	if (!to)
		return;
	s->stop = history_goto(s->h, to);
	if (s->stop.why == HISTORY_BAD)
		serve_bad(s);
	if (s->stop.why != HISTORY_SIGNAL)
		s->stop.why = HISTORY_STEP;
}

static void
run_resume(struct server *s, const struct resume *r)
{
	struct history_stop stop;

	run_begin(s);
	s->over = 0;
	/*
	 * gdb's conditions let the program run from stop to stop, and it is between two of them that an interrupt comes
	 * then.  At a goto it is asked for when that is done.
	 */
	if (!s->jumped && s->jump == WS_UNKNOWN && wire_interrupted(s->w)) {
		run_stopped(s, (struct history_stop){ .why = HISTORY_INTERRUPT });
		return;
	}
	if (s->jumped) {
		s->jumped = 0;
		/* the end of the run, or a signal there, is no end of a way back */
		if (r->step || s->stop.why == HISTORY_INTERRUPT || (s->stop.why != HISTORY_STEP && !r->back)) {
			run_stopped(s, s->stop);
			return;
		}
	} else if (s->jump != WS_UNKNOWN) {
		run_jump(s);
		s->jumped = 1;
		run_libraries(s);
		return;
	}
	if (r->range)
		stop = history_step_range(s->h, r->thread, r->from, r->to);
	else
		stop = r->step ? history_step(s->h, r->thread, r->back) : history_run(s->h, r->back);
	s->over = r->step && stop.why == HISTORY_STEP && !stop.thread;
	run_stopped(s, stop);
}

/* The first action of vCont; other threads run as they did.  0, or -1 */
static int
run_action(struct server *s, const char *p, struct resume *r)
{
	switch (*p++) {
	case 'c': case 'C': return 0;
	case 's': case 'S':
		r->step = 1;
		break;
	case 'r':
		r->step = r->range = 1;
		if (packet_number(&p, &r->from, ',') != 0 || packet_number(&p, &r->to, '\0') != 0)
			return -1;
		break;
	default:
		return -1;
	}
	p += strcspn(p, ":;");          /* a signal's number */
	if (*p == ':') {
		p++;
		return thread_parse(s, &p, &r->thread) != 0 || (*p && *p != ';') ? -1 : 0;
	}
	return 0;
}

int
run_packet(struct server *s)
{
	const char *p = s->w->packet;
	struct resume r = { 0 };

	if (strcmp(p, "?") == 0) {
		run_begin(s);
		run_reply(s);
	} else if (strcmp(p, "vCont?") == 0)
		wire_text(s->w, "vCont;c;C;s;S;r");
	else if (strncmp(p, "vCont;", 6) == 0) {
		if (run_action(s, p + 6, &r) == 0)
			run_resume(s, &r);
		else
			wire_text(s->w, "E01");
	} else if (strcmp(p, "bs") == 0 || strcmp(p, "bc") == 0) {
		r.back = 1;
		r.thread = s->resumed;
		r.step = p[1] == 's';
		run_resume(s, &r);
	} else if (strcmp(p, "c") == 0 || strcmp(p, "s") == 0 || *p == 'C' || *p == 'S') {
		r.step = *p == 's' || *p == 'S';
		r.thread = s->resumed;
		run_resume(s, &r);
	} else if (*p == 'c' || *p == 's')
		wire_text(s->w, "E.the program counter cannot be changed");
	else
		return 0;
	return 1;
}

void
run_restart(struct server *s)
{
	s->jump = WS_UNKNOWN;
	s->jumped = 0;
	s->over = 0;
	s->stop = history_goto(s->h, 0);
	if (s->stop.why == HISTORY_BAD)
		serve_bad(s);
}

/* Tells the history of a point, or of its end. */
static int
point_set(struct server *s, const struct point *p, int on)
{
	static const unsigned access[] = { 0, 0, HISTORY_WRITE, HISTORY_READ, HISTORY_READ | HISTORY_WRITE };

	if (p->type >= 2)
		return history_watch(s->h, p->addr, p->n, access[p->type], on);
	/* the other type may be there, too */
	if (!on && has_point(s, !p->type, p->addr))
		return 0;
	return history_break(s->h, p->addr, on);
}

static int
point_change(struct server *s, const struct point *p, int on)
{
	size_t i;

	for (i = 0; i < s->npoint; i++)
		if (s->point[i].type == p->type && s->point[i].addr == p->addr && s->point[i].n == p->n)
			break;
	if (on == (i < s->npoint))
		return 0;
	if (on && s->npoint == NPOINTS)
		return -1;
	if (point_set(s, p, on) != 0)
		return -1;
	if (on) {
		s->point = mem_xgrow(s->point, &s->cappoint, s->npoint + 1, sizeof *s->point);
		s->point[s->npoint++] = *p;
	} else
		s->point[i] = s->point[--s->npoint];
	return 0;
}

int
run_point(struct server *s)
{
	const char *p = s->w->packet;
	int on = *p == 'Z';
	struct point k;

	if ((*p != 'Z' && *p != 'z') || p[1] < '0' || p[1] > '4' || p[2] != ',')
		return 0;
	k.type = (unsigned)(p[1] - '0');
	p += 3;
	if (packet_number(&p, &k.addr, ',') != 0 || packet_number(&p, &k.n, '\0') != 0 ||
	    point_change(s, &k, on) != 0)
		wire_text(s->w, "E01");
	else
		wire_text(s->w, "OK");
	return 1;
}
