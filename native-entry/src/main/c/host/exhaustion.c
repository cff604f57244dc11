#include "exhaustion.h"

#include <jvmti.h>
#include <stdatomic.h>

#include "java_state.h"
#include "log.h"

static atomic_bool exhausted;

bool is_exhausted(void) {
  return atomic_load(&exhausted);
}

/* On the thread that has asked for too much. Allocates nothing. */
static void JNICALL hear_exhaustion(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved,
                                    const char *description) {
  (void)jvmti;
  (void)env;
  (void)flags;
  (void)reserved;
  if (atomic_exchange(&exhausted, true)) {
    return;
  }
  stop_calls();
  log_text(NCCL_LOG_WARN,
           "Java has run out: %s. Calls fail from now on; give it more, for example with TRIGON_JAVA_OPTS=-Xmx512m, or "
           "a higher ulimit -u where it lacks threads",
           description == NULL ? "of memory or threads" : description);
}

void watch_for_exhaustion(JavaVM *vm) {
  jvmtiEnv *jvmti = NULL;
  const jvmtiCapabilities capabilities = {.can_generate_resource_exhaustion_heap_events = 1,
                                          .can_generate_resource_exhaustion_threads_events = 1};
  const jvmtiEventCallbacks callbacks = {.ResourceExhausted = hear_exhaustion};
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
      (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_RESOURCE_EXHAUSTED, NULL) !=
          JVMTI_ERROR_NONE) {
    log_text(NCCL_LOG_INFO, "this JVM does not say when it runs out of memory: calls may hang after that");
  }
}
