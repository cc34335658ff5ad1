/*
 * Start and end of a traced program.  The start runs from .preinit_array,
 * before any constructor; the end is the last entry of .fini_array to run,
 * after every destructor and atexit handler.
 */
#include "ae/runtime/call.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)
/* defined by a rewritten file that calls makecontext and the like */
extern const char __ae_uses_context[] __attribute__((weak));
#pragma GCC visibility pop

static const char *getvar(char **env, const char *name)
{
	size_t i;

	for (; env && *env; env++) {
		for (i = 0; name[i] && (*env)[i] == name[i]; i++)
			;
		if (!name[i] && (*env)[i] == '=')
			return *env + i + 1;
	}
	return "";
}

/* scratch.path = the absolute form of name, with `.suffix` and `.more` appended if they are not 0 */
static int absolute(const char *name, uint64_t suffix, uint64_t more)
{
	const size_t size = AE_PATHMAX;
	char *to = ae_scratch->path;
	char num[24], num2[24];
	const char *part[6];
	size_t n = 0, i, k = 0;
	long r;

	if (name[0] != '/') {
		r = sys3(SYS_getcwd, SYS_P(to), (long)size, 0);
		if (r < 1)
			return ENAMETOOLONG;
		n = (size_t)r - 1;
		part[k++] = "/";
	}
	part[k++] = name;
	if (suffix) {
		part[k++] = ".";
		part[k++] = ae_dec(num, suffix);
	}
	if (more) {
		part[k++] = ".";
		part[k++] = ae_dec(num2, more);
	}
	for (i = 0; i < k; i++) {
		const char *p = part[i];

		for (; *p; p++) {
			if (n + 1 >= size)
				return ENAMETOOLONG;
			to[n++] = *p;
		}
	}
	to[n] = 0;
	return 0;
}

/* Sets scratch.parent, which is not in use yet, to name with %p replaced by the process id, %% by %. */
static const char *expand(const char *name)
{
	char *to = ae_scratch->parent, num[24];
	const char *s;
	size_t n = 0;

	for (; *name && n + sizeof num < AE_PATHMAX; name++) {
		if (name[0] == '%' && name[1] == 'p') {
			for (s = ae_dec(num, (uint64_t)sys3(SYS_getpid, 0, 0, 0)); *s; s++)
				to[n++] = *s;
			name++;
			continue;
		}
		if (name[0] == '%' && name[1] == '%')
			name++;
		to[n++] = *name;
	}
	to[n] = 0;
	return to;
}

/*
 * NAME, NAME.PID, NAME.PID.2 ...: the first one into which no other process records, and which does
 * not hold what this one recorded before an exec.
 */
static int open_file(const char *name)
{
	uint64_t pid = (uint64_t)sys3(SYS_getpid, 0, 0, 0), n;
	int err = 0, mine = 0;

	name = expand(name);
	for (n = 0; n < 10000; n++) {
		err = absolute(name, n ? pid : 0, n > 1 ? n : 0);
		if (!err && ae_file_mine(ae_scratch->path)) {
			mine = 1;
			err = EEXIST;
			continue;
		}
		if (!err)
			err = ae_file_create(ae_scratch->path, 1);
		if (err != EWOULDBLOCK)
			break;
	}
	if (!err && mine)
		AE_SAY(ae_file_path(),
		    ": the events after an exec; those before it stay in a file of their own");
	return err;
}

/* The buffer, its guard, the side stack and the rest: one reservation, of which parts are made accessible. */
static int map_memory(void)
{
	long r = sys6(SYS_mmap, (long)AE_START, (long)AE_MAPLEN, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	uintptr_t *s = (uintptr_t *)AE_SIDE;    /* entries of three words */

	if (r != (long)AE_START) {
		if (!sys_err(r))
			sys3(SYS_munmap, r, (long)AE_MAPLEN, 0);
		return -1;
	}
	if (sys3(SYS_mprotect, (long)AE_START, (long)(AE_END - AE_START), PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)AE_SIDE, (long)AE_SIDELEN, PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)AE_ALT, (long)(AE_START + AE_MAPLEN - AE_ALT), PROT_READ | PROT_WRITE) !=
		0) {
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return -1;
	}
	s[1] = ~(uintptr_t)0;           /* the sentinel */
	ae_side_top = AE_SIDE + 3 * sizeof *s;
	ae_side_end = AE_SIDE + AE_SIDELEN - 6 * sizeof *s;
	return 0;
}

/* The kernel's page size, from the auxiliary vector after the environment. */
static uintptr_t page_size(char **env)
{
	const ElfW(auxv_t) *a;

	while (*env)
		env++;
	for (a = (const ElfW(auxv_t) *)(env + 1); a->a_type != AT_NULL; a++)
		if (a->a_type == AT_PAGESZ)
			return a->a_un.a_val;
	return AE_PAGE;
}

static int privileged(void)
{
	return sys3(SYS_getuid, 0, 0, 0) != sys3(SYS_geteuid, 0, 0, 0) ||
	    sys3(SYS_getgid, 0, 0, 0) != sys3(SYS_getegid, 0, 0, 0);
}

static int is_off(const char *s)
{
	return s[0] == 'o' && s[1] == 'f' && s[2] == 'f' && !s[3];
}

static void start(int argc, char **argv, char **envp)
{
	const char *name = getvar(envp, "AE_OUT");
	const char *prog = argc > 0 && argv[0] ? argv[0] : "?";
	char buf[40];
	int err;

	if (is_off(name) || !ae_traceable())
		return;
	ae_say_init();
	if (privileged()) {
		AE_SAY(prog, ": runs with the rights of another user: untraced");
		return;
	}
	if (__ae_uses_context) {
		AE_SAY(prog, ": uses makecontext or swapcontext: untraced");
		return;
	}
	if (map_memory() != 0) {
		AE_SAY(prog, ": no room for the event buffer: untraced");
		return;
	}
	ae_fs = sys_thread();
	err = open_file(*name ? name : "ae.out");
	if (!err)
		err = ae_file_header(NULL, 0);
	if (err) {
		AE_SAY(*name ? name : "ae.out", ": ", ae_strerror(err, buf), ": untraced");
		ae_file_close();
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return;
	}
	if (ae_patch(page_size(envp)) != 0) {
		AE_SAY(prog, ": its code cannot be changed: untraced");
		ae_file_end(AE_STOPPED, 0, 0);
		ae_file_close();
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return;
	}
	ae_kin_init();
	__ae_ptr = (uint8_t *)AE_BUF;
	ae_on = 1;
	ae_rec_open();
	ae_sig_init();
}

static void finish(void)
{
	ae_end(AE_EXIT);
}

__attribute__((section(".preinit_array"), used)) static void (*const start_hook)(int, char **, char **) =
    start;
__attribute__((section(".fini_array.00000"), used)) static void (*const finish_hook)(void) = finish;

/*
 * A forked child records into a file of its own, NAME.PID. A device takes events of all processes,
 * a pipe only those of its first writer.
 */
void ae_fork_child(int traced)
{
	char *parent = ae_scratch->parent, *path = ae_scratch->path;
	char buf[40];
	uint64_t pos = ae_total, pid = (uint64_t)sys3(SYS_getpid, 0, 0, 0);
	int kind, err, i;

	if (!ae_on)
		return;
	ae_lock_init();
	ae_kin_init();
	kind = ae_file_kind();
	if (!ae_rec)
		return;
	mem_copy(parent, ae_file_path(), AE_PATHMAX);
	ae_file_close();
	ae_rec_shut();
	if (!traced) {
		AE_SAY("process ", ae_dec(buf, pid), " was forked by untraced code: not recorded");
		return;
	}
	if (kind == S_IFIFO || kind == S_IFSOCK) {
		AE_SAY("process ", ae_dec(buf, pid), ": its parent records into a pipe: not recorded");
		return;
	}
	ae_total = 0;
	ae_nhandler = 0;
	for (i = 0; i < AE_NSHARD; i++)
		ae_shard[i][0] = 0;
	err = absolute(parent, kind == S_IFREG ? pid : 0, 0);
	if (!err)
		err = ae_file_create(path, 1);
	if (!err)
		err = ae_file_header(parent, pos);
	if (err) {
		AE_SAY(path, ": ", ae_strerror(err, buf), ": process not recorded");
		ae_file_close();
		return;
	}
	ae_rec_open();
}
