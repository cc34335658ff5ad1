/* State and functions shared by the files of wetq. */
#ifndef TM_CONVERT_WETQ_H
#define TM_CONVERT_WETQ_H

#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/out.h"
#include "wet/query/query.h"

struct job {
	const char *path, *file;        /* name of the file for diagnostics; its path */
	const char *folder;             /* folder of the sources, or NULL */
	struct query *q;
	struct out *out;
	unsigned flags;                 /* flags of slices */
	int typed, all, json;           /* -t or -d was given; -a; --json */
	int many;                       /* questions are on standard input */
	int quiet;                      /* the answer says which instance a point is */
	int backward, counts;
	/* Maximum statements or lines; instances at a time, 0: the default of query.h. */
	uint64_t most, window;
	const char *from;               /* a point of the run, or NULL */
	struct fault fault;             /* why a question has no answer */
	struct places *places;          /* where statements are, once that was asked for; owned */
};

/* Functions that return int return 0, or -1 with j->fault; what came before the fault has been written. */
int job_bad(struct job *j);                     /* copies the fault of the query; returns -1 */
/* warns if the capture ends early; e may be NULL */
void job_early(const char *name, const struct ws_early *e);
int job_survey(struct job *j, int slices);      /* surveys the run, which points and (slices) slices need */
/* Warns about mapped files without debug information; returns their number. */
unsigned job_warn_sources(struct job *j);
int job_none(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2,
    3)));        /* sets the fault */
/*
 * Parses a point, which wetq(1) describes, and surveys the run.  An instance that was not named is reported.
 */
int job_point(struct job *j, const char *s, int slices, uint64_t *n);

/* place.c: where statements are in source files, by id - 1; NULL and 0: unknown */
struct place { const char *file, *func; int line; };
const struct place *job_place(struct job *j, uint32_t id);      /* after a survey */
void job_places_free(struct job *j);
/* is it source of a library of the system, or none? */
int place_is_system(const struct place *p);
/* The statement that FILE:LINE, FUNCTION, FILE:FUNCTION or MODULE+0xOFFSET stands for, after a survey */
int job_named(struct job *j, const char *name, uint32_t *id);
int job_is_function(struct job *j, const char *name);

/* Instances [from, to] of a statement: ID or 0xADDRESS, followed by #INSTANCE, #FROM-TO or nothing. */
struct range { uint32_t id; int one; uint64_t from, to; };
int job_range(struct job *j, const char *s, struct range *r);

/* answer.c: prints lists, control flow, values and addresses */
int job_list(struct job *j);
int job_flow(struct job *j);    /* prints control flow */
int job_values(struct job *j, const char *id);  /* id: of a statement, with instances */
int job_addrs(struct job *j, const char *id);

/* slice.c: prints the slice of a point, and its graph */
int job_slice(struct job *j, const char *point);
int job_dot(struct job *j, const char *point);  /* the slice as a graph for dot(1) */

/* annotate.c: prints source files with a slice */
int job_annotate(struct job *j, const char *point);

/* why.c: prints where a value came from, as a tree of source lines */
int job_why(struct job *j, const char *point);

/* html.c: the same as a page with the source; walk.c: by commands on standard input */
int job_html(struct job *j, const char *point);
int job_walk(struct job *j, const char *point);

/* step.c: the dependences of one instance; the lines that are in one slice and not in another */
int job_deps(struct job *j, const char *point);
int job_dice(struct job *j, const char *wrong, const char *right);
/* The kind of a use port of a statement, as a word */
const char *step_kind(const struct job *j, uint32_t id, uint32_t port);
/* Fields of a dependence by a port of statement `user`, and of an instance */
void step_json_fields(struct job *j, struct json *o, uint32_t user, uint32_t port, uint32_t id,
    uint64_t instance);

/* uses.c: the instances that depend on one directly */
int job_uses(struct job *j, const char *point);
/* at most `most` of those of the instance at position n; *use: the caller's, also after a failure */
/* reads, writes: the references of a capture (names_reference) */
struct use { uint64_t n, instance, reads, writes; uint32_t id, port; };
int uses_find(struct job *j, uint64_t n, uint64_t most, struct use **use, size_t *count);

/* state.c: registers, variables and callers at a point; who.c: who wrote something last */
int job_at(struct job *j, const char *point);
int job_who(struct job *j, const char *what);

/* whynot.c: why a line was not executed */
int job_whynot(struct job *j, const char *line);

/* text.c: lines of source files; warns about files that were not found or were changed after the run */
struct texts;
struct texts *texts_new(struct job *j);
/* line `line` of the file of statement id, of *n bytes; NULL: it is not there */
const char *texts_line(struct texts *t, uint32_t id, size_t *n);
const char *texts_line_of(struct texts *t, uint32_t id, int line, size_t *n);  /* another line of that file */
void texts_free(struct texts *t);
/* opens a source file of statement id for reading, NULL if it cannot; warns, but for a system's file */
FILE *texts_open(struct job *j, const char *file, uint32_t id);

/* arch.c: prints labels of a statement of a .wet file; id NULL: counts of all statements */
void job_arch(const char *id, const char *path, const char *outname, int json);

/* fields.c: members of JSON objects: of a statement its file, function and line; its id and address as well */
void fields_place(struct job *j, struct json *o, uint32_t id);
void fields_statement(struct job *j, struct json *o, uint32_t id);
void fields_value(struct json *o, const uint64_t *val, uint32_t n);     /* null without a value */
void fields_reference(struct json *o, uint64_t ref);
void fields_source(struct json *o, const char *s, size_t n);     /* a line of source, or NULL */
void fields_references(struct json *o, const uint64_t *ref, size_t n);
/*
 * An answer that is an object with one list, which begins with the first element, or at the end of a list without one:
 * a question without an answer writes nothing.  id: the statement that it is about, or 0.
 */
struct fields { struct json o; int begun; };
void fields_begin(struct fields *f, struct job *j, const char *list, uint32_t id);      /* unless it has begun */
/* Ends it, if it has begun; unless the answer is bad, or is not to be JSON, it begins at the latest now. */
void fields_end(struct fields *f, struct job *j, const char *list, uint32_t id, int bad);

/* put.c: writes text at p; returns the number of bytes */
size_t put_dec(uint8_t *p, uint64_t v);
size_t put_hex(uint8_t *p, uint64_t v);                 /* without 0x */
size_t put_value(uint8_t *p, const uint64_t *word, uint32_t n);         /* in the format of wettext(5) */
void put_number(struct buf *b, const uint64_t *word, uint32_t n);       /* a value, decimal if it is small */
void put_where(struct job *j, uint32_t id);             /* writes ` file function line` and ends the line */
void put_place(struct buf *b, const struct place *p);   /* FILE:LINE */
void put_text(struct job *j, const char *s, size_t n);  /* text of a file, cleaned (base/text.h) */
void put_str(struct job *j, const char *s);             /* the same, without the final NUL; NULL: "?" */
void put_source(struct job *j, const char *file, int line);     /* FILE:LINE, so cleaned */
struct name;
void put_named(struct job *j, uint32_t id, const struct name *m);      /* the same with ` name = value`; m: NULL: none */

#endif
