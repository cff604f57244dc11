/*
 * Calls that a library makes into other libraries, led elsewhere: the slots that the dynamic linker has filled with the
 * addresses of functions are filled again. Only the library itself is changed, no other library or program sees it.
 */
#ifndef TRIGON_HOST_CALLS_H
#define TRIGON_HOST_CALLS_H

#include <stdbool.h>

/*
 * From now on `library`, a handle of dlopen, calls `replacement` where it would call the function `name`. False: it
 * calls no such function by the dynamic linker's slots, or the kernel keeps them from being written.
 */
bool replace_call(void *library, const char *name, void (*replacement)(void));

#endif
