/* laplace-schedule: run the tasks of a merged trace by another schedule */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "merge/laplace-schedule/schedule.h"

enum { SEED = 256, PROCESSOR, JSON };

static const struct opt laplace_schedule_opts[] = {
	{ 'q', "quantum", "N[i]", "a task runs for N references, or N instructions, before the next one (100000i)" },
	{ 'r', "order", "ORDER", "round (robin, the default), random or recorded" },
	{ SEED, "seed", "N", "of the random order (1)" },
	{ 'p', "processors", "N", "run on N processors, 1 to 1024 (1)" },
	{ 'm', "migrate", NULL, "one queue for all processors: a task continues on any of them" },
	{ 'g', "grain", "N[i]", "processors take turns after N references or instructions in the stream (1000i)" },
	{ PROCESSOR, "processor", "N", "write only what processor N does; the first is 0" },
	{ 'e', "events", "WHAT", "what the events in the stream have: task (its number, the default) or processor" },
	{ 'a', "address", "WHAT", "what addresses are: memory (the default), frames or virtual" },
	{ 'k', "kernel", NULL, "with -r recorded: also the kernel's own references" },
	{ 'c', "count", NULL, "print what each processor and task did, and no references" },
	{ JSON, "json", NULL, "the same as JSON" },
	OPT_FORMAT,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool laplace_schedule_tool = {
	.does = "Runs the tasks of a merged trace by another schedule, and writes their references as one stream.",
	.synopsis = "[options] dir",
	.example = "laplace-merge --offsets -o traces refs kernel; laplace-schedule -q 10000i traces | cachesim",
	.opt = laplace_schedule_opts,
};

static struct turns
option_turns(void)
{
	size_t n = strlen(optarg);
	struct turns t = { .instructions = n && optarg[n - 1] == 'i' };
	char s[32];

	n -= (size_t)t.instructions;
	snprintf(s, sizeof s, "%.*s", (int)(n < sizeof s ? n : 0), optarg);
	if (num_size(s, 1, UINT64_C(1) << 62, &t.n) != 0)
		opt_wrong("not a number of at least 1, which may end in k, M or G, and then in i for instructions");
	return t;
}

static int
option_word(const char *const *word, const char *there_are)
{
	for (int i = 0; word[i]; i++)
		if (!strcmp(optarg, word[i]))
			return i;
	opt_wrong("there are %s", there_are);
}

static void
laplace_schedule_option(struct options *o, int c)
{
	static const char *const orders[] = { "round", "random", "recorded", NULL };
	static const char *const addresses[] = { "memory", "frames", "virtual", NULL };
	static const char *const events[] = { "task", "processor", NULL };
	int f;

	switch (c) {
	case 'q': o->quantum = option_turns(); break;
	case 'g': o->grain = option_turns(); break;
	case 'r': o->order = (enum order)option_word(orders, "round, random and recorded"); break;
	case 'a': o->address = (enum address)option_word(addresses, "memory, frames and virtual"); break;
	case 'e': o->by_processor = option_word(events, "task and processor"); break;
	case SEED:
		if (num_u64(optarg, 1, UINT64_MAX, &o->seed) != 0)
			opt_wrong("not a number of at least 1");
		break;
	case 'p':
		if (num_u64(optarg, 1, PROCESSORS_MAX, &o->processors) != 0)
			opt_wrong("not a number from 1 to 1024");
		break;
	case PROCESSOR:
		if (num_u64(optarg, 0, PROCESSORS_MAX - 1, &o->only) != 0)
			opt_wrong("not a number from 0 to 1023");
		break;
	case 'm': o->migrate = 1; break;
	case 'k': o->kernel = 1; break;
	case 'c': o->count = 1; break;
	case JSON: o->count = o->json = 1; break;
	case 'f':
		f = ref_format(optarg);
		if (f < 0)
			opt_wrong(OPT_BAD_FORMAT);
		o->format = (enum ref_format)f;
		break;
	}
}

static void
laplace_schedule_check(struct options *o)
{
	if (o->order == ORDER_RECORDED && (o->processors > 1 || o->migrate || o->quantum.n || o->grain.n))
		die_usage("the recorded order is that of one processor, and has no quantum: it comes without -g, -m, -p, -q");
	if (o->kernel && o->order != ORDER_RECORDED)
		die_usage("-k is for -r recorded");
	if (o->only != ALL && o->only >= o->processors)
		die_usage("there are only %" PRIu64 " processors, which count from 0", o->processors);
	if (!o->quantum.n)
		o->quantum = (struct turns){ 100000, 1 };
	if (o->processors == 1)
		o->grain = (struct turns){ UINT64_MAX, 0 };
	else if (!o->grain.n)
		o->grain = (struct turns){ 1000, 1 };
}

static void
print_row(struct out *out, const char *name, uint64_t refs, uint64_t instructions, uint64_t switches,
    uint64_t migrations)
{
	out_printf(out, "%-24s %20" PRIu64 " %20" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", name, refs, instructions,
	    switches, migrations);
}

void
schedule_print(const struct schedule *s, struct out *out)
{
	static const char head[] = "%s%-24s %20s %20s %12s %12s\n";

	out_printf(out, head, "", "processor", "references", "instructions", "switches", "migrations");
	for (uint64_t i = 0; i < s->o.processors; i++) {
		const struct processor *p = &s->processor[i];
		char name[24];

		snprintf(name, sizeof name, "%" PRIu64, i);
		print_row(out, name, p->refs, p->instructions, p->switches, p->migrations);
	}
	out_printf(out, head, "\n", "task", "references", "instructions", "switches", "migrations");
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.task[i];

		print_row(out, s->tasks.trace[t->first]->path, t->refs, t->instructions, t->switches, t->migrations);
	}
}

static void
json_row(struct json *j, uint64_t refs, uint64_t instructions, uint64_t switches, uint64_t migrations)
{
	json_u64(j, "references", refs);
	json_u64(j, "instructions", instructions);
	json_u64(j, "switches", switches);
	json_u64(j, "migrations", migrations);
	json_end(j);
}

void
schedule_json(const struct schedule *s, struct out *out)
{
	struct json j;

	json_begin(&j, out);
	json_array(&j, "processors");
	for (uint64_t i = 0; i < s->o.processors; i++) {
		const struct processor *p = &s->processor[i];

		json_object(&j, NULL);
		json_row(&j, p->refs, p->instructions, p->switches, p->migrations);
	}
	json_end(&j);
	json_array(&j, "tasks");
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.task[i];

		json_object(&j, NULL);
		json_string(&j, "task", s->tasks.trace[t->first]->path);
		json_row(&j, t->refs, t->instructions, t->switches, t->migrations);
	}
	json_end(&j);
	json_end(&j);
}

static void
schedule_end(struct schedule *s)
{
	for (uint64_t i = 0; i <= s->o.processors; i++)
		free(s->processor[i].queue);
	free(s->processor);
	tasks_end(&s->tasks);
}

static int
laplace_schedule_run(struct schedule *s, struct lap_folder *f, struct out *out)
{
	static struct emit emit;
	int got;

	emit_begin(&emit, &s->o, f, s->o.count ? NULL : out);
	s->emit = &emit;
	if (s->o.order == ORDER_RECORDED) {
		tasks_of_traces(&s->tasks, f);
		got = schedule_recorded(s);
	} else {
		tasks_begin(&s->tasks, s->q);
		progress_stop();        /* the traces are read a second time */
		got = schedule_run(s);
	}
	emit_end(&emit);
	return got;
}

int
main(int argc, char **argv)
{
	static struct lap_reader reader;
	static struct lap_folder folder;
	struct schedule s = { .o = { .processors = 1, .seed = 1, .only = ALL }, .q = &reader };
	const char *outname = NULL;
	struct out *out;
	int c, got;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_schedule_tool, argc, argv)) != -1)
		if (c == 'o')
			outname = optarg;
		else
			laplace_schedule_option(&s.o, c);
	opt_operands(argc, argv, 1, 1);
	laplace_schedule_check(&s.o);
	progress_start(NULL);
	if (lap_folder_open(&folder, argv[optind]) != 0)
		die_fault(folder.where, &folder.fault);
	lap_reader_init(&reader, &folder);
	out = out_open(outname);
	if (!s.o.count && s.o.format == REF_ADDR)
		out_binary(out, "a reference stream");
	s.random = s.o.seed;
	s.processor = xcalloc(s.o.processors + 1, sizeof *s.processor);
	for (uint64_t i = 0; i < s.o.processors; i++)
		s.processor[i].now = s.processor[i].before = NONE;
	got = laplace_schedule_run(&s, &folder, out);
	if (got < 0) {
		out_discard(out);
		die_fault(folder.where, &folder.fault);
	}
	if (s.o.count)
		(s.o.json ? schedule_json : schedule_print)(&s, out);
	out_close(out);
	schedule_end(&s);
	lap_folder_close(&folder);
	return 0;
}
