/*
 * Whether the kernel grants the memory that the JVM takes. HotSpot ends the process where a mapping is refused, so a
 * limit that is too low (ulimit -v, ulimit -d) has to be found before.
 */
#ifndef TRIGON_HOST_MEMORY_H
#define TRIGON_HOST_MEMORY_H

#include <stdbool.h>

#include "options.h"

/* For a JVM with these options. False: start_failure() says why not. */
bool is_memory_granted(const struct jvm_options *options);

#endif
