/* Captures: round trips, truncation, flipped bits, hostile files; `wstest example` writes the example of ws(5),
   `wstest seeds FOLDER` first inputs of wsfuzz. */
#include <lzma.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../check.h"
#include "base/bytes.h"
#include "format/ws/ws_internal.h"
#include "wsmake.h"

#define RECS 700

static struct ws_rec recs[RECS];
static size_t nrec;

static void
add(enum ws_kind kind, struct ws_regs *g)
{
	rnd_rec(&recs[nrec++], kind, g);
}

/* A random capture of about n records in recs */
static void
make(size_t n)
{
	struct ws_regs g = { .rip = 0 };

	nrec = 0;
	add(WS_START, &g);
	while (nrec < n) {
		enum ws_kind k = WS_MAP + rnd() % (WS_KEY - WS_MAP + 2);

		if (k == WS_KEY + 1)
			k = rnd() % 2 ? WS_NOTE : WS_MEM;
		if (k != WS_KEY) {
			add(k, &g);
			continue;
		}
		if (rnd() % 16)
			continue;
		add(WS_KEY, &g);
		for (size_t i = rnd() % 9; i; i--)
			add(rnd() % 3 ? WS_MEM : WS_MAP, &g);
		add(WS_KEYEND, &g);
	}
	add(WS_END, &g);
}

/* Writes recs to s; cuts groups here and there if `cuts` is set. */
static int
write_all(struct sink *s, enum ws_level level, int cuts)
{
	struct fault f;
	struct ws_writer *w = ws_create(sink_write, s, &make_head, level, &f);
	int good = w != NULL;

	for (size_t i = 0; good && i < nrec; i++) {
		struct ws_rec r = recs[i];
		uint8_t *room;

		if (cuts && rnd() % 50 == 0)
			good = ws_end_group(w) == 0;
		if (cuts && rnd() % 9 == 0)
			ws_icount(w, i);
		if (r.kind == WS_MEM && r.u.mem.p && r.u.mem.n <= WS_MEM_MAX && rnd() % 2) {
			room = ws_reserve(w, r.u.mem.addr, r.u.mem.n + rnd() % 2 * (WS_MEM_MAX - r.u.mem.n));
			memcpy(room, r.u.mem.p, r.u.mem.n);
			r.u.mem.p = room;
		}
		good = good && ws_put(w, &r) == 0;
	}
	good = good && ws_finish(w) == 0;
	if (!good)
		printf("# %s\n", w ? ws_write_fault(w)->err : f.err);
	ws_free(w);
	return good;
}

/*
 * The records from r on are recs[i...]; MEM may come in pieces.  How many records of recs were
 * given, and the last ws_next in *end.
 */
static size_t
compare(struct ws_reader *r, size_t i, int *end)
{
	struct ws_rec got;
	struct ws_rec_mem want = { .n = 0 };

	while ((*end = ws_next(r, &got)) == 1) {
		if (want.n || (i < nrec && recs[i].kind == WS_MEM && got.kind == WS_MEM)) {
			if (!want.n)
				want = recs[i].u.mem;
			if (got.kind != WS_MEM || !take_mem(&want, &got.u.mem)) {
				*end = 2;
				return i;
			}
			i += !want.n;
			continue;
		}
		if (i == nrec || !same_rec(&recs[i], &got)) {
			printf("# record %zu, %s: not the same\n", i, ws_kind_name(got.kind));
			*end = 2;
			return i;
		}
		i++;
	}
	return i;
}

static int
same_head(const struct ws_header *h)
{
	int good = h->machine == make_head.machine && h->xcr0 == make_head.xcr0 &&
	    h->when == make_head.when &&
	    h->flags == make_head.flags && !strcmp(h->version, make_head.version) &&
	    !strcmp(h->brand, make_head.brand) &&
	    !strcmp(h->kernel, make_head.kernel) && !strcmp(h->exe, make_head.exe) &&
	    h->argc == make_head.argc &&
	    h->ncpuid == make_head.ncpuid && !memcmp(h->cpuid, make_cpuid, sizeof(make_cpuid)) &&
	    !h->argv[h->argc];

	for (size_t i = 0; good && i < h->argc; i++)
		good = !strcmp(h->argv[i], make_argv[i]);
	return good;
}

/* From memory, from the start and from each group; and what is read, written again, is the same file */
static int
reads_back(const struct sink *s)
{
	struct fault f;
	struct ws_reader *r = ws_open_mem(s->p, s->n, &f);
	const struct ws_group *g;
	size_t n, whole_n;
	int end, whole, good;

	if (!r)
		return 0;
	good = same_head(ws_head(r)) && compare(r, 0, &end) == nrec && end == 0;
	if (!good)
		printf("# %s\n", ws_fault(r)->err);
	whole_n = ws_rec_no(r);
	g = ws_groups(r, &n, &whole);
	good = good && g && whole && g[n - 1].rec + g[n - 1].nrec == whole_n;
	for (size_t i = n; good && i-- > 0;) {
		struct ws_rec rec;
		uint64_t k = 0;

		good = ws_seek_group(r, i) == 0;
		while (good && (end = ws_next(r, &rec)) == 1) {
			good = k || !(g[i].flags & WS_GROUP_KEY) || rec.kind == WS_KEY;
			k++;
		}
		good = good && end == 0 && k == whole_n - g[i].rec;
	}
	ws_close(r);
	return good;
}

static uint64_t
digest(const struct ws_rec *rec)
{
	const uint8_t *p[3] = { NULL, NULL, NULL };
	size_t n[3] = { 0, 0, 0 };
	uint64_t h = rec->kind;

	switch (rec->kind) {
	case WS_MEM: p[0] = rec->u.mem.p; n[0] = p[0] ? rec->u.mem.n :
	    0; h += rec->u.mem.addr + rec->u.mem.n; break;
	case WS_MAP: p[0] = rec->u.map.id; n[0] = rec->u.map.nid; p[1] =
	    (const uint8_t *)rec->u.map.name; n[1] = strlen(rec->u.map.name); break;
	case WS_SYS: h += rec->u.sys.pc + rec->u.sys.arg[0] + rec->u.sys.arg[2] + rec->u.sys.ret; break;
	case WS_SIG: p[0] = rec->u.sig.xsave; n[0] = rec->u.sig.nxsave; p[1] = rec->u.sig.stack; n[1] =
	    rec->u.sig.nstack;
		p[2] = rec->u.sig.words; n[2] = rec->u.sig.nwords * WS_SIGWORD;
		h += ws_hash(&rec->u.sig.at) + ws_hash(&rec->u.sig.to); break;
	case WS_START: case WS_KEY: p[0] = rec->u.state.xsave; n[0] =
	    rec->u.state.nxsave; h += ws_hash(&rec->u.state.regs); break;
	case WS_TSC: h += rec->u.tsc.value; break;
	case WS_RAND: h += rec->u.rand.value + rec->u.rand.insn; break;
	case WS_TIME: h += rec->u.time; break;
	default: break;
	}
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < n[i]; k++)
			h = h * 31 + p[i][k];
	return h;
}

/* Marks after triggers, to which other readers return. */
static int
marks(const struct sink *s)
{
	static uint64_t was[8 * RECS];
	struct { struct ws_mark *m; uint64_t n; } at[12] = { { NULL, 0 } };
	struct fault f;
	struct ws_reader *r = ws_open_mem(s->p, s->n, &f);
	struct ws_rec rec;
	size_t n = 0, k = 0;
	int good = 1;

	while (r && n < 8 * RECS && ws_next(r, &rec) == 1) {
		was[n++] = digest(&rec);
		if ((ws_is_trigger(rec.kind) || rec.kind == WS_KEY) && rnd() % 8 == 0) {
			ws_mark_free(at[k % 12].m);
			at[k % 12].n = n;
			good &= (at[k++ % 12].m = ws_mark(r, &rec)) != NULL;
		}
	}
	for (int i = 0; good && k && i < 40; i++) {
		size_t j = rnd() % (k < 12 ? k : 12), t = at[j].n, more = rnd() % 30;

		if (i % 10 == 9) {
			ws_close(r);
			r = ws_open_mem(s->p, s->n, &f);
		}
		good = ws_mark_return(r, at[j].m, &rec) == 0 && digest(&rec) == was[t - 1] && ws_rec_no(r) == t;
		for (; good && t < n && more; t++, more--)
			good = ws_next(r, &rec) == 1 && digest(&rec) == was[t];
		if (good && more)
			good = ws_next(r, &rec) == 0;
	}
	for (int i = 0; i < 12; i++)
		ws_mark_free(at[i].m);
	ws_close(r);
	return good;
}

static void
round_trips(void)
{
	static const char *const name[] = { "plain", "quick", "small" };

	for (int level = WS_PLAIN; level <= WS_SMALL; level++) {
		char what[80];
		int good = 1;

		for (int i = 0; good && i < (level == WS_SMALL ? 4 : 25); i++) {
			struct sink s = { NULL, 0, 0 }, t = { NULL, 0, 0 };
			uint64_t seed;

			make(20 + rnd() % (RECS - 60));
			seed = rnd();
			rnd_state = seed | 1;
			good = write_all(&s, (enum ws_level)level, i % 2) && reads_back(&s) && marks(&s);
			rnd_state = seed | 1;
			good = good && write_all(&t, (enum ws_level)level, i % 2) &&
			    same_bytes(s.p, s.n, t.p, t.n);
			free(s.p);
			free(t.p);
		}
		snprintf(what, sizeof(what), "%s: random records come back, from the start, from each group "
		    "and from marks", name[level]);
		CHECK(what, good);
	}
}

/* The filter for code and back, at all lengths */
static int
filter(void)
{
	static uint8_t a[4096];

	for (int i = 0; i < 20000; i++) {
		size_t n = rnd() % 4 ? rnd() % 40 : rnd() % sizeof(a);
		const uint8_t *p = rnd_block(n);
		uint64_t addr = rnd_num();

		memcpy(a, p, n);
		ws_x86_absolute(a, n, addr);
		ws_x86_relative(a, n, addr);
		if (memcmp(a, p, n))
			return 0;
	}
	return 1;
}

/* Through a pipe there is no seeking, but everything else */
static void
pipes(void)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	struct ws_reader *r;
	size_t n;
	int fd[2], end, good;

	make(200);
	CHECK("written", write_all(&s, WS_QUICK, 1) && pipe(fd) == 0);
	if (!fork()) {
		close(fd[0]);
		_exit(ws_write_fd(&fd[1], s.p, s.n));
	}
	close(fd[1]);
	r = ws_open(fd[0], &f);
	good = r && compare(r, 0, &end) == nrec && end == 0;
	CHECK("read from a pipe", good);
	CHECK("which has no groups", r && !ws_groups(r, &n, NULL) &&
	    !strcmp(ws_fault(r)->err, "a pipe has no index"));
	ws_close(r);
	close(fd[0]);
	free(s.p);
}

/* A small capture of several groups, without random parts */
static void
small(struct sink *s, enum ws_level level)
{
	static uint8_t line[128];
	static const uint8_t state[5] = { 1, 0, 0, 0, 7 };
	struct fault f;
	struct ws_writer *w = ws_create(sink_write, s, &make_head, level, &f);
	struct ws_regs g = { .r = { [WS_RSP] = 0x7ffffffde000 }, .rip = 0x401000, .rflags = 0x200 };

	for (int i = 0; i < 128; i++)
		line[i] = (uint8_t)(i / 3);
	nrec = 0;
	recs[nrec++] = (struct ws_rec){ WS_START, { .state = { .regs = g, .xsave = state, .nxsave = 5 } } };
	recs[nrec++] = (struct ws_rec){ WS_MAP,
	    { .map = { .addr = 0x400000, .len = 0x2000, .prot = 5, .type = WS_EXE,
	    .name = "/bin/prog", .id = line, .nid = 4 } } };
	recs[nrec++] = (struct ws_rec){ WS_MEM, { .mem = { .addr = 0x401000, .p = line, .n = 128 } } };
	recs[nrec++] = (struct ws_rec){ WS_SYS,
	    { .sys = { .pc = 0x401020, .nr = 0, .arg = { 3, 0x7ffffffde000, 100 },
	    .ret = 100, .hash = 0x12345678 } } };
	recs[nrec++] = (struct ws_rec){ WS_MEM,
	    { .mem = { .addr = 0x7ffffffde000, .p = line + 1, .n = 100 } } };
	recs[nrec++] = (struct ws_rec){ WS_KEY,
	    { .state = { .regs = g, .icount = 1000, .instances = 990 } } };
	recs[nrec++] = (struct ws_rec){ WS_MEM, { .mem = { .addr = 0x401040, .p = line, .n = 64 } } };
	recs[nrec++] = (struct ws_rec){ WS_KEYEND, { .note = NULL } };
	recs[nrec++] = (struct ws_rec){ WS_TSC, { .tsc = { .value = 123456789, .has_aux = 1, .aux = 3 } } };
	recs[nrec++] = (struct ws_rec){ WS_SYS,
	    { .sys = { .pc = 0x401040, .nr = 231, .arg = { 0 }, .hash = 0x9abcdef0 } } };
	recs[nrec++] = (struct ws_rec){ WS_RAND,
	    { .rand = { .insn = WS_RDSEED, .value = 0x1122334455667788 } } };
	recs[nrec++] = (struct ws_rec){ WS_TIME, { .time = 2500000 } };
	recs[nrec++] = (struct ws_rec){ WS_END,
	    { .end = { .how = WS_EXITED, .status = 3, .icount = 2000 } } };
	for (size_t i = 0; i < nrec; i++)
		if (!w || ws_put(w, &recs[i]) != 0)
			exit(2);
	if (ws_finish(w) != 0)
		exit(2);
	ws_free(w);
}

/* Read through, without what is in a keyframe; and from the keyframe */
static int
keyframes(void)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	struct ws_reader *r;
	struct ws_rec rec;
	const struct ws_group *g;
	size_t n, key = 0;
	int good;

	small(&s, WS_SMALL);
	r = ws_open_mem(s.p, s.n, &f);
	while ((good = ws_next(r, &rec)) == 1 && rec.kind != WS_KEY)
		;
	good = good == 1 && rec.u.state.trigger == 1 && rec.u.state.icount == 1000 &&
	    rec.u.state.instances == 990 && ws_skip_key(r) == 1 &&
	    ws_next(r, &rec) == 1 && rec.kind == WS_TSC && ws_skip_key(r) == 1 && ws_next(r, &rec) == 1 &&
	    rec.kind == WS_SYS;
	g = ws_groups(r, &n, NULL);
	while (key < n && !(g[key].flags & WS_GROUP_KEY))
		key++;
	good = good && key == 1 && g[key].icount == 1000 && g[key].trigger == 1 &&
	    ws_seek_group(r, key) == 0 &&
	    ws_next(r, &rec) == 1 && rec.kind == WS_KEY && ws_next(r, &rec) == 1 && rec.kind == WS_MEM &&
	    rec.u.mem.n == 64;
	good = good && ws_seek_group(r, n) == -1 && ws_seek_group(r, 0) == 0 && ws_next(r, &rec) == 1 &&
	    rec.kind == WS_START;
	ws_close(r);
	free(s.p);
	return good;
}

/* Records that the first n groups have */
static uint64_t
records_before(const struct ws_group *g, size_t n, uint64_t off)
{
	uint64_t rec = 0;

	for (size_t i = 0; i < n && g[i].off + g[i].size <= off; i++)
		rec = g[i].rec + g[i].nrec;
	return rec;
}

static int
truncations(enum ws_level level)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	struct ws_reader *whole, *r;
	const struct ws_group *g;
	size_t n, m;
	int end, isall, good = 1;

	small(&s, level);
	whole = ws_open_mem(s.p, s.n, &f);
	g = ws_groups(whole, &n, NULL);
	for (size_t cut = 0; good && cut < s.n; cut++) {
		/* exactly that many bytes, so that a sanitizer sees a read after them */
		uint8_t *p = malloc(cut ? cut : 1);

		memcpy(p, s.p, cut);
		r = ws_open_mem(p, cut, &f);
		if (cut < g[0].off)
			good = !r && f.off == cut &&
			    (!strcmp(f.err, "truncated header") || (!cut && !strcmp(f.err, "empty input")));
		else {
			good = r && compare(r, 0, &end) == records_before(g, n, cut) && end == -1 &&
			    ws_fault(r)->off == cut;
			good = good && ws_groups(r, &m, &isall) && !isall &&
			    m == (size_t)(cut >= g[0].off + g[0].size) + (cut >= g[1].off + g[1].size);
			good = good && (!m || (ws_seek_group(r, m - 1) == 0 &&
			    compare(r, g[m - 1].rec, &end) == records_before(g, n, cut)));
		}
		if (!good)
			printf("# cut at %zu: %s\n", cut, r ? ws_fault(r)->err : f.err);
		ws_close(r);
		free(p);
	}
	ws_close(whole);
	free(s.p);
	return good;
}

static int
flips(enum ws_level level)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	struct ws_reader *whole, *r;
	const struct ws_group *g;
	size_t n;
	int end, good = 1;

	small(&s, level);
	whole = ws_open_mem(s.p, s.n, &f);
	g = ws_groups(whole, &n, NULL);
	for (size_t i = 0; good && i < s.n * 8; i++) {
		s.p[i / 8] ^= (uint8_t)(1 << i % 8);
		r = ws_open_mem(s.p, s.n, &f);
		if (i / 8 < g[0].off)
			good = !r && f.err[0];
		else {
			size_t k = 0;

			while (k < n && g[k].off + g[k].size <= i / 8)
				k++;
			good = r && compare(r, 0, &end) == (k ? g[k - 1].rec + g[k - 1].nrec : 0) &&
			    end == -1;
			/* damage is reported at the start of its group or of the index, or within it */
			good = good && ws_fault(r)->off >= (k < n ? g[k].off :
			    g[n - 1].off + g[n - 1].size) && ws_fault(r)->err[0];
		}
		if (!good)
			printf("# bit %zu: %s\n", i, r ? ws_fault(r)->err : f.err);
		ws_close(r);
		s.p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ws_close(whole);
	free(s.p);
	return good;
}

#include "wstest_bad.h"

/* First inputs of a fuzzer */
static int
seeds(const char *folder)
{
	for (int i = 0; i < 24; i++) {
		struct sink s = { NULL, 0, 0 };
		char name[512];
		FILE *f;

		snprintf(name, sizeof(name), "%s/%d.ws", folder, i);
		if (i < 3)
			small(&s, (enum ws_level)i);
		else {
			make(10 + 2 * (size_t)i);
			for (size_t k = 0; k < nrec; k++)
				if (recs[k].kind == WS_MEM)
					recs[k].u.mem.n = recs[k].u.mem.n % 200 + 1;
			write_all(&s, (enum ws_level)(i % 3), i % 2);
		}
		f = fopen(name, "wb");
		if (!f || fwrite(s.p, 1, s.n, f) != s.n || fclose(f))
			return 1;
		free(s.p);
	}
	return 0;
}

/* The checksum of every number of bytes, at every place of a word, from any checksum on, as liblzma has it. */
static int
checksums(void)
{
	for (size_t n = 0; n < 1200; n++)
		for (size_t at = 0; at < 8; at++) {
			uint64_t crc = n % 3 ? rnd() : 0;

			if (ws_crc(rnd_bytes + at, n, crc) != lzma_crc64(rnd_bytes + at, n, crc))
				return 0;
		}
	return ws_crc("123456789", 9, 0) == 0x995dc9bbdf1939faull;
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(rnd_bytes); i++) {
		/* what the filter for code looks at, often */
		static const uint8_t few[] = { 0, 0, 0xe8, 0x0f, 0x85, 0xff, 0x48, 0x05, 0x8b, 0xe9, 0x41,
		    0x35 };
		uint64_t v = rnd() % 16;

		rnd_bytes[i] = v < sizeof(few) ? few[v] : (uint8_t)rnd();
	}
	memset(rnd_bytes + (1u << 20), 0, 1u << 20);
	if (argc > 1 && !strcmp(argv[1], "example")) {
		example();
		return fflush(stdout) != 0;
	}
	if (argc > 2 && !strcmp(argv[1], "seeds"))
		return seeds(argv[2]);
	CHECK("checksums", checksums());
	CHECK("displacements of code, absolute and back", filter());
	round_trips();
	pipes();
	CHECK("keyframes: skipped, found, begun at", keyframes());
	CHECK("plain, cut off at every byte: whole groups, then where it ends", truncations(WS_PLAIN));
	CHECK("quick, cut off at every byte", truncations(WS_QUICK));
	CHECK("small, cut off at every byte", truncations(WS_SMALL));
	CHECK("plain, every bit flipped: groups before come, then what is wrong", flips(WS_PLAIN));
	CHECK("quick, every bit flipped", flips(WS_QUICK));
	CHECK("small, every bit flipped", flips(WS_SMALL));
	bad_files();
	bad_records();
	bounds();
	return check_end();
}
