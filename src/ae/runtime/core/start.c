/*
 * Start and end of a traced program.  The start runs from .preinit_array,
 * before any constructor; the end is the last entry of .fini_array to run,
 * after every destructor and atexit handler.  If there are traced shared
 * libraries, it is that of the last of them.
 */
#include "ae/runtime/call.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAXNUMBER 100000       /* most files that %n makes */

#pragma GCC visibility push(hidden)
/* defined by a rewritten file that calls makecontext and the like */
extern const char __ae_uses_context[] __attribute__((weak));
/* ... by one that calls ae_start() */
extern const char __ae_waits[] __attribute__((weak));
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

/* Appends s to the string of *n bytes at `to`, of AE_PATHMAX bytes; 0 or an error number */
static int add(char *to, size_t *n, const char *s)
{
	for (; *s; s++) {
		if (*n + 1 >= AE_PATHMAX)
			return ENAMETOOLONG;
		to[(*n)++] = *s;
	}
	to[*n] = 0;
	return 0;
}

static int add_number(char *to, size_t *n, const char *before, uint64_t number)
{
	char num[24];
	int err = add(to, n, before);

	return err ? err : add(to, n, ae_dec(num, number));
}

static size_t folder_len;       /* bytes of scratch.pattern that are the folder in which the program began */

/* scratch.pattern = the absolute form of name; 0 or an error number */
static int absolute(const char *name)
{
	char *to = ae_scratch->pattern;
	size_t n = 0;
	long r;
	int err = 0;

	if (name[0] != '/') {
		r = sys3(SYS_getcwd, SYS_P(to), AE_PATHMAX, 0);
		if (r < 1)
			return ENAMETOOLONG;
		n = (size_t)r - 1;
		err = add(to, &n, "/");
	}
	folder_len = n;
	return err ? err : add(to, &n, name);
}

/* Does the pattern have %letter? */
static int has(char letter)
{
	const char *s = ae_scratch->pattern + folder_len;

	for (; *s; s++)
		if (*s == '%') {
			if (s[1] == letter)
				return 1;
			if (s[1] == '%')
				s++;
		}
	return 0;
}

/* scratch.path = the pattern with %p replaced by the process id, %n by number, %% by % */
static int expand(uint64_t number, size_t *len)
{
	const char *s = ae_scratch->pattern;
	char *to = ae_scratch->path, one[2] = { 0, 0 };
	size_t n = 0;
	int err = 0;

	for (; *s && !err; s++) {
		char c = n >= folder_len && *s == '%' ? s[1] : 0;

		if (c == 'p' || c == 'n' || c == '%')
			s++;
		one[0] = *s;
		if (c == 'p' || c == 'n')
			err = add_number(to, &n, "", c == 'p' ? (uint64_t)sys3(SYS_getpid, 0, 0, 0) : number);
		else
			err = add(to, &n, one);
	}
	*len = n;
	return err;
}

/* With %n: the file of the lowest number that has none yet. */
static int open_next(void)
{
	uint64_t number;
	size_t n;
	int err = EEXIST;

	for (number = 1; err == EEXIST && number <= MAXNUMBER; number++) {
		err = expand(number, &n);
		if (!err)
			err = ae_file_create(ae_scratch->path, 1);
	}
	return err;
}

/*
 * NAME, NAME.PID, NAME.PID.2 ...: the first one into which no other process records, and which does
 * not hold what this one recorded before an exec.
 */
static int open_file(const char *name)
{
	uint64_t pid = (uint64_t)sys3(SYS_getpid, 0, 0, 0), number;
	int err, mine = 0;
	size_t n;

	err = absolute(name);
	if (!err && has('n'))
		return open_next();
	for (number = 0; !err && number < 10000; number++) {
		err = expand(0, &n);
		if (!err && number)
			err = add_number(ae_scratch->path, &n, ".", pid);
		if (!err && number > 1)
			err = add_number(ae_scratch->path, &n, ".", number);
		if (!err && ae_file_mine(ae_scratch->path)) {
			mine = 1;
			continue;
		}
		if (!err)
			err = ae_file_create(ae_scratch->path, 0);
		if (err != EWOULDBLOCK)
			break;
		err = 0;
	}
	if (!err && number == 10000)
		err = EEXIST;
	if (!err && mine)
		AE_SAY(ae_file_path(),
		    ": the events after an exec; those before it stay in a file of their own");
	return err;
}

/* A forked child's file: by the pattern, if that makes it another one than its parent's */
static int open_child(const char *parent)
{
	size_t n = 0;
	int err;

	if (has('n'))
		return open_next();
	if (has('p'))
		err = expand(0, &n);
	else {
		err = add(ae_scratch->path, &n, parent);
		if (!err && ae_file_kind() == S_IFREG)
			err = add_number(ae_scratch->path, &n, ".", (uint64_t)sys3(SYS_getpid, 0, 0, 0));
	}
	return err ? err : ae_file_create(ae_scratch->path, 0);
}

/* A number of bytes, with the suffixes k, M and G; 0 or -1 */
static int size(const char *s, uint64_t *v)
{
	unsigned shift = 0;

	*v = 0;
	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (*v >= (uint64_t)1 << 59)
			return -1;
		*v = *v * 10 + (uint64_t)(*s - '0');
	}
	if (*s == 'k' || *s == 'K')
		shift = 10;
	else if (*s == 'M')
		shift = 20;
	else if (*s == 'G')
		shift = 30;
	if (s[shift != 0] || *v == 0 || *v >= (uint64_t)1 << (63 - shift))
		return -1;
	*v <<= shift;
	return 0;
}

/* The buffer, its guard, the side stack and the rest: one reservation, of which parts are made accessible. */
static int map_memory(void)
{
	long r = sys6(SYS_mmap, (long)AE_START, (long)AE_MAPLEN, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (r != (long)AE_START) {
		if (!sys_err(r))
			sys3(SYS_munmap, r, (long)AE_MAPLEN, 0);
		return -1;
	}
	if (sys3(SYS_mprotect, (long)AE_START, (long)AE_BUFLEN, PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)(AE_START + AE_SIDE), (long)AE_SIDELEN, PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)(AE_START + AE_ALT), (long)(AE_MAPLEN - AE_ALT), PROT_READ | PROT_WRITE) !=
		0) {
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return -1;
	}
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

/* Did an object define this? If none did, gold gives a position independent executable the address where it is loaded. */
static int there(const char *symbol)
{
	return symbol && (uintptr_t)symbol != ae_base(&ae_self);
}

static void start(int argc, char **argv, char **envp)
{
	const char *name = getvar(envp, "AE_OUT");
	const char *prog = argc > 0 && argv[0] ? argv[0] : "?", *limit = getvar(envp, "AE_LIMIT"),
	    *from = getvar(envp, "AE_FROM");
	char buf[40];
	int err;

	if (is_off(name) || !ae_traceable())
		return;
	ae_say_init();
	if (*limit && size(limit, &ae_limit) != 0) {
		AE_SAY("AE_LIMIT=", limit, ": not a size of at least 1; k, M and G after the number are 1024, "
		    "1024k and 1024M: untraced");
		return;
	}
	if (!ae_current(&ae_self)) {
		AE_SAY(prog, ": has objects of another version of aecc, which must be compiled again: untraced");
		return;
	}
	if (!ae_alike(&ae_self)) {
		AE_SAY(prog, ": has objects of compilers that reserve a register for tracing, and of others: untraced");
		return;
	}
	if (privileged()) {
		AE_SAY(prog, ": runs with the rights of another user: untraced");
		return;
	}
	if (there(__ae_uses_context)) {
		AE_SAY(prog, ": uses makecontext or swapcontext: untraced");
		return;
	}
	if (*from && ae_arm(from) != 0) {
		AE_SAY("AE_FROM=", from, ": no such traced function: untraced");
		return;
	}
	if (machine_taken()) {
		AE_SAY(prog, ": the register gs is in use: untraced");
		return;
	}
	if (map_memory() != 0) {
		AE_SAY(prog, ": no room for the event buffer: untraced");
		return;
	}
	err = open_file(*name ? name : "ae.out");
	if (!err)
		err = ae_file_header(sys_thread(), NULL, 0, 0);
	if (err) {
		AE_SAY(*name ? name : "ae.out", ": ", ae_strerror(err, buf), ": untraced");
		ae_file_close();
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return;
	}
	if (ae_patch(&ae_self, page_size(envp)) != 0) {
		AE_SAY(prog, ": its code cannot be changed: untraced");
		ae_file_end(AE_STOPPED, 0, 0, 0);
		ae_file_close();
		sys3(SYS_munmap, (long)AE_START, (long)AE_MAPLEN, 0);
		return;
	}
	ae_kin_init();
	ae_thread_first();
	ae_on = 1;
	ae_rec_open(!*from && !there(__ae_waits));
	ae_sig_init();
}

static void finish(void)
{
	if (!ae_module_wait())
		ae_end(AE_EXIT);
}

__attribute__((section(".preinit_array"), used)) static void (*const start_hook)(int, char **, char **) =
    start;
__attribute__((section(".fini_array.00000"), used)) static void (*const finish_hook)(void) = finish;

/*
 * A forked child records into a file of its own, NAME.PID or by the pattern. A device takes events of all processes,
 * a pipe only those of its first writer.
 */
void ae_fork_child(int traced)
{
	char *parent = ae_scratch->parent;
	char buf[40];
	uint64_t pos, pid = (uint64_t)sys3(SYS_getpid, 0, 0, 0);
	struct ae_thread *t = ae_me();
	int kind, err, i, live = t && t->live, pending = t && t->pending, open = ae_open;
	uint32_t number = t ? t->number : 0;

	if (!ae_on)
		return;
	pos = t ? t->total : 0;
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
	ae_thread_alone(t);
	ae_total = 0;
	ae_nhandler = 0;
	for (i = 0; i < AE_NSHARD; i++)
		ae_shard[i][0] = 0;
	err = open_child(parent);
	if (!err)
		err = ae_file_header(sys_thread(), parent, pos, number > 1 ? number : 0);
	if (!err)
		err = ae_module_again();
	if (err) {
		AE_SAY(ae_scratch->path, ": ", ae_strerror(err, buf), ": process not recorded");
		ae_file_close();
		return;
	}
	ae_rec_open(live);
	t->pending = pending;
	ae_open = open;
}
