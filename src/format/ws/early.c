/* Captures that end before their program: what is known of the reason. */
#include <stdio.h>
#include <string.h>

#include "format/ws/ws.h"

void
ws_early_set(struct ws_early *e, uint64_t icount, const char *why, size_t n)
{
	size_t i;

	e->is = 1;
	e->icount = icount;
	for (i = 0; i < n && i < sizeof(e->why) - 1 && why[i]; i++)
		/* it is printed on a terminal, and the file may come from anywhere */
		e->why[i] = why[i] >= ' ' && why[i] < 0x7f ? why[i] : '?';
	e->why[i] = '\0';
}

void
ws_early_rec(struct ws_early *e, const struct ws_rec *rec)
{
	switch (rec->kind) {
	case WS_NOTE:
		ws_early_set(e, WS_UNKNOWN, rec->u.note, strlen(rec->u.note));
		e->is = 0;
		break;
	case WS_END:
		e->is = rec->u.end.how == WS_STOPPED;
		e->icount = rec->u.end.icount;
		break;
	case WS_TIME:           /* the time of the end may stand before it */
		break;
	default:
		e->is = 0;
		e->why[0] = '\0';
	}
}

const char *
ws_early_text(const struct ws_early *e, char p[WS_EARLY_TEXT])
{
	char n[64] = "";

	if (e->icount != WS_UNKNOWN)
		snprintf(n, sizeof(n), ", after %llu instructions", (unsigned long long)e->icount);
	snprintf(p, WS_EARLY_TEXT, "the capture ends before the program%s%s%s", n, e->why[0] ? ": " :
	    "", e->why);
	return p;
}
