/*
 * A process that exits while the JVM collects garbage. exit() destroys libjvm's static objects while its threads go on,
 * as they do in every program that embeds a JVM and does not destroy it; a full collection uses some of them
 * (SerialFullGC's closures in JDK 25), and the process would die of SIGSEGV instead of ending with its own status. So
 * for some seconds from exit() on, no collection begins, and one that has begun is waited for.
 */
#ifndef TRIGON_HOST_EXIT_H
#define TRIGON_HOST_EXIT_H

#include <jni.h>

/* Once, in a JVM of our own: what the host's JVM meets at its exit is the host's matter. */
void guard_exit(JavaVM *vm);

#endif
