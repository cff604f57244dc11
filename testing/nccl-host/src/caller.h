/* Which library this program stands for: how it finds its files and the plugin, and who logs. */
#ifndef HOST_CALLER_H
#define HOST_CALLER_H

#include "net.h"

enum caller { AS_NCCL, AS_RCCL_6_2, AS_RCCL_CURRENT };

/* As --as has it. False: there is no such name. */
bool caller_of(const char *name, enum caller *caller);

/* NCCL_NET_PLUGIN, of the environment or of the files that this library reads; or NULL. */
const char *caller_plugin(enum caller caller, int api);

/*
 * Opens the plugin as the library does.
 *
 * plugin  NCCL_NET_PLUGIN's value
 * api     NCCL's; RCCL takes the newest one that it finds
 *
 * False: it has said why.
 */
bool caller_open(struct net *net, enum caller caller, const char *plugin, int api);

/* Says which tables for one-sided communication the library finds, once the network is initialised. */
void caller_show_one_sided(const struct net *net, enum caller caller);

#endif
