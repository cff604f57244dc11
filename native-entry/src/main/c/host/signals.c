#include "signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crash.h"
#include "log.h"
#include "pipes.h"

/* libjvm's: handles the signal if it is the JVM's, and returns whether it was. */
typedef int (*jvm_signal_handler)(int signal, siginfo_t *info, void *context, int abort_if_unrecognized);

static const int guarded_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define GUARDED_SIGNALS (sizeof guarded_signals / sizeof guarded_signals[0])

static jvm_signal_handler ask_jvm;

/*
 * With libjsig.so in LD_PRELOAD the C library's, since libjsig's would take the guard for one of the host's handlers:
 * those it keeps for the JVM to hand on to, and never installs.
 */
static int (*set_action)(int signal, const struct sigaction *action, struct sigaction *before) = sigaction;

static bool find_set_action(void) {
  if (dlsym(RTLD_DEFAULT, "JVM_get_signal_action") == NULL) {
    return true;
  }
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  void *found = libc == NULL ? NULL : dlsym(libc, "sigaction");
  if (found != NULL) {
    memcpy(&set_action, &found, sizeof found);
  }
  return found != NULL;
}

static struct sigaction of_jvm[GUARDED_SIGNALS];

/*
 * What the guard hands on to. Two places for each signal: a thread may be in the guard, with the one that is latest,
 * while the next is written to the other.
 */
static struct {
  struct sigaction kept[2];
  atomic_uint latest;
} of_host[GUARDED_SIGNALS];

static const struct sigaction *host_action(size_t index) {
  return &of_host[index].kept[atomic_load_explicit(&of_host[index].latest, memory_order_acquire)];
}

/* One thread at a time. */
static void keep_host_action(size_t index, const struct sigaction *action) {
  const unsigned other = 1 - atomic_load_explicit(&of_host[index].latest, memory_order_relaxed);
  of_host[index].kept[other] = *action;
  atomic_store_explicit(&of_host[index].latest, other, memory_order_release);
}

static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t guard_index(int signal) {
  size_t i = 0;
  while (i < GUARDED_SIGNALS - 1 && guarded_signals[i] != signal) {
    i++;
  }
  return i;
}

/* The program's handlers of one crash that this thread is in, each inside the one before, and where the last began. */
enum { MAX_NESTED_HANDLERS = 3 };
static __thread int nested __attribute__((tls_model("initial-exec")));
static __thread char *innermost __attribute__((tls_model("initial-exec")));

/* Nobody handles it: the process ends by the signal, or the JVM reports what happened in its own code and aborts. */
static void end_by(int signal, siginfo_t *info, void *context) {
  bool sent = info->si_code <= 0; /* by kill or raise; otherwise the faulting instruction runs again */
  if (!sent && is_crash_in_jvm(context)) {
    (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* where the JVM reports to, besides its file */
    (void)ask_jvm(signal, info, context, 1);
  }
  struct sigaction standard = {.sa_handler = SIG_DFL};
  (void)set_action(signal, &standard, NULL);
  if (sent) {
    (void)raise(signal); /* comes when this handler returns */
  }
}

static void guard(int signal, siginfo_t *info, void *context) {
  if (ask_jvm(signal, info, context, 0)) {
    return;
  }
  const struct sigaction *host = host_action(guard_index(signal));
  char *here = __builtin_frame_address(0);
  int nested_before = here < innermost ? nested : 0; /* a handler may have been left by a jump */
  char *innermost_before = innermost;
  /* a handler that was installed over the guard hands on to it, and would be called again and again */
  bool circles = nested_before == MAX_NESTED_HANDLERS;
  nested = nested_before + 1;
  innermost = here;
  if (circles || (!(host->sa_flags & SA_SIGINFO) && (host->sa_handler == SIG_DFL || host->sa_handler == SIG_IGN))) {
    end_by(signal, info, context);
  } else if (host->sa_flags & SA_SIGINFO) {
    host->sa_sigaction(signal, info, context);
  } else {
    host->sa_handler(signal);
  }
  nested = nested_before;
  innermost = innermost_before;
}

static bool is_handler(const struct sigaction *action, void (*handler)(int, siginfo_t *, void *)) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handler;
}

void guard_signals(void) {
  if (ask_jvm == NULL) {
    return;
  }
  pthread_mutex_lock(&guard_lock);
  for (size_t i = 0; i < GUARDED_SIGNALS; i++) {
    struct sigaction now;
    if (set_action(guarded_signals[i], NULL, &now) != 0 || is_handler(&now, guard)) {
      continue;
    }
    if (!is_handler(&now, of_jvm[i].sa_sigaction)) { /* else: the default, or what the JVM itself hands on to */
      keep_host_action(i, &now);
    }
    struct sigaction ours = of_jvm[i]; /* its mask, and its flags: SA_ONSTACK, SA_SIGINFO */
    ours.sa_sigaction = guard;
    (void)set_action(guarded_signals[i], &ours, NULL);
  }
  pthread_mutex_unlock(&guard_lock);
}

void block_signals_of_host(void) {
  sigset_t blocked;
  sigfillset(&blocked);
  static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++) {
    sigdelset(&blocked, synchronous[i]);
  }
  (void)pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/*
 * The kernel tells nobody of a new handler, so it is looked for: so long it is alone. Four system calls each time. In
 * C, so that it goes on when Java has run out of memory.
 */
enum { LOOK_EVERY_MS = 50, LOOKING_STACK_BYTES = 256 * 1024 };

static void *look_again_and_again(void *unused) {
  (void)unused;
  const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
  while (true) {
    (void)nanosleep(&pause, NULL);
    guard_signals();
  }
  return NULL;
}

/* A thread that handles no signal, and that keeps the process from nothing. */
static bool start_looking(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, LOOKING_STACK_BYTES);
  bool started = pthread_create(&thread, &attributes, look_again_and_again, NULL) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) {
    (void)pthread_setname_np(thread, "trigon-signals");
  }
  return started;
}

/* Signals that HotSpot takes though it can do without: SIGUSR2 for profiling alone, SIGPIPE see pipes.h. */
static struct sigaction host_usr2;
static struct sigaction host_pipe;

void keep_signals_of_host(void) {
  (void)sigaction(SIGUSR2, NULL, &host_usr2);
  (void)sigaction(SIGPIPE, NULL, &host_pipe);
}

static bool is_default(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

void give_signals_back(const char *libjvm) {
  if (!is_default(&host_usr2) && getenv("_JAVA_SR_SIGNUM") == NULL) {
    (void)sigaction(SIGUSR2, &host_usr2, NULL);
  }
  if (find_set_action() && (libjvm == NULL || write_without_sigpipe(libjvm))) {
    (void)set_action(SIGPIPE, &host_pipe, NULL);
  } else {
    log_text(NCCL_LOG_INFO, "the JVM handles SIGPIPE in this program: what Java writes cannot be kept from raising it");
  }
}

void begin_to_guard(void *libjvm) {
  jvm_signal_handler jvm = (jvm_signal_handler)dlsym(libjvm, "JVM_handle_linux_signal");
  if (jvm == NULL || !find_set_action()) {
    log_text(NCCL_LOG_INFO, "no JVM_handle_linux_signal in this JVM, or no sigaction behind libjsig.so: signal "
                            "handlers that the program installs from now on (python's faulthandler) disturb it");
    return;
  }
  for (size_t i = 0; i < GUARDED_SIGNALS; i++) {
    (void)set_action(guarded_signals[i], NULL, &of_jvm[i]);
  }
  ask_jvm = jvm;
  guard_signals();
  if (!start_looking()) {
    log_text(NCCL_LOG_INFO, "no thread to look for signal handlers: those that the program installs from now on "
                            "(python's faulthandler) disturb the JVM until the next init or listen");
  }
}
