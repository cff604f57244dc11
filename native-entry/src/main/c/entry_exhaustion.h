/*
 * A JVM that runs out of memory or threads. The OutOfMemoryError comes to whoever asks next, and that may be one of
 * Trigon's own threads: it ends, and those who wait for it wait for ever. So when the JVM says that it is exhausted, every
 * call that could wait becomes an error. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_EXHAUSTION_H
#define TRIGON_ENTRY_EXHAUSTION_H

#include <jvmti.h>
#include <stdatomic.h>

#include "entry_log.h"

static atomic_bool is_exhausted;

/* entry.c's: turns the calls back from now on. */
static void stop_calls(void);

/* On the thread that has asked for too much. Allocates nothing. */
static void JNICALL hear_exhaustion(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved,
                                    const char *description) {
  (void)jvmti;
  (void)env;
  (void)flags;
  (void)reserved;
  if (atomic_exchange(&is_exhausted, true)) {
    return;
  }
  stop_calls();
  log_text(NCCL_LOG_WARN,
           "Java has run out: %s. Calls fail from now on; give it more, for example with TRIGON_JAVA_OPTS=-Xmx512m, or "
           "a higher ulimit -u where it lacks threads",
           description == NULL ? "of memory or threads" : description);
}

/* In a JVM of our own: what the host's JVM runs out of is the host's matter. Costs nothing until it happens. */
static void watch_for_exhaustion(JavaVM *vm) {
  jvmtiEnv *jvmti = NULL;
  const jvmtiCapabilities capabilities = {.can_generate_resource_exhaustion_heap_events = 1,
                                          .can_generate_resource_exhaustion_threads_events = 1};
  const jvmtiEventCallbacks callbacks = {.ResourceExhausted = hear_exhaustion};
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
      (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_RESOURCE_EXHAUSTED, NULL) !=
          JVMTI_ERROR_NONE) {
    log_text(NCCL_LOG_INFO, "this JVM does not say when it runs out of memory: calls may wait for ever after that");
  }
}

#endif
