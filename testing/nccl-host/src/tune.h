/* What NCCL asks a tuner in the life of a communicator; and what it costs. */
#ifndef HOST_TUNE_H
#define HOST_TUNE_H

#include "options.h"

/* Each local rank's decisions, from a thread each: all collectives, sizes from 1 KiB to --bytes. False: it said why. */
bool run_tune(const struct options *options);

#endif
