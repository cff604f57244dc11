/*
 * The start of Java: the JVM, once in a process, and Java's side of each kind of plugin, once each. Whichever of NCCL's
 * plugin tables is initialised first starts the JVM.
 */
#ifndef TRIGON_HOST_START_H
#define TRIGON_HOST_START_H

#include <stdbool.h>

#include "log.h"

/* Java's side of a kind of plugin. One static object for each; what is not named here is this file's. */
struct java_side {
  const char *method; /* of trigon.entry.PluginEntry: int METHOD(long), which makes it and fills C's table of upcalls */
  const void *block;  /* the method's argument, with all that it needs; stays as it is */
  void (*when_bound)(void); /* called when that has succeeded, once, before any init returns */

  bool was_bound;
  int result;
  char failure[LOG_LINE_BYTES];
};

/*
 * To be called by each init of NCCL's: starts Java unless that has been done, then makes the plugin's side unless that
 * has been done. What failed is not tried again: it fails as it did, with the same words in the log.
 *
 * log  NCCL's logger, which lines go to from now on
 *
 * Returns an ncclResult_t. Blocks while another thread is in it, some hundred milliseconds. Any thread.
 */
int bind_java(struct java_side *side, nccl_logger log);

#endif
