/*
 * The formats of executed instructions. Each function writes the instructions q->from to q->to of the
 * capture q->path; of the functions in q it calls only complain. 0; or -1 with *f, after what comes
 * before the fault is written. *early is set if the capture ends before its program.
 */
#ifndef TM_INSNS_FORMATS_H
#define TM_INSNS_FORMATS_H

#include "base/out.h"
#include "insns/insns.h"

/* ChampSim's records, 64 bytes each, as its tracer writes them */
int champsim_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

/* A trace of DynamoRIO's drmemtrace, one thread, uncompressed */
int drmemtrace_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

/* Executed branches as lines of comma-separated values */
int branches_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

/* Records of CVP-1; cbp: of CBP 2025 */
int cvp_write(const struct insns *q, int cbp, struct out *out, struct ws_early *early, struct fault *f);

/* BT9: the graph of the branches, and the sequence of its edges, which is in a temporary file first */
int bt9_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

/* gem5's elastic trace: operations with what they depend on */
int elastic_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

/* Basic-block vectors as SimPoint reads them, one for each `interval` instructions */
#define BBV_INTERVAL 100000000u         /* as valgrind's exp-bbv */
int bbv_write(const struct insns *q, uint64_t interval, struct out *out, struct ws_early *early,
    struct fault *f);

/* Profiles, for which helper_allow(HELPER_ELF) has to come first: callgrind's format, and folded stacks */
int callgrind_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);
int folded_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f);

#endif
