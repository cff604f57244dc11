/* Two connections of this process to itself, and an RDMA device that fails under one of them, or both. */
#ifndef HOST_FAILING_VERBS_H
#define HOST_FAILING_VERBS_H

#include "net.h"

/*
 * "poll:sender", "queue-pair:receiver", "device:both" and so on: what fails, and at which end. It needs
 * the libibverbs of testing/simulated-device, with instant devices "one" and then "two".
 * Says on stderr what each end's calls returned. Returns 0 if both ends got errors that stay, nothing was done that was
 * not, all else goes on, and everything can be closed.
 */
int fail_under_connection(struct net *net, const char *how);

#endif
