/* WHERE of --from and --to: a function, an address, a marker or a signal. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "gen/wscap/point.h"
#include "gen/wscap/wscap.h"

static int
where_signal(const char *name)
{
	for (int i = 1; i < 32; i++)
		if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), name))
			return i;
	return 0;
}

/* A line of a source, as wetq has it, FILE:LINE: no symbol is called so, and the run would end without a capture */
static int
where_line(const char *s)
{
	const char *colon = strrchr(s, ':');

	return colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

int
where_parse(struct where *w, const char *text)
{
	char *s, *hash, *plus;

	memset(w, 0, sizeof(*w));
	w->text = text;
	w->n = 1;
	w->name = s = strdup(text);
	if (!s)
		return -1;
	hash = strrchr(s, '#');
	if (hash) {
		if (num_u64(hash + 1, 1, UINT64_MAX, &w->n))
			return -1;
		*hash = '\0';
	}
	plus = strstr(s, "+0x");
	w->kind = WHERE_NAME;
	if (!strcmp(s, "TRACEMILL_BEGIN") || !strcmp(s, "TRACEMILL_END")) {
		w->kind = WHERE_MARK;
		memcpy(w->mark, s[10] == 'B' ? WHERE_BEGIN : WHERE_END, sizeof(w->mark));
	} else if (!strncmp(s, "SIG", 3) && (w->sig = where_signal(s + 3)) != 0) {
		w->kind = WHERE_SIGNAL;
	} else if (!strncmp(s, "0x", 2)) {
		w->kind = WHERE_ADDRESS;
		return num_u64(s, 1, UINT64_MAX, &w->addr);
	} else if (plus) {
		w->kind = WHERE_MODULE;
		*plus = '\0';
		return num_u64(plus + 1, 0, UINT64_MAX, &w->addr);
	}
	return *s && !(w->kind == WHERE_NAME && where_line(s)) ? 0 : -1;
}
