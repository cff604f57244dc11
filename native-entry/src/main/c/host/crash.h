/* Whose crash a signal is. Async-signal-safe: called while the process dies. */
#ifndef TRIGON_HOST_CRASH_H
#define TRIGON_HOST_CRASH_H

#include <stdbool.h>

/*
 * Whether the code that `context`, a ucontext_t, was in belongs to the JVM. The rest is the program's: its crash ends
 * as it would.
 */
bool is_crash_in_jvm(const void *context);

#endif
