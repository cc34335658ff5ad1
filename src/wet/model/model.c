/* The model of registers and control that the writer and the readers of a .wet file run. */
#include <stdlib.h>
#include <string.h>

#include "wet/model/model.h"

#define DEEP   64u                      /* the same as in control.c */
#define FRAMES ((size_t)1 << 20)        /* limit of frames; all are dropped when it is reached */

int
model_init(struct model *m, const struct store_code *code)
{
	*m = (struct model){ .code = code };
	if (buf_grow(&m->frame, &m->capframe, 1, sizeof *m->frame) != 0)
		return -1;
	m->frame[m->nframe++] = (struct model_frame){ 0 };
	return 0;
}

void
model_free(struct model *m)
{
	free(m->region);
	free(m->frame);
	*m = (struct model){ 0 };
}

static void
model_tail(struct model *m, uint64_t who, uint64_t n)
{
	struct model_frame *f = &m->frame[m->nframe - 1];

	f->who = who;
	f->n = n;
	m->nregion = f->base;
}

void
model_enter(struct model *m, uint32_t s)
{
	const struct store_stmt *v = &m->code->stmt[s];

	if (m->target) {
		if (v->addr == m->target)
			model_tail(m, m->tailwho, m->tailn);
		m->target = 0;
	}
	if (v->ctl & STORE_JOIN)
		while (m->nregion > m->frame[m->nframe - 1].base && m->region[m->nregion - 1].end == v->join)
			m->nregion--;
}

static int
model_push(struct model *m, uint64_t who, uint64_t n)
{
	if (m->nframe >= FRAMES) {
		m->nframe = 1;
		m->nregion = 0;
	}
	if (buf_grow(&m->frame, &m->capframe, m->nframe + 1, sizeof *m->frame) != 0)
		return -1;
	m->frame[m->nframe++] = (struct model_frame){ who, n, m->nregion };
	return 0;
}

static void
model_pop(struct model *m)
{
	if (m->nframe > 1)
		m->nregion = m->frame[--m->nframe].base;
}

int
model_names(const struct model *m, uint64_t who)
{
	for (unsigned i = 0; i < FACT_NREG; i++)
		for (unsigned l = 0; l < FACT_NLANE; l++)
			if (m->lane[i][l].who == who)
				return 1;
	for (size_t i = 0; i < m->nframe; i++)
		if (m->frame[i].who == who)
			return 1;
	for (size_t i = 0; i < m->nregion; i++)
		if (m->region[i].who == who)
			return 1;
	return m->target && m->tailwho == who;
}

/*
 * Corrects the control parent: returns to the innermost region or frame that has this parent; if
 * there is none, begins a new frame.
 */
int
model_control_is(struct model *m, uint64_t who, uint64_t n)
{
	for (size_t f = m->nframe; f-- > 0;) {
		size_t end = f + 1 < m->nframe ? m->frame[f + 1].base : m->nregion;

		while (end > m->frame[f].base && m->region[end - 1].who != who)
			end--;
		if (end == m->frame[f].base && m->frame[f].who != who)
			continue;
		m->nframe = f + 1;
		m->nregion = end;
		return 0;
	}
	return model_push(m, who, n);
}

unsigned
model_reg(const struct model *m, unsigned reg, uint64_t who[MODEL_LIST])
{
	const struct model_lane *lane = m->lane[reg >> 5];
	uint64_t t[MODEL_LIST];
	unsigned n = 0, k = 0;

	for (unsigned l = 0; l < FACT_NLANE; l++) {
		unsigned i;

		if (!(reg >> l & 1) || !lane[l].who || (n && who[n - 1] == lane[l].who))
			continue;
		for (i = n++; i > 0 && t[i - 1] < lane[l].t; i--) {
			t[i] = t[i - 1];
			who[i] = who[i - 1];
		}
		t[i] = lane[l].t;
		who[i] = lane[l].who;
	}
	for (unsigned i = 0; i < n; i++)
		if (!k || who[k - 1] != who[i])
			who[k++] = who[i];
	return k;
}

void
model_reg_is(struct model *m, unsigned reg, uint64_t who, uint64_t n)
{
	for (unsigned l = 0; l < FACT_NLANE; l++)
		if (reg >> l & 1)
			m->lane[reg >> 5][l] = (struct model_lane){ m->t, who, n };
}

static int
model_branch(struct model *m, uint64_t who, uint64_t n, uint32_t end)
{
	size_t base = m->frame[m->nframe - 1].base;

	if (m->nregion > base && m->region[m->nregion - 1].end == end) {
		m->region[m->nregion - 1] = (struct model_region){ who, n, end };
		return 0;
	}
	if (m->nregion - base > DEEP)
		for (size_t i = base; i < m->nregion; i++)
			if (m->region[i].end == end) {
				m->region[i] = (struct model_region){ who, n, end };
				m->nregion = i + 1;
				return 0;
			}
	if (buf_grow(&m->region, &m->capregion, m->nregion + 1, sizeof *m->region) != 0)
		return -1;
	m->region[m->nregion++] = (struct model_region){ who, n, end };
	return 0;
}

int
model_leave(struct model *m, uint32_t s, uint64_t who, uint64_t n)
{
	const struct store_stmt *v = &m->code->stmt[s];
	const uint16_t *def = m->code->reg + v->reg + v->nuse;

	m->t++;
	for (uint32_t i = 0; i < v->ndef; i++)
		model_reg_is(m, def[i], who, n);
	return v->ctl ? model_leave_control(m, s, who, n) : 0;
}

int
model_leave_control(struct model *m, uint32_t s, uint64_t who, uint64_t n)
{
	const struct store_stmt *v = &m->code->stmt[s];
	int bad = 0;

	if (v->ctl & STORE_BRANCH)
		bad = model_branch(m, who, n, v->pdom);
	if (v->ctl & STORE_CALL)
		bad |= model_push(m, who, n);
	else if (v->ctl & STORE_RETURN)
		model_pop(m);
	else if (v->ctl & STORE_CONDTAIL) {
		m->target = v->target;
		m->tailwho = who;
		m->tailn = n;
	} else if (v->ctl & STORE_TAIL)
		model_tail(m, model_parent(m).who, model_parent(m).n);
	return bad;
}

void
model_save(const struct model *m, struct buf *b)
{
	col_put_number(b, m->t);
	for (unsigned i = 0; i < FACT_NREG; i++)
		for (unsigned l = 0; l < FACT_NLANE; l++) {
			col_put_number(b, m->lane[i][l].who);
			if (m->lane[i][l].who)
				col_put_number(b, m->t - m->lane[i][l].t);
		}
	col_put_number(b, m->target);
	col_put_number(b, m->target ? m->tailwho : 0);
	col_put_number(b, m->nframe);
	for (size_t i = 0, k = 0; i < m->nframe; i++) {
		size_t end = i + 1 < m->nframe ? m->frame[i + 1].base : m->nregion;

		col_put_number(b, m->frame[i].who);
		col_put_number(b, end - k);
		for (; k < end; k++) {
			col_put_number(b, m->region[k].who);
			col_put_number(b, m->region[k].end);
		}
	}
}

static int
get_who(struct col_reader *r, const struct store_code *c, uint64_t *who)
{
	if (col_get_number(r, UINT64_MAX, who) != 0)
		return -1;
	if (*who && (*who >> 32 == 0 || *who >> 32 > c->nstmt)) {
		r->err = "a statement that does not exist";
		return -1;
	}
	return 0;
}

static int
load_frames(struct model *m, struct col_reader *r)
{
	uint64_t nframe, n, end, who;

	if (col_get_number(r, FRAMES, &nframe) != 0)
		return -1;
	m->nframe = m->nregion = 0;
	for (uint64_t i = 0; i < nframe; i++) {
		if (get_who(r, m->code, &who) != 0 || col_get_number(r, UINT32_MAX, &n) != 0)
			return -1;
		if (model_push(m, who, 0) != 0)
			return -1;
		for (; n; n--) {
			if (get_who(r, m->code, &who) != 0 || col_get_number(r, UINT32_MAX, &end) != 0)
				return -1;
			if (buf_grow(&m->region, &m->capregion, m->nregion + 1, sizeof *m->region) != 0)
				return -1;
			m->region[m->nregion++] = (struct model_region){ who, 0, (uint32_t)end };
		}
	}
	return 0;
}

int
model_load(struct model *m, struct col_reader *r)
{
	uint64_t ago;

	if (col_get_number(r, UINT64_MAX >> 1, &m->t) != 0)
		return -1;
	for (unsigned i = 0; i < FACT_NREG; i++)
		for (unsigned l = 0; l < FACT_NLANE; l++) {
			struct model_lane *p = &m->lane[i][l];

			*p = (struct model_lane){ 0 };
			if (get_who(r, m->code, &p->who) != 0 ||
			    (p->who && col_get_number(r, m->t, &ago) != 0))
				return -1;
			if (p->who)
				p->t = m->t - ago;
		}
	if (col_get_number(r, UINT64_MAX, &m->target) != 0 || get_who(r, m->code, &m->tailwho) != 0 ||
	    load_frames(m, r) != 0 || m->nframe == 0) {
		/* a model always has a frame, even after a failure */
		if (m->nframe == 0)
			m->frame[m->nframe++] = (struct model_frame){ 0 };
		if (!r->err)
			r->err = "the state before a segment is not as states are";
		return -1;
	}
	return 0;
}
