/*
 * BT9, the branch traces of the fifth championship of branch prediction: a graph in which nodes are branches
 * and an edge leads from a branch that goes one way to the next branch; then the sequence of edges. The
 * sequence goes to a temporary file first.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/digits.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/spool.h"
#include "insns/formats.h"

#define BUFFER (64u << 10)
#define OPCODE 4u               /* bytes of an instruction's code in a node */

/* A branch; node 0 is where the run begins. */
struct node {
	uint64_t pc, count[2];          /* not taken, taken */
	uint32_t last[2];               /* the edge that was last taken from here, plus 1 */
	uint32_t targets;               /* different ones */
	uint8_t kind;                   /* enum branch_kind; BRANCH_NONE: the beginning or the end */
	uint8_t len, code[OPCODE];
};

struct edge {
	uint64_t target, ninsn, count;
	uint32_t from, to;              /* nodes */
	uint8_t taken;
};

struct bt9 {
	struct insns_kinds kinds;
	struct node *node;              /* owned */
	struct edge *edge;              /* owned */
	size_t nnode, capnode, nedge, capedge;
	struct hash nodes, edges;       /* by address; by node, target and whether it is taken */
	uint32_t *of;                   /* by id of the fact: the node, or 0; owned */
	size_t nof;
	/* the branch that was executed last, where it went, and how many other instructions came after it */
	uint32_t from;
	uint8_t taken;
	uint64_t target, ninsn;
	uint64_t total, branches;
	int any;                        /* anything was executed */
	int spool;
	uint8_t *buffer;                /* owned: what is not in the spool yet */
	size_t nbuffer;
};

static uint32_t
bt9_node_new(struct bt9 *b, const struct node *n)
{
	b->node = mem_xgrow(b->node, &b->capnode, b->nnode + 1, sizeof *b->node);
	b->node[b->nnode] = *n;
	return (uint32_t)b->nnode++;
}

/* The node of a branch. Where the program has put another branch, it stays what it was first. */
static uint32_t
bt9_node(struct bt9 *b, const struct fact *f, const struct insns_kind *k)
{
	uint32_t h = hash_number(f->pc), at = h, i;
	struct node n = { .pc = f->pc, .kind = (uint8_t)(k->kind - 1u), .len = f->len };

	if (f->id < b->nof && b->of[f->id])
		return b->of[f->id];
	if (f->id >= b->nof)
		b->of = insns_table(b->of, &b->nof, f->id, sizeof *b->of);
	while ((i = hash_find(&b->nodes, h, &at)) != HASH_NONE && b->node[i].pc != f->pc)
		;
	if (i == HASH_NONE) {
		memcpy(n.code, f->b, f->len < OPCODE ? f->len : OPCODE);
		i = bt9_node_new(b, &n);
		hash_xadd(&b->nodes, h, i);
	}
	return b->of[f->id] = i;
}

/*
 * The edge from the last branch, which ends at node `to`. Readers want one edge for each way that a branch
 * goes: if a signal came on the way, it may end elsewhere, and is still the edge that was there first.
 */
static uint32_t
bt9_edge(struct bt9 *b, uint32_t to)
{
	struct node *n = &b->node[b->from];
	uint32_t i = n->last[b->taken] - 1u, h, at;
	int ends = b->node[to].kind == BRANCH_NONE;

	if (!ends && i != HASH_NONE && b->edge[i].target == b->target)
		return i;
	at = h = hash_number(b->target * 2 + b->taken) ^ hash_number(b->from);
	while ((i = hash_find(&b->edges, h, &at)) != HASH_NONE && (b->edge[i].from != b->from ||
	    b->edge[i].target != b->target || b->edge[i].taken != b->taken))
		;
	if (i == HASH_NONE || ends) {
		b->edge = mem_xgrow(b->edge, &b->capedge, b->nedge + 1, sizeof *b->edge);
		b->edge[b->nedge] = (struct edge){ .target = b->target, .ninsn = b->ninsn, .from = b->from, .to = to,
		    .taken = b->taken };
		n->targets += i == HASH_NONE && b->taken;
		i = (uint32_t)b->nedge++;
		if (!ends)
			hash_xadd(&b->edges, h, i);
	}
	n->last[b->taken] = i + 1;
	return i;
}

/* The way from the last branch ends at node `to`. */
static void
bt9_step(struct bt9 *b, uint32_t to)
{
	uint32_t i = bt9_edge(b, to);

	b->edge[i].count++;
	b->nbuffer += digits_dec(b->buffer + b->nbuffer, i);
	b->buffer[b->nbuffer++] = '\n';
	if (b->nbuffer > BUFFER - 32) {
		spool_write(b->spool, b->buffer, b->nbuffer);
		b->nbuffer = 0;
	}
	b->from = to;
	b->ninsn = 0;
}

static void
bt9_take(void *arg, const struct insns_span *s)
{
	struct bt9 *b = arg;
	uint32_t before = 0;

	if (insns_signal(s))
		return;
	if (!b->any)
		b->target = s->run.at[0].fact->pc;
	b->any = 1;
	b->total += s->run.ninsn;
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact *f = s->run.at[i].fact;
		const struct insns_kind *k = insns_kind(&b->kinds, f);
		uint64_t next;

		if (k->kind == BRANCH_NONE + 1)
			continue;
		b->ninsn += i - before;
		before = i + 1;
		bt9_step(b, bt9_node(b, f, k));
		next = insns_next(s, i);
		b->taken = k->kind != BRANCH_COND + 1 || next != f->pc + f->len;
		b->target = k->target ? k->target : next;
		b->node[b->from].count[b->taken]++;
		b->branches++;
	}
	b->ninsn += s->run.ninsn - before;
	/* a repeated string instruction counts once */
	if (s->again) {
		b->ninsn--;
		b->total--;
	}
}

static void
bt9_put_node(struct out *out, size_t id, const struct node *n)
{
	static const char *const class[BRANCH_KINDS] = {
		[BRANCH_COND] = "JMP+DIR+CND", [BRANCH_JUMP] = "JMP+DIR+UCD", [BRANCH_JUMP_IND] = "JMP+IND+UCD",
		[BRANCH_CALL] = "CALL+DIR+UCD", [BRANCH_CALL_IND] = "CALL+IND+UCD", [BRANCH_RETURN] = "RET+IND+UCD",
	};
	int indirect = n->kind != BRANCH_COND && n->kind != BRANCH_JUMP && n->kind != BRANCH_CALL;

	out_printf(out, "NODE %zu 0x%016jx - 0x", id, (uintmax_t)n->pc);
	for (unsigned i = 0; i < OPCODE && i < n->len; i++)
		out_printf(out, "%02x", n->code[i]);
	if (n->kind == BRANCH_NONE)
		out_str(out, "0 0\n");
	else
		out_printf(out, " %u class: %s behavior: %s+%s taken_cnt: %ju not_taken_cnt: %ju tgt_cnt: %u\n", n->len,
		    class[n->kind], !n->count[0] ? "AT" : !n->count[1] ? "ANT" : "DYN",
		    indirect && n->targets > 1 ? "IND" : "DIR", (uintmax_t)n->count[1], (uintmax_t)n->count[0],
		    n->targets);
}

/* Copies the sequence from the temporary file. */
static void
bt9_put_sequence(struct bt9 *b, struct out *out)
{
	ssize_t n;

	spool_write(b->spool, b->buffer, b->nbuffer);
	if (lseek(b->spool, 0, SEEK_SET) != 0)
		die_sys("temporary file");
	while ((n = read(b->spool, out_reserve(out, OUT_ROOM), OUT_ROOM)) > 0)
		out_commit(out, (size_t)n);
	if (n < 0)
		die_sys("temporary file");
	close(b->spool);
}

static void
bt9_put(struct bt9 *b, struct out *out)
{
	/* readers take the edge from the beginning for a branch, too */
	out_printf(out, "BT9_SPA_TRACE_FORMAT\nbt9_minor_version: 0\nhas_physical_address: 0\nmd5_checksum:\n"
	    "conversion_date:\noriginal_stf_input_file:\ntotal_instruction_count: %ju\n"
	    "branch_instruction_count: %ju\ninvalid_physical_branch_target_count: 0\n",
	    (uintmax_t)b->total, (uintmax_t)b->branches + (b->any != 0));
	out_str(out, "BT9_NODES\n#NODE id virtual_address physical_address opcode size\n");
	for (size_t i = 0; i < b->nnode; i++)
		bt9_put_node(out, i, &b->node[i]);
	out_str(out, "BT9_EDGES\n#EDGE id src_id dest_id taken br_virt_target br_phy_target inst_cnt\n");
	for (size_t i = 0; i < b->nedge; i++) {
		const struct edge *e = &b->edge[i];

		out_printf(out, "EDGE %zu %u %u %c 0x%016jx - %ju traverse_cnt: %ju\n", i, e->from, e->to,
		    e->taken ? 'T' : 'N', (uintmax_t)e->target, (uintmax_t)e->ninsn, (uintmax_t)e->count);
	}
	out_str(out, "BT9_EDGE_SEQUENCE\n");
	bt9_put_sequence(b, out);
	out_str(out, "EOF\n");
}

int
bt9_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	static const struct node end = { .pc = UINT64_MAX };
	struct bt9 b = { .taken = 1, .spool = spool_open(), .buffer = xmalloc(BUFFER) };
	struct insns mine = *q;
	int bad;

	mine.take = bt9_take;
	mine.arg = &b;
	bt9_node_new(&b, &(struct node){ .pc = 0 });
	bad = insns_run(&mine, early, f);
	if (b.any)
		bt9_step(&b, bt9_node_new(&b, &end));
	bt9_put(&b, out);
	free(b.node);
	free(b.edge);
	free(b.of);
	free(b.buffer);
	free(b.kinds.k);
	hash_free(&b.nodes);
	hash_free(&b.edges);
	return bad;
}
