/*
 * A JVM that runs out of memory or threads. The OutOfMemoryError comes to whoever asks next, and that may be one of
 * Trigon's own threads: it ends, and those who wait for it wait for ever. So when the JVM says that it is exhausted,
 * every call that could wait becomes an error.
 */
#ifndef TRIGON_HOST_EXHAUSTION_H
#define TRIGON_HOST_EXHAUSTION_H

#include <jni.h>
#include <stdbool.h>

/* Once, in a JVM of our own: what the host's JVM runs out of is the host's matter. Costs nothing until it happens. */
void watch_for_exhaustion(JavaVM *vm);

/* Whether it has happened. */
bool is_exhausted(void);

#endif
