/* Loads libarchive by its name, ARCHIVE_FILE. Without a name the linker takes what there is. See arclib.h. */
#include "base/arclib.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/mem.h"

struct arclib arclib;
static const char *not_loaded;

static void
arclib_fill(void)
{
#ifdef ARCHIVE_FILE
	void *library = dlopen(ARCHIVE_FILE, RTLD_NOW);

#define FILL(name) \
	if (!library || (*(void **)&arclib.name = dlsym(library, "archive_" #name)) == NULL) { \
		not_loaded = xstrdup(dlerror()); \
		return; \
	}
#else
#define FILL(name) arclib.name = archive_##name;
#endif
	ARCLIB(FILL)
}

const char *
arclib_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, arclib_fill);
	return not_loaded;
}
