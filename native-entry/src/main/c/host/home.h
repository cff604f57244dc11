/*
 * Where the installation lies: <home>/lib/libnccl-net-trigon.so (this library), <home>/jars/, and
 * <home>/runtime/lib/server/libjvm.so.
 */
#ifndef TRIGON_HOST_HOME_H
#define TRIGON_HOST_HOME_H

#include <limits.h>
#include <stdbool.h>

#include "jars.h"

#define JAVA_FEATURE_RELEASE "25"

struct home {
  char directory[PATH_MAX];
  char jars[PATH_MAX];
  char libjvm[PATH_MAX];
  bool own_runtime; /* libjvm is the installation's, not JAVA_HOME's */
  struct jar_list list;
};

/* Fills `home`, which is all zero. False: start_failure() says what is missing. */
bool find_home(struct home *home);

#endif
