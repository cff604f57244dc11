/* What all parts of the program share: errors, deadlines, the abort of one rank by another. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>

/* Seconds of the monotonic clock. */
double now(void);

/* Says on stderr what went wrong, tells the process's other threads to stop, and returns false. */
__attribute__((format(printf, 2, 3))) bool fail(int rank, const char *format, ...);

/* Whether a thread of this process has failed. */
bool is_failing(void);

/* Forgets a failure that was expected. */
void recover(void);

/* Waits a little: yields at first, sleeps when there was nothing to do for long. `idle` counts the calls. */
void idle_wait(unsigned *idle);

/* From now on idle_wait only yields. */
void never_sleep(void);

/* Name of an ncclResult_t. */
const char *result_name(int result);

#endif
