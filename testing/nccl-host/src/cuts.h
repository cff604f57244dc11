#ifndef TRIGON_NCCL_HOST_CUTS_H
#define TRIGON_NCCL_HOST_CUTS_H

#include <stdbool.h>

/* Shuts down TCP connections of this process from now on, as the file says; returns false if it cannot. */
bool cuts_watch(const char *file);

/* Shuts down one TCP connection of this process, or all; returns how many. Its state is that of rand_r. */
int cuts_any(unsigned *random, bool all);

#endif
