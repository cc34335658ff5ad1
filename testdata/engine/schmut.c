/*
 * schmut: executables whose schema was changed.
 *
 * schmut flip exe new seed n: n bits of the section flipped.  schmut cut exe
 * new n: the section ends after n bytes.  schmut names exe new file: the names
 * of all source files and functions are, in turn, the lines of `file`, in
 * which \n, \r and \\ stand for what they do in C; check sums are right.
 * schmut version exe new: as an older aecc wrote it, as far as can be seen.
 * schmut sealed exe new seed: a byte changed, the check sums right.
 *
 * schmut count exe ae.out n: n damaged schemas in turn, of which none may be
 * taken for good; prints how many were.  schmut bound exe ae.out n: n sealed
 * ones are regenerated; prints how many were good, and the seeds of those that did not end.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "ae/regen/regen.h"
#include "format/ae/exe.h"
#include "format/schema/schema.h"

/* references without an event in `bound`: few, so that it ends soon */
#define QUIET (UINT64_C(1) << 21)

static uint32_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

static void
die(const char *what)
{
	fprintf(stderr, "schmut: %s\n", what);
	exit(2);
}

static void
flip(uint8_t *p, size_t n, int bits)
{
	while (bits--) {
		size_t at = rnd((uint32_t)n);

		p[at] ^= (uint8_t)(1u << rnd(8));
	}
}

/* The check sums right again, as far as there are units */
static void
seal(uint8_t *p, size_t n)
{
	while (n >= SCH_HEADER) {
		size_t len = get_le32(p + 8);

		if (len < SCH_HEADER || len > n || get_le32(p + 12) > (len - SCH_HEADER) / 16)
			return;
		sch_update_checksum(p);
		p += len;
		n -= len;
	}
}

/* Changes one byte after a unit's header. */
static void
change(uint8_t *p, size_t n)
{
	static const uint8_t with[] = {0, 1, 2, 4, 8, 0x7f, 0x80, 0xff};
	size_t at = rnd((uint32_t)n);

	if (rnd(2))
		p[at] ^= (uint8_t)(1u << rnd(8));
	else
		p[at] = with[rnd(sizeof with)];
	seal(p, n);
}

static void
write_file(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "wb");

	if (!f || b->nomem || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
		die(path);
}

static void
read_file(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		die(path);
	do {
		uint8_t *p = buf_reserve(b, 65536);

		n = p ? fread(p, 1, 65536, f) : 0;
		b->n += n;
	} while (n);
	fclose(f);
}

/* Where the header of the section is in the file */
static size_t
section_header(struct exe *x)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!gelf_getehdr(x->elf, &eh))
		die("no ELF header");
	while ((scn = elf_nextscn(x->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_offset == x->schema_off && sh.sh_size == x->nschema)
			return eh.e_shoff + elf_ndxscn(scn) * eh.e_shentsize;
	die("no schema");
	return 0;
}

/* The section's bytes become those at the end of the file (x86-64 only) */
static void
move_section(struct exe *x, struct buf *file, const struct buf *b)
{
	size_t h = section_header(x), off = file->n;

	buf_add(file, b->p, b->n);
	put_le64(file->p + h + 24, off);
	put_le64(file->p + h + 32, b->n);
}

/* The lines of a file, for ever */
static char *
next_line(FILE *f)
{
	static char line[8192];
	char *p = line, *q = line;

	if (!fgets(line, sizeof line, f)) {
		rewind(f);
		if (!fgets(line, sizeof line, f))
			die("no lines");
	}
	for (line[strcspn(line, "\n")] = 0; *p; p++)
		if (*p != '\\')
			*q++ = *p;
		else
			*q++ = *++p == 'n' ? '\n' : *p == 'r' ? '\r' : '\\';
	*q = 0;
	return strdup(line);
}

static void
rename_all(struct exe *x, const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	const char *what;
	struct sch_unit u;
	size_t at, len;
	long n;

	if (!f)
		die(path);
	for (size_t off = 0; off < x->nschema; off += (size_t)n) {
		uint8_t *e;

		n = sch_decode(x->schema + off, x->nschema - off, &u, &what, &at);
		if (n < 0)
			die(what);
		u.source = next_line(f);
		for (uint32_t i = 0; i < u.nfunc; i++)
			u.func[i].name = next_line(f);
		e = sch_encode(&u, &len);
		if (!e)
			die("a name too long");
		buf_add(out, e, len);
	}
}

static uint64_t hash;

static int
sum(void *arg, const uint64_t *refs, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ refs[i]) * UINT64_C(0x9E3779B97F4A7C15);
	return 0;
}

/* Regenerate by the schema at p: 0, 1 an error, 2 no good schema */
static int
regenerate(struct exe *x, uint8_t *p, size_t n, const char *events, const char **why)
{
	const uint8_t *oldp = x->schema;
	size_t oldn = x->nschema;
	struct regen *r = NULL;
	struct prog g;
	struct feed f;
	int bad = 2;

	x->schema = p;
	x->nschema = n;
	*why = NULL;
	if (prog_load_exe(&g, x) == 0 && (r = regen_new(&g, 0, NULL, why))) {
		hash = 1;
		bad = feed_tasks(&f, regen_state(r), &(struct feed_job){
			.file = events, .machine = x->machine, .id = x->id, .idlen = x->idlen, .sink = sum,
			.quietmax = QUIET, .run = regen_thread, .arg = r
		}) != 0;
		*why = f.err;
		feed_close(&f);
	} else if (!*why)
		*why = g.err;
	regen_free(r);
	prog_free(&g);
	x->schema = oldp;
	x->nschema = oldn;
	return bad;
}

static int
count(struct exe *x, const char *events, int n)
{
	unsigned wrong = 0, same = 0, refused = 0;
	uint8_t *p = malloc(x->nschema);
	const char *why = NULL;
	uint64_t right;

	memcpy(p, x->schema, x->nschema);
	if (!p || regenerate(x, p, x->nschema, events, &why) != 0)
		die(why ? why : "out of memory");
	right = hash;
	for (int i = 0; i < n; i++) {
		size_t len = x->nschema;

		seed = (uint32_t)i + 1;
		memcpy(p, x->schema, len);
		if (i % 10 == 9)
			len = rnd((uint32_t)len);
		else
			flip(p, len, i % 2 ? 3 : 1);
		if (len == 0 || regenerate(x, p, len, events, &why) != 0)
			refused++;
		else if (hash == right)
			same++;
		else
			wrong++;
	}
	printf("%u refused, %u the same, %u other references\n", refused, same, wrong);
	free(p);
	return 0;
}

static int
bound(struct exe *x, const char *events, int n)
{
	unsigned good = 0, wrong = 0, refused = 0, endless = 0;
	struct buf seeds = BUF_INIT;
	uint8_t *p = malloc(x->nschema);
	const char *why;

	for (int i = 0; p && i < n; i++) {
		seed = (uint32_t)i + 1;
		memcpy(p, x->schema, x->nschema);
		change(p, x->nschema);
		switch (regenerate(x, p, x->nschema, events, &why)) {
		case 0:
			good++;
			break;
		case 1:
			wrong++;
			if (why && strstr(why, "without an event") != NULL) {
				endless++;
				buf_printf(&seeds, "%d\n", i + 1);
			}
			break;
		default:
			refused++;
		}
	}
	printf("%u refused, %u good, %u not what the events say, %u of them endless\n", refused, good, wrong,
	    endless);
	fwrite(seeds.p, 1, seeds.n, stdout);
	buf_free(&seeds);
	free(p);
	return 0;
}

int
main(int argc, char **argv)
{
	struct buf file = BUF_INIT, b = BUF_INIT;
	struct exe x;

	if (argc < 4 || exe_open(&x, argv[2]) != 0 || exe_need_schema(&x) != 0)
		die("usage");
	if (strcmp(argv[1], "count") == 0)
		return count(&x, argv[3], atoi(argv[4]));
	if (strcmp(argv[1], "bound") == 0)
		return bound(&x, argv[3], atoi(argv[4]));
	read_file(argv[2], &file);
	if (strcmp(argv[1], "flip") == 0) {
		seed = (uint32_t)atoi(argv[4]);
		flip(file.p + x.schema_off, x.nschema, atoi(argv[5]));
	} else if (strcmp(argv[1], "sealed") == 0) {
		seed = (uint32_t)atoi(argv[4]);
		change(file.p + x.schema_off, x.nschema);
	} else if (strcmp(argv[1], "version") == 0) {
		put_le16(file.p + x.schema_off + 4, SCH_VERSION - 1);
	} else if (strcmp(argv[1], "cut") == 0) {
		buf_add(&b, x.schema, (size_t)atoi(argv[4]));
		move_section(&x, &file, &b);
	} else {
		rename_all(&x, argv[4], &b);
		move_section(&x, &file, &b);
	}
	write_file(argv[3], &file);
	exe_close(&x);
	return 0;
}
