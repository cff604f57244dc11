#include "exit.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

enum { COLLECTING = 1, EXITING = 2 };
enum { LONGEST_WAIT_MS = 2000, LONGEST_EXIT_MS = 5000 };

static atomic_int exit_state;
static atomic_llong exit_began_ms;
static pid_t collecting_process;

static long long exit_clock_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / (1000 * 1000);
}

static void sleep_for_a_moment(void) {
  const struct timespec moment = {.tv_nsec = 100 * 1000};
  (void)nanosleep(&moment, NULL);
}

/*
 * On the JVM's thread that collects; all threads that run Java stand still meanwhile. The process is about to be gone;
 * if it is not, something that exit() calls may wait for one of those threads: then a crash that may be is better than
 * no end.
 */
static void JNICALL before_collection(jvmtiEnv *jvmti) {
  (void)jvmti;
  if ((atomic_fetch_or(&exit_state, COLLECTING) & EXITING) != 0) {
    while (exit_clock_ms() - atomic_load(&exit_began_ms) < LONGEST_EXIT_MS) {
      sleep_for_a_moment();
    }
  }
}

static void JNICALL after_collection(jvmtiEnv *jvmti) {
  (void)jvmti;
  atomic_fetch_and(&exit_state, ~COLLECTING);
}

/*
 * By exit(), on the thread that called it; before libjvm's objects are destroyed, since it was registered after them.
 */
static void keep_from_collecting(void) {
  if (getpid() != collecting_process) { /* a child that was forked has no thread that collects */
    return;
  }
  long long began = exit_clock_ms();
  atomic_store(&exit_began_ms, began);
  bool collecting = (atomic_fetch_or(&exit_state, EXITING) & COLLECTING) != 0;
  while (collecting && exit_clock_ms() - began < LONGEST_WAIT_MS) {
    sleep_for_a_moment();
    collecting = (atomic_load(&exit_state) & COLLECTING) != 0;
  }
}

void guard_exit(JavaVM *vm) {
  jvmtiEnv *jvmti = NULL;
  const jvmtiCapabilities capabilities = {.can_generate_garbage_collection_events = 1};
  const jvmtiEventCallbacks callbacks = {.GarbageCollectionStart = before_collection,
                                         .GarbageCollectionFinish = after_collection};
  collecting_process = getpid();
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
      (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_START, NULL) !=
          JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL) !=
          JVMTI_ERROR_NONE ||
      atexit(keep_from_collecting) != 0) {
    log_text(NCCL_LOG_INFO, "this JVM does not say when it collects garbage: a process that exits meanwhile may crash");
  }
}
