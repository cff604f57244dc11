/*
 * The AOT cache: the classes as an earlier JVM had them, loaded, linked and profiled (JEP 483, 514, 515), which takes
 * half of the time out of the start. Made with the distribution; nothing depends on it.
 *
 * The JVM takes a cache for its own if it was made by the same libjvm.so and runtime image. It does not notice changed
 * jars on the class path: it would run the classes that the cache has. And it takes damaged content as it is, which
 * ends the process. So a cache is used only if it and the jars are, byte for byte, those that were packaged together.
 */
#ifndef TRIGON_HOST_AOT_CACHE_H
#define TRIGON_HOST_AOT_CACHE_H

#include <limits.h>
#include <stdbool.h>

#include "home.h"

/* The cache's path if it may be used. Says in the log why not unless that is as it should be. */
bool find_cache(const struct home *home, char path[PATH_MAX]);

#endif
