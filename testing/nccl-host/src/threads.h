/* The threads that a plugin adds to this process. */
#ifndef HOST_THREADS_H
#define HOST_THREADS_H

#include "net.h"

/*
 * Says on stderr, on a line each, the names of all threads of this process once they have become few: before the
 * plugin's init, after it, and with a connection of this process to itself, after some messages. "Few" means that the
 * plugin has added `enough` at most and none of them is called trigon-warm-up; it waits for that for 20 s. Returns 0 if
 * all calls went well, however many threads there are.
 */
int print_threads(struct net *net, const char *enough);

#endif
