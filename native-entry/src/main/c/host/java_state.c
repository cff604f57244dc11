#include "java_state.h"

#include "log.h"

_Atomic(enum java_state) java_state = NOT_STARTED;

void set_started(bool started) {
  enum java_state expected = NOT_STARTED;
  (void)atomic_compare_exchange_strong(&java_state, &expected, started ? READY : FAILED);
}

void stop_calls(void) {
  enum java_state expected = READY;
  (void)atomic_compare_exchange_strong(&java_state, &expected, EXHAUSTED);
}

void after_fork_in_child(void) {
  atomic_store(&java_state, FORKED);
}

static int refuse_in_child(const char *call) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&said)) {
    log_text(NCCL_LOG_WARN,
             "%s in a process forked after Trigon started: the JVM does not survive a fork; start the processes"
                     " before NCCL, or with exec (python: multiprocessing's \"spawn\" or \"forkserver\")",
             call);
  }
  return NCCL_SYSTEM_ERROR;
}

int refuse_without_init(const char *call) {
  log_text(NCCL_LOG_WARN, "%s without a successful init", call);
  return NCCL_SYSTEM_ERROR;
}

int refuse(const char *call) {
  switch (atomic_load(&java_state)) {
  case FORKED: return refuse_in_child(call);
  case EXHAUSTED: return NCCL_SYSTEM_ERROR; /* said once, and at every init */
  case READY:
    log_text(NCCL_LOG_WARN,
             "%s on a thread with too little stack: Java needs %zu KiB of it; give the program's threads more, for "
             "example with ulimit -s 8192",
             call, least_stack_bytes() / 1024);
    return NCCL_SYSTEM_ERROR;
  case NOT_STARTED:
  case FAILED: break;
  }
  return refuse_without_init(call);
}
