#include "start.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "exhaustion.h"
#include "facts.h"
#include "failure.h"
#include "java_state.h"
#include "signals.h"
#include "start_lock.h"

/* The maker of the GPUs, by the library that calls, as PCI numbers it. */
enum { VENDOR_NVIDIA = 0x10de, VENDOR_AMD = 0x1002 };

/* What every kind of plugin depends on; trigon.entry.host.HostBlock has Java's numbers. */
static const struct fact host_facts[] = {
    {"pointer", sizeof(void *)},
    {"log.warn", NCCL_LOG_WARN},
    {"log.info", NCCL_LOG_INFO},
    {"log.trace", NCCL_LOG_TRACE},
    {"log.init", NCCL_LOG_INIT},
    {"log.net", NCCL_LOG_NET},
    {"log.all", (int64_t)NCCL_LOG_ALL},
    {"vendor.nvidia", VENDOR_NVIDIA},
    {"vendor.amd", VENDOR_AMD},
    {"result.success", NCCL_SUCCESS},
    {"result.unhandled_cuda_error", NCCL_UNHANDLED_CUDA_ERROR},
    {"result.system_error", NCCL_SYSTEM_ERROR},
    {"result.internal_error", NCCL_INTERNAL_ERROR},
    {"result.invalid_argument", NCCL_INVALID_ARGUMENT},
    {"result.invalid_usage", NCCL_INVALID_USAGE},
    {"result.remote_error", NCCL_REMOTE_ERROR},
    {"result.in_progress", NCCL_IN_PROGRESS},
};

/* What Java is given at the start; trigon.entry.host.HostBlock reads it. */
static struct {
  struct facts facts;
  int32_t (*log_line)(int32_t level, int64_t subsystems, const char *text);
  int64_t page_bytes; /* this, and what follows, is known when the start begins */
  int64_t vendor;
} host_block = {FACTS(host_facts), log_line, 0, VENDOR_NVIDIA};

/* Everything below it, but for pthread_once's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool was_started;
static bool is_started;

static void start_java(void) {
  was_started = true;
  host_block.page_bytes = sysconf(_SC_PAGESIZE);
  host_block.vendor = is_log_of_rccl() ? VENDOR_AMD : VENDOR_NVIDIA;
  int other_copies = lock_start();
  is_started = boot_java(&host_block);
  unlock_start(other_copies);
}

static void bind_side(struct java_side *side) {
  int result = NCCL_SYSTEM_ERROR;
  side->result = NCCL_SYSTEM_ERROR;
  if (call_entry(side->method, side->block, &result)) {
    side->result = result;
    if (result != NCCL_SUCCESS) { /* Java has said why */
      (void)start_fails("the start in Java failed, see the log above");
      return;
    }
    side->when_bound();
  }
}

static void *bind_on_own_thread(void *of_java) {
  struct java_side *side = of_java;
  block_signals_of_host();
  if (!was_started) {
    start_java();
  }
  if (is_started) {
    bind_side(side);
  }
  leave_java();
  return NULL;
}

static void watch_forks(void) {
  (void)pthread_atfork(NULL, NULL, after_fork_in_child);
}

/* On a helper thread, so that no thread of NCCL's becomes the JVM's main thread, and all have enough stack. */
static void bind_once(struct java_side *side) {
  enum { STACK_BYTES = 4 * 1024 * 1024 };
  pthread_t thread;
  pthread_attr_t attributes;
  side->was_bound = true;
  side->result = NCCL_SYSTEM_ERROR;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  int error = pthread_create(&thread, &attributes, bind_on_own_thread, side);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    (void)start_fails("cannot create a thread for the JVM: %s", strerror(error));
  } else {
    (void)pthread_join(thread, NULL);
  }
  if (side->result != NCCL_SUCCESS) {
    (void)snprintf(side->failure, sizeof side->failure, "%s", start_failure());
  }
}

int bind_java(struct java_side *side, nccl_logger log) {
  static pthread_once_t watching = PTHREAD_ONCE_INIT;
  set_nccl_log(log);
  if (atomic_load(&java_state) == FORKED) { /* a thread may have held the lock when this child was forked */
    return refuse("init");
  }
  (void)pthread_once(&watching, watch_forks);
  pthread_mutex_lock(&lock);
  if (!side->was_bound) {
    bind_once(side);
    if (was_started) {
      set_started(is_started);
    }
    if (is_exhausted()) {
      stop_calls();
    }
  }
  int result = side->result;
  pthread_mutex_unlock(&lock);
  if (result != NCCL_SUCCESS) {
    log_text(NCCL_LOG_WARN, "%s", side->failure);
    return result;
  }
  if (atomic_load(&java_state) == EXHAUSTED) {
    log_text(NCCL_LOG_WARN, "init after Java has run out of memory or threads: restart the process with more of it");
  }
  guard_signals();
  return NCCL_SUCCESS;
}
