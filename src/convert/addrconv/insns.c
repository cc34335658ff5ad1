/* addrconv: the formats that are made of the executed instructions of a capture. */
#include "base/diag.h"
#include "base/helper.h"
#include "base/src.h"
#include "convert/addrconv/addrconv.h"
#include "format/ws/runs.h"
#include "insns/formats.h"

typedef int insns_write_fn(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

static void
insns_complain(const char *text)
{
	warn("%s", text);
}

/* After the format: everything before a fault is delivered. */
static void
insns_done(struct conv *c, int bad, const struct ws_early *early, const struct fault *f)
{
	char text[WS_EARLY_TEXT];

	out_end(c->out, src_name(c->source.path), bad ? f : NULL,
	    !bad && early->is ? ws_early_text(early, text) : NULL);
}

/* The thread that is wanted; 0: all. There is no other filter. */
static uint32_t
insns_thread(const struct conv *c)
{
	uint64_t task = c->filter.task;

	if (!c->filters)
		return 0;
	if (c->filter.drop || filter_selects(&c->filter) || task == UINT64_MAX)
		die_usage("-f %s takes no filters but --task", c->to->name);
	if (task == 0 || task > WS_THREADS_MAX)
		die_usage("threads have numbers from 1 to %u", WS_THREADS_MAX);
	return (uint32_t)task;
}

static struct insns
insns_of(struct conv *c)
{
	char others[WS_OTHERS_TEXT];
	uint32_t thread = insns_thread(c);

	if (c->source.events)
		die_usage("-f %s needs a capture", c->to->name);
	if (ws_others(c->source.path, others))
		warn("%s: %s", src_name(c->source.path), others);
	return (struct insns){ .path = c->source.path, .from = c->source.from, .to = c->source.to,
	    .thread = thread, .complain = insns_complain };
}

static void
insns_convert(struct conv *c, insns_write_fn *write)
{
	struct insns q = insns_of(c);
	struct ws_early early = { 0 };
	struct fault f;

	insns_done(c, write(&q, c->out, &early, &f), &early, &f);
}

void
conv_champsim(struct conv *c)
{
	insns_convert(c, champsim_write);
}

void
conv_drmemtrace(struct conv *c)
{
	insns_convert(c, drmemtrace_write);
}

void
conv_branches(struct conv *c)
{
	insns_convert(c, branches_write);
}

static void
insns_cvp(struct conv *c, int cbp)
{
	struct insns q = insns_of(c);
	struct ws_early early = { 0 };
	struct fault f;

	insns_done(c, cvp_write(&q, cbp, c->out, &early, &f), &early, &f);
}

void
conv_cvp(struct conv *c)
{
	insns_cvp(c, 0);
}

void
conv_cbp2025(struct conv *c)
{
	insns_cvp(c, 1);
}

void
conv_bt9(struct conv *c)
{
	insns_convert(c, bt9_write);
}

void
conv_elastic(struct conv *c)
{
	insns_convert(c, elastic_write);
}

void
conv_bbv(struct conv *c)
{
	struct insns q = insns_of(c);
	struct ws_early early = { 0 };
	struct fault f;

	insns_done(c, bbv_write(&q, c->interval ? c->interval : BBV_INTERVAL, c->out, &early, &f), &early, &f);
}

void
conv_callgrind(struct conv *c)
{
	helper_allow(HELPER_ELF);
	insns_convert(c, callgrind_write);
}

void
conv_folded(struct conv *c)
{
	helper_allow(HELPER_ELF);
	insns_convert(c, folded_write);
}
