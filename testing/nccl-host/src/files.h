/* NCCL's own files, from which it sets variables that a process lacks. */
#ifndef FILES_H
#define FILES_H

/*
 * Reads them as NCCL does before it looks for a plugin, and returns NCCL_NET_PLUGIN, or NULL. Home folders are those of
 * the password entry up to net API 11, as in NCCL up to 2.29.7, and HOME from 12 on. Before there are other threads.
 */
const char *plugin_of_files(int api);

#endif
