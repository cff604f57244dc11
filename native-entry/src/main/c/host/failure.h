/* Why the start failed, in words for the user. On the thread that starts Java alone. */
#ifndef TRIGON_HOST_FAILURE_H
#define TRIGON_HOST_FAILURE_H

#include <stdbool.h>

/* Keeps the words; returns false. */
__attribute__((format(printf, 1, 2))) bool start_fails(const char *format, ...);

/* What start_fails was last told. */
const char *start_failure(void);

#endif
