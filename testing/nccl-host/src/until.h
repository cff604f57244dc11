#ifndef TRIGON_NCCL_HOST_UNTIL_H
#define TRIGON_NCCL_HOST_UNTIL_H

#include <stdbool.h>

struct rank;

/* Before a round: whether --until says that it is one too many, for all ranks alike. */
bool until_is_over(const struct rank *rank, int round);

/* After a round: a line on stderr if it has taken longer than --print-longer says. */
void print_if_long(const struct rank *rank, const char *what, int round, double seconds);

#endif
