/*
 * pthread_create, thrd_create: the new thread gets its number and its block here, so that numbers are in the order in
 * which threads are made. (One that a library makes gets them when it first calls a traced function.)
 */
#include "ae/runtime/aert.h"

#include <pthread.h>
#include <threads.h>

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*f)(void *), void *arg);
int __real_thrd_create(thrd_t *id, thrd_start_t f, void *arg);
int __wrap_thrd_create(thrd_t *id, thrd_start_t f, void *arg);

static struct ae_thread *thread_made(void *f, void *arg)
{
	struct ae_thread *t = ae_on ? ae_thread_new() : NULL;

	if (t) {
		t->start = f;
		t->arg = arg;
	}
	return t;
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*f)(void *), void *arg)
{
	struct ae_thread *t = thread_made((void *)(uintptr_t)f, arg);
	int err = t ? __real_pthread_create(id, attr, ae_thread_main, t) : __real_pthread_create(id, attr, f, arg);

	if (err && t)
		ae_thread_unmake(t);
	return err;
}

int __wrap_thrd_create(thrd_t *id, thrd_start_t f, void *arg)
{
	struct ae_thread *t = thread_made((void *)(uintptr_t)f, arg);
	int err = t ? __real_thrd_create(id, (thrd_start_t)(uintptr_t)ae_thread_main, t) : __real_thrd_create(id, f, arg);

	if (err != thrd_success && t)
		ae_thread_unmake(t);
	return err;
}
