#ifndef TRIGON_NCCL_HOST_UNTIL_H
#define TRIGON_NCCL_HOST_UNTIL_H

#include <stdbool.h>

struct rank;

/* Before a round of the all-reduce: whether --until says that it is one too many, for all ranks alike. */
bool until_is_over(const struct rank *rank, int round);

#endif
