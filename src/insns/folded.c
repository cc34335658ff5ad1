/* Folded stacks: a line for each chain of calls, and how many instructions its last function executed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "insns/formats.h"
#include "insns/profile.h"

/* The name of a function, or of its file; what separates the fields of a line is replaced. */
static void
folded_name(struct out *out, const struct profile_func *f)
{
	const char *s = f->name ? f->name : f->object && *f->object ? f->object : "???";
	const char *slash = f->name ? NULL : strrchr(s, '/');
	char *name = xstrdup(slash ? slash + 1 : s);

	for (char *c = name; *c; c++)
		if (*c == ';' || *c == ' ' || *c == '\n')
			*c = '_';
	if (!f->name)
		out_str(out, "[");
	text_put(out, name);
	if (!f->name)
		out_str(out, "]");
	free(name);
}

static void
folded_line(struct out *out, const struct profile *p, const struct profile_node *n, uint32_t *chain)
{
	uint32_t i = 0;

	for (const struct profile_node *k = n;; k = &p->node[k->parent]) {
		chain[i++] = k->func;
		if (k->parent == PROFILE_NONE)
			break;
	}
	while (i-- > 0) {
		folded_name(out, &p->func[chain[i]]);
		if (i)
			out_str(out, ";");
	}
	out_printf(out, " %llu\n", (unsigned long long)n->self);
}

int
folded_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	uint32_t chain[PROFILE_DEEPEST];
	struct profile p;
	int bad = profile_run(&p, q, early, f);

	for (size_t i = 0; i < p.nnode; i++)
		if (p.node[i].self)
			folded_line(out, &p, &p.node[i], chain);
	profile_free(&p);
	return bad;
}
