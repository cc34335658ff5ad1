/* For wstest: files made by hand, each wrong in one thing */

/*
 * A capture of one group with these streams, complete and right around them; sets *at to where
 * control begins
 */
static void
craft(struct buf *b, const uint8_t *const p[WS_NSTREAMS], const size_t n[WS_NSTREAMS], uint32_t count,
    uint32_t ntrigger,
    uint32_t flags, uint64_t icount, uint64_t *at)
{
	struct ws_ghead h = { .crc = 0 };

	ws_put_header(b, &make_head);
	h.g = (struct ws_group){ .off = b->n, .size = WS_GROUP_HEAD, .icount = icount, .nrec = count,
	    .ntrigger = ntrigger,
	    .flags = flags };
	for (int i = 0; i < WS_NSTREAMS; i++) {
		h.z.raw[i] = h.z.packed[i] = (uint32_t)n[i];
		h.crc = ws_crc(p[i], n[i], h.crc);
		h.g.size += n[i];
	}
	b->n += WS_GROUP_HEAD;
	buf_reserve(b, 1);
	ws_put_ghead(b->p + h.g.off, &h);
	*at = b->n;
	for (int i = 0; i < WS_NSTREAMS; i++)
		buf_add(b, p[i], n[i]);
	ws_put_index(b, &h.g, 1, b->n);
}

/* "00 7f" in bytes */
static size_t
unhex(const char *s, uint8_t *p)
{
	size_t n = 0;
	char *end;

	while (*s) {
		p[n++] = (uint8_t)strtoul(s, &end, 16);
		for (s = end; *s == ' '; s++)
			;
	}
	return n;
}

static const struct bad {
	const char *control, *data, *hash;
	uint32_t count, ntrigger, flags;
	const char *err;                /* NULL: nothing is wrong */
	int at;                         /* byte of control, -1: anywhere */
} bad[] = {
	{ "00 00 00 0c 00 03 00", "", "", 2, 0, 0, NULL, -1 },
	{ "00 00 00 0c 00 03 00 00", "", "", 2, 0, 0, "the group has control bytes after its last record",
	-1 },
	{ "00 00 00 0c 00 03 00", "01", "", 2, 0, 0, "the group has data bytes after its last record", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 1, 0, "the group has 0 triggers, its header says 1", -1 },
	{ "00 00 00", "", "", 1, 0, 0, "the capture has no end", -1 },
	{ "00 00 00 0c 00 03", "", "", 2, 0, 0, "a number is cut off", 6 },
	{ "00 00 00 0c 00 80 00 00", "", "", 2, 0, 0, "a number in more bytes than it needs", 7 },
	{ "00 00 00 0c 00 03 80 80 80 80 80 80 80 80 80 02", "", "", 2, 0, 0, "a number of more than 64 bits",
	16 },
	{ "00 00 00 0c 00 80 80 80 80 10 00", "", "", 2, 0, 0, "a number of more than 32 bits", 10 },
	{ "00 00 00 0c 04 00 00", "", "", 2, 0, 0, "unknown way to end", 7 },
	{ "00 00 00 0c 00 80 02 00", "", "", 2, 0, 0, "status that the way to end does not have", -1 },
	{ "00 00 00 0c 01 00 00", "", "", 2, 0, 0, "status that the way to end does not have", -1 },
	{ "00 00 00 0c 02 01 00", "", "", 2, 0, 0, "status that the way to end does not have", -1 },
	{ "0c 00 03 00", "", "", 1, 0, 0, "the first record is not a start", -1 },
	{ "00 00 00 00 00 00", "", "", 2, 0, 0, "a second start", -1 },
	{ "00 00 00 0c 00 03 00 0b", "", "", 3, 0, 0, "a record after the end", -1 },
	{ "00 00 00 0b", "", "", 2, 0, 0, "the end of a keyframe that did not begin", -1 },
	{ "00 00 00 0a 00 00 00 00", "", "", 2, 0, 0, "a keyframe that does not begin a group", -1 },
	{ "00 00 00 8e", "", "", 2, 0, 0, "unknown kind or flags of a record", 4 },
	{ "00 00 00 3e 00", "", "", 2, 1, 0, "no such instruction", -1 },
	{ "00 00 00 0f 07", "", "", 2, 0, 0, "a time that is not told", -1 },
	{ "10 00 00", "", "", 1, 0, 0, "unknown kind or flags of a record", 1 },
	{ "00 80 80 40 00", "", "", 1, 0, 0, "registers that do not exist", 4 },
	{ "00 01 00 00", "", "", 1, 0, 0, "a change that is none", 3 },
	{ "00 00 02", "01 00", "", 1, 0, 0, "a processor state that ends with zeros", -1 },
	{ "00 00 81 80 04", "", "", 1, 0, 0, "a processor state that is too long", 5 },
	{ "00 00 02", "01", "", 1, 0, 0, "bytes are cut off", -1 },
	{ "00 00 00 02 00 00", "", "", 2, 0, 0, "a range that is empty or wraps around", -1 },
	{ "00 00 00 02 00 80 80 80 80 80 80 80 10", "", "", 2, 0, 0, "a size that is too large", -1 },
	{ "00 00 00 02 80 80 80 80 80 80 80 20 01", "", "", 2, 0, 0, "a distance that is too large", -1 },
	{ "00 00 00 84 00 01", "", "", 2, 0, 0, "unknown kind or flags of a record", -1 },
	{ "00 00 00 11 00 01 20 00 00", "", "", 2, 0, 0, "unknown flags of a mapping", -1 },
	{ "00 00 00 11 00 01 00 07 00", "", "", 2, 0, 0, "unknown type of mapping", -1 },
	{ "00 00 00 01 00 01 00 00 00 00 00 00 00", "", "", 2, 0, 0,
	"the file of the mapping before, told again", -1 },
	{ "00 00 00 01 00 01 00 00 00 00 00 01 00 00", "", "", 2, 0, 0, "a string with a zero byte", -1 },
	{ "00 00 00 01 00 01 00 00 00 00 00 80 80 04", "", "", 2, 0, 0, "a string is too long", -1 },
	{ "00 00 00 01 00 01 00 00 00 00 00 00 41", "", "", 2, 0, 0, "a build id is too long", -1 },
	{ "00 00 00 45 00 00", "", "", 2, 0, 0, "a range that is empty or wraps around", -1 },
	{ "00 00 00 05 80 01 40", "", "", 2, 0, 0, "memory of whole lines, not told in lines", -1 },
	{ "00 00 00 15 00 02", "00 00", "", 2, 0, 0, "zeros that are told as bytes", -1 },
	{ "00 00 00 15 00 02", "00", "", 2, 0, 0, "bytes are cut off", -1 },
	{ "00 00 00 15 00 81 80 40", "00", "", 2, 0, 0, "a piece of memory that is empty or too long", -1 },
	{ "00 00 00 05 01 02", "", "", 2, 0, 0, "a range that is empty or wraps around", -1 },
	{ "00 00 00 06 00 80", "", "00 00 00 00", 2, 1, 0, "unknown flags of a system call", -1 },
	{ "00 00 00 06 00 00", "", "00 00 00", 2, 1, 0, "bytes are cut off", -1 },
	{ "00 00 00 06 00 40 00", "", "00 00 00 00", 2, 1, 0, "a change that is none", -1 },
	{ "00 00 00 26 00 00", "", "00 00 00 00", 2, 1, 0,
	"a result that is told in a longer way than it could", -1 },
	{ "00 00 00 36 00 00 00", "", "00 00 00 00", 2, 1, 0,
	"a result that is told in a longer way than it could", -1 },
	{ "00 00 00 16 00 00", "", "00 00 00 00", 2, 1, 0,
	"a result that is told in a longer way than it could", -1 },
	{ "00 00 00 07 42 00 00 00", "", "", 2, 1, 0, "no such signal", -1 },
	{ "00 00 00 07 41 00 00 00 00", "", "", 2, 1, 0, "no such thread", -1 },
	{ "00 00 00 07 41 81 80 80 20 00 00 00", "", "", 2, 1, 0, "no such thread", -1 },
	{ "00 00 00 37 01 00 00 00", "", "", 2, 1, 0, "unknown flags of a signal", -1 },
	{ "00 00 00 27 01 00 00 00 00", "", "", 2, 1, 0, "unknown flags of a signal", -1 },
	{ "00 00 00 27 01 00 00 00 81 10", "", "", 2, 1, 0, "more stack than a signal is found by", -1 },
	{ "00 00 00 17 01 00 00 00 ff ff ff ff ff ff ff ff ff 01", "", "", 2, 1, 0,
	"unknown flags of a signal", -1 },
	{ "00 00 00 28 00", "", "", 2, 1, 0, "unknown flags of a time stamp", -1 },
	{ "00 00 00 38 00 00", "", "", 2, 1, 0, "a change that is none", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 0, WS_GROUP_KEY, "the group's header is wrong about a keyframe",
	-1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 0, WS_GROUP_INSIDE,
	"the group's header is wrong about a keyframe", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 0, WS_GROUP_X86, "code that is not there", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 0, 8, "unknown flags of a group", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 0, 0, 0, "numbers of records that cannot be", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 8, 0, 0, "numbers of records that cannot be", -1 },
	{ "00 00 00 0c 00 03 00", "", "", 2, 3, 0, "numbers of records that cannot be", -1 },
};

/* What reading the whole file says; "" if nothing */
static const char *
complaint(const uint8_t *p, size_t n, uint64_t *off)
{
	static struct fault f;
	struct ws_rec rec;
	struct ws_reader *r;
	int end;

	f.err[0] = '\0';
	r = ws_open_mem(p, n, &f);
	while (r && (end = ws_next(r, &rec)) != 0)
		if (end < 0) {
			f = *ws_fault(r);
			break;
		}
	ws_close(r);
	*off = f.off;
	return f.err;
}

static void
bad_records(void)
{
	uint8_t bytes[3][64];
	int wrong = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct bad *b = &bad[i];
		const uint8_t *const p[WS_NSTREAMS] = { bytes[0], bytes[1], bytes[2], bytes[2], bytes[2] };
		const size_t n[WS_NSTREAMS] = { unhex(b->control, bytes[0]), unhex(b->data, bytes[1]), 0, 0,
		    unhex(b->hash, bytes[2]) };
		const char *want = b->err ? b->err : "", *got;
		struct buf f = BUF_INIT;
		uint64_t at, off;

		craft(&f, p, n, b->count, b->ntrigger, b->flags, 0, &at);
		got = complaint(f.p, f.n, &off);
		if (strcmp(got, want) || (b->at >= 0 && off != at + (uint64_t)b->at)) {
			printf("# %s: \"%s\" at control byte %lld, not \"%s\" at %d\n", b->control, got,
			    (long long)(off - at), want, b->at);
			wrong++;
		}
		buf_free(&f);
	}
	CHECK("records that no writer makes are refused, each by name", !wrong);
}

/*
 * The good file with 32 bits at `at` set, and its checksums right again (of a group's header; the
 * index is left)
 */
static const char *
patched(size_t at, uint32_t v, uint64_t *off)
{
	static const uint8_t control[] = { 0, 0, 0, 12, 0, 3, 0 };
	const uint8_t *const p[WS_NSTREAMS] = { control, control, control, control, control };
	const size_t n[WS_NSTREAMS] = { sizeof(control) };
	struct buf f = BUF_INIT;
	uint64_t start;
	const char *err;
	uint8_t *h;

	craft(&f, p, n, 2, 0, 0, 0, &start);
	h = f.p + start - WS_GROUP_HEAD;
	put_le32(h + at, v);
	put_le64(h + 96, ws_crc(h, 96, 0));
	if (at >= WS_GROUP_HEAD) {      /* in the index */
		size_t len = f.n - (size_t)(start + n[0]) - 8 - WS_MARK;

		h = f.p + start + n[0];
		put_le64(h + len, ws_crc(h, len, 0));
	}
	err = complaint(f.p, f.n, off);
	*off -= start - WS_GROUP_HEAD;
	buf_free(&f);
	return err;
}

static int
says(size_t at, uint32_t v, const char *want)
{
	uint64_t off;
	const char *got = patched(at, v, &off);

	if (!strncmp(got, want, strlen(want)) && (*want || !*got))
		return 1;
	printf("# %u at %zu: %s\n", v, at, got);
	return 0;
}

static void
bad_files(void)
{
	uint8_t head[WS_HEAD];
	uint64_t off;
	size_t at;
	int good = 1;

	CHECK("the file made by hand is right", says(8, 0, ""));
	for (int i = 0; i < WS_NSTREAMS; i++) {
		good = good && says(48 + 8 * (size_t)i, 0xffffffff, "sizes of a group that cannot be");
		good = good && says(52 + 8 * (size_t)i, 0xffffffff, "sizes of a group that cannot be");
	}
	CHECK("sizes of streams that do not fit", good);
	CHECK("methods that do not exist", says(40, 3, "unknown method") &&
	    says(40, 0x300, "unknown method") && says(44, 0x100, "bytes of a group's header"));
	CHECK("a compressed stream that is none", says(40, 1, "sizes of a group") &&
	    says(40, 2, "sizes of a group"));
	CHECK("a group of another place", says(8, 1, "the group does not follow") &&
	    says(16, 1, "the group does not follow"));
	CHECK("instructions before the start", says(24, 5, "a start that instructions precede"));
	at = WS_GROUP_HEAD + 7 + 8;
	CHECK("an index that says other things", says(at, 0x03006f01, "the index does not fit the groups") &&
	    says(at + 1, 0x0102006f, "the index does not fit the groups") && says(at, 0x02006f02, "index: "));
	CHECK("checksum of the streams", says(88, 5, "the group is damaged"));
	CHECK("a magic that is another", says(0, 5, "neither a group nor the index"));
	CHECK("something else is not a capture",
	    !strcmp(complaint((const uint8_t *)"\x7f" "elf4567", 8, &off), "not a capture") && !off);
	CHECK("an executable is none", !strcmp(complaint((const uint8_t *)"\x7f" "ELF4567", 8, &off),
	    "an executable, not a capture: capture it with wscap first") && !off);
	memcpy(head, ws_magic, 8);
	put_le32(head + 8, 2);
	CHECK("another version", !strcmp(complaint(head, sizeof(head), &off),
	    "a capture of version 2; this program knows version 1") && off == 8);
	put_le32(head + 8, 1);
	put_le32(head + 12, 0xffffffff);
	CHECK("a header of 4 GiB", !strcmp(complaint(head, sizeof(head), &off),
	    "a header of 4294967295 bytes") && off == 12);
}

static int
refused(const struct ws_rec *r, size_t n, const char *want)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	struct ws_writer *w = ws_create(sink_write, &s, &make_head, WS_PLAIN, &f);
	int bad_one = 0;

	for (size_t i = 0; i < n; i++)
		bad_one = ws_put(w, &r[i]);
	bad_one = bad_one && !strcmp(ws_write_fault(w)->err, want) && ws_finish(w) != 0;
	ws_free(w);
	free(s.p);
	return bad_one;
}

static int
full(void *arg, const void *p, size_t n)
{
	size_t *left = arg;

	(void)p;
	if (n > *left)
		return 28;      /* ENOSPC */
	*left -= n;
	return 0;
}

static void
bad_writing(void)
{
	const struct ws_rec start = { .kind = WS_START }, end = { .kind = WS_END },
	    map = { .kind = WS_MAP, .u.map.len = 1 };
	struct ws_header h = make_head;
	size_t left = 180;
	struct fault f;
	struct ws_writer *w;

	CHECK("the writer refuses what the reader would",
	    refused(&end, 1, "the first record is not a start") &&
	    refused((struct ws_rec[]){ start, map }, 2, "a mapping that does not consist of whole pages") &&
	    refused((struct ws_rec[]){ start, end, start }, 3, "a record after the end"));
	h.page = 8192;
	CHECK("and headers", !ws_create(sink_write, NULL, &h, WS_PLAIN, &f) &&
	    !strcmp(f.err, "sizes of page and line that are not 4096 and 64"));
	w = ws_create(full, &left, &make_head, WS_PLAIN, &f);
	CHECK("a full disk is told once and for all", ws_put(w, &start) == 0 && ws_put(w, &end) == 0 &&
	    ws_finish(w) == -1 &&
	    !strcmp(ws_write_fault(w)->err, "No space left on device") && ws_end_group(w) == -1 &&
	    ws_put(w, &end) == -1);
	ws_free(w);
}

/* 48 MiB of memory that does not compress, through a file: writer and reader stay small */
static void
bounds(void)
{
	char name[] = "ws.XXXXXX";
	struct ws_rec r = { .kind = WS_START };
	struct rusage before, after;
	struct fault f;
	struct ws_writer *w;
	struct ws_reader *in;
	uint64_t sum = 0;
	int fd = mkstemp(name), got = -1;

	bad_writing();
	unlink(name);
	getrusage(RUSAGE_SELF, &before);
	w = ws_create(ws_write_fd, &fd, &make_head, WS_QUICK, &f);
	ws_put(w, &r);
	r.kind = WS_MEM;
	for (int i = 0; i < 48; i++) {
		r.u.mem = (struct ws_rec_mem){ .addr = (uint64_t)i << 20, .p = rnd_bytes + i, .n = 1u << 20 };
		ws_put(w, &r);
	}
	memset(&r, 0, sizeof(r));
	r.kind = WS_END;
	ws_put(w, &r);
	CHECK("48 MiB are written", ws_finish(w) == 0);
	ws_free(w);
	in = ws_open(fd, &f);
	while (in && (got = ws_next(in, &r)) == 1)
		sum += r.kind == WS_MEM ? r.u.mem.n : 0;
	CHECK("and read", in && !got && sum == 48u << 20);
	ws_close(in);
	getrusage(RUSAGE_SELF, &after);
#ifdef __SANITIZE_ADDRESS__
	printf("# memory is not measured with a sanitizer\n");
#else
	CHECK("with memory for three groups each", after.ru_maxrss - before.ru_maxrss < 6 * 5 * 1024);
#endif
	close(fd);
}

/* The capture that ws(5) shows */
static void
example(void)
{
	static const struct ws_cpuid cpuid[] = { { 0, 0, 1, 2, 3, 4 } };
	static const char *const args[] = { "hi" };
	static const struct ws_header h = { .machine = WS_X86_64, .page = 4096, .line = 64,
	    .flags = WS_TRIMMED, .xcr0 = 7,
	    .version = "tm", .brand = "cpu", .kernel = "6", .exe = "/bin/hi", .argv = args, .argc = 1,
	    .cpuid = cpuid, .ncpuid = 1 };
	static const uint8_t code[] = { 0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05 };
	int fd = 1;
	struct fault f;
	struct ws_writer *w = ws_create(ws_write_fd, &fd, &h, WS_PLAIN, &f);
	struct ws_rec r[] = {
		{ WS_START, { .state = { .regs = { .r = { [WS_RSP] = 0x7000 }, .rip = 0x401000,
		.rflags = 0x200 } } } },
		{ WS_MAP, { .map = { .addr = 0x401000, .len = 0x1000, .prot = 5, .type = WS_EXE,
		.name = "/bin/hi", .offset = 0x1000 } } },
		{ WS_MEM, { .mem = { .addr = 0x401000, .p = code, .n = sizeof(code) } } },
		{ WS_SYS, { .sys = { .pc = 0x401007, .nr = 231 } } },
		{ WS_END, { .end = { .how = WS_EXITED, .status = 0, .icount = 3 } } },
	};
	struct ws_regs at = r[0].u.state.regs;

	at.r[WS_RAX] = 231;
	at.r[WS_RCX] = at.rip = 0x401009;
	at.rflags = at.r[11] = 0x246;
	r[3].u.sys.hash = ws_hash(&at);
	for (int i = 0; i < 5; i++)
		ws_put(w, &r[i]);
	ws_finish(w);
	ws_free(w);
}
