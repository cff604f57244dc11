/*
 * From a JVM to an object of trigon.entry.PluginEntry, which is Java's side of this library. On the threads that start
 * things, one at a time; each leaves Java when it has done.
 */
#ifndef TRIGON_HOST_BOOT_H
#define TRIGON_HOST_BOOT_H

#include <stdbool.h>

/*
 * Finds or creates the JVM and makes the object; once. The calling thread is Java's afterwards.
 *
 * host_block  PluginEntry's argument
 *
 * False: start_failure() says why.
 */
bool boot_java(const void *host_block);

/*
 * Calls the object's `int METHOD(long)`.
 *
 * block   the method's argument
 * result  what it returned: an ncclResult_t, with the reason in the log
 *
 * False: it threw, or there is none; start_failure() says so.
 */
bool call_entry(const char *method, const void *block, int *result);

/* The calling thread is Java's no more. */
void leave_java(void);

#endif
