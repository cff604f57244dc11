/* NCCL's own files, from which it sets variables that a process lacks. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>

/* Where they are. */
struct files {
  const char *name;   /* nccl.conf, or RCCL's */
  bool may_be_named;  /* by NCCL_CONF_FILE */
  bool are_at_home;   /* of HOME; otherwise of the password entry */
};

/* Reads them as NCCL does before it looks for a plugin, and returns NCCL_NET_PLUGIN, or NULL. Before other threads. */
const char *plugin_of_files(struct files files);

#endif
