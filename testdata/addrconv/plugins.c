/* A program that loads two libraries, one after the other, perhaps to the same addresses. */
#include <dlfcn.h>

static int
run(const char *path, const char *name)
{
	void *lib = dlopen(path, RTLD_NOW);
	int (*f)(int) = lib ? (int (*)(int))dlsym(lib, name) : 0;
	int r = f ? f(5) : 100;

	if (lib)
		dlclose(lib);
	return r;
}

int
main(void)
{
	return run("./one.so", "one") + run("./two.so", "two") - 300 * 5 - 1500;
}
