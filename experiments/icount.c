/*
 * icount: a QEMU user-mode plugin that counts the instructions that a program executes, libraries included.
 *
 *   qemu-mipsel -plugin icount.so,out=FILE prog
 *
 * Debian does not package qemu-plugin.h: what is used of it (plugin interface version 1, QEMU 4.2 to 8.x) is declared
 * below.  A translation block that a signal cuts short counts as a whole.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
enum { ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t, const void *, int, char **);

static uint64_t count;
static FILE *out;

static void
trans_cb(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &count, qemu_plugin_tb_n_insns(tb));
}

static void
exit_cb(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	fprintf(out, "%llu\n", (unsigned long long)count);
	fclose(out);
}

int
qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(out = fopen(argv[0] + 4, "w"))) {
		fprintf(stderr, "icount: cannot write the file of out=\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, trans_cb);
	qemu_plugin_register_atexit_cb(id, exit_cb, NULL);
	return 0;
}
