/*
 * The variables of the environment that have options for JVMs. Those of the JVM's own are set for other Java programs,
 * often by a platform for every process: an agent that is not there would keep this JVM from starting.
 */
#ifndef TRIGON_HOST_ENVIRONMENT_H
#define TRIGON_HOST_ENVIRONMENT_H

#include <stdbool.h>

/* Whose options the JVM gets. */
#define OWN_OPTIONS "TRIGON_JAVA_OPTS"

/* Whether the JVM can be created with what OWN_OPTIONS says. False: start_failure() says why not. */
bool are_own_options_bearable(void);

/*
 * Keeps the variables for other Java programs from libjvm, a handle of dlopen, and says so in the log where one is set.
 * The environment itself stays as it is. False: start_failure() says why that is not possible.
 */
bool hide_options_of_others(void *libjvm);

#endif
