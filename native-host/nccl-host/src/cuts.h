#ifndef TRIGON_NCCL_HOST_CUTS_H
#define TRIGON_NCCL_HOST_CUTS_H

#include <stdbool.h>

/* Shuts down TCP connections of this process from now on, as the file says; returns false if it cannot. */
bool cuts_watch(const char *file);

#endif
