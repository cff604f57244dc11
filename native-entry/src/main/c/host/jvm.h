/*
 * The JVM: created once per process on a thread of its own, or the host program's if it has one. Never destroyed,
 * since a process gets one JVM once.
 */
#ifndef TRIGON_HOST_JVM_H
#define TRIGON_HOST_JVM_H

#include <jni.h>
#include <stdbool.h>

#include "home.h"

/*
 * Loads the installation's libjvm.so, or finds the one whose JVM runs already. Two in one process end it, so another
 * one is refused unless it already runs what Trigon needs. False: start_failure() says why.
 */
bool open_libjvm(const struct home *home, void **libjvm);

/* A JVM that runs in this process already, or NULL. */
JavaVM *running_jvm(void *libjvm);

/* Creates one, whose main thread is the calling one, and guards the host from it. False: start_failure() says why. */
bool create_jvm(void *libjvm, const struct home *home, JavaVM **vm, JNIEnv **env);

#endif
