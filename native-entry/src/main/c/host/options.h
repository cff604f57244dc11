/* The options of the JVM. */
#ifndef TRIGON_HOST_OPTIONS_H
#define TRIGON_HOST_OPTIONS_H

#include <jni.h>
#include <stdbool.h>

#include "home.h"

enum { MAX_JVM_OPTIONS = 128 };

struct jvm_options {
  JavaVMOption list[MAX_JVM_OPTIONS];
  int count;
  bool complete; /* false: one did not fit, or there was no memory for it */
};

/* Ours, and those of OWN_OPTIONS behind them, which win. The strings live as long as the process. */
void collect_options(struct jvm_options *options, const struct home *home);

/* One more; `extra` is JavaVMOption's extraInfo. */
void add_option(struct jvm_options *options, char *text, void *extra);

#endif
