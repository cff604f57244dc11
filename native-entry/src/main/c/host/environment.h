/*
 * The variables of the environment whose options the JVM takes: TRIGON_JAVA_OPTS from us, the others by itself. They
 * may have been set for other programs, and some options end a program that only hosts a JVM.
 */
#ifndef TRIGON_HOST_ENVIRONMENT_H
#define TRIGON_HOST_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the JVM can be created with what the variables say. False: start_failure() says why not. */
bool is_environment_bearable(void);

/* For a message: the variables that are set, with their values; cut where there is no room. */
void describe_environment(char *text, size_t size);

#endif
