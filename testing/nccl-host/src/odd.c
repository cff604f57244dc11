/*
 * Host programs that behave oddly around a network plugin, a case each. Needs no peer: the plugin is connected to
 * itself.
 *
 * odd-host PLUGIN API CASE [ARGUMENT]; ends as the case says, or with 1 after it has said on stderr what was wrong.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failing-verbs.h"
#include "host.h"
#include "loop.h"
#include "threads.h"

enum { TRAFFIC_THREADS = 2, MESSAGES_BEFORE = 500, FAULTS = 50, LEFT = 7, STACK_ROUNDS = 20 };

static struct net net;
static atomic_uint moved;
static atomic_bool stop;

/* ---- traffic that never ends by itself ---- */

static void *move_messages(void *unused) {
  (void)unused;
  struct loop loop;
  bool ok = loop_open(&loop, &net);
  while (ok && !atomic_load(&stop)) {
    ok = loop_move(&loop);
    atomic_fetch_add(&moved, 1);
  }
  return loop_close(&loop) && ok ? &moved : NULL; /* in any case: its memory is this thread's stack */
}

/* Communicators that come and go: the control path is busy as well. */
static void *open_and_close(void *unused) {
  (void)unused;
  bool ok = true;
  while (ok && !atomic_load(&stop)) {
    struct loop loop;
    ok = loop_open(&loop, &net) && loop_move(&loop);
    ok = loop_close(&loop) && ok;
  }
  return ok ? &moved : NULL;
}

struct traffic {
  pthread_t threads[TRAFFIC_THREADS + 1];
  int started;
};

static bool begin_traffic(struct traffic *traffic) {
  for (traffic->started = 0; traffic->started <= TRAFFIC_THREADS; traffic->started++) {
    void *(*run)(void *) = traffic->started < TRAFFIC_THREADS ? move_messages : open_and_close;
    if (pthread_create(&traffic->threads[traffic->started], NULL, run, NULL) != 0) {
      return fail(0, "no thread");
    }
  }
  double deadline = now() + 60;
  unsigned idle = 0;
  while (atomic_load(&moved) < MESSAGES_BEFORE && !is_failing()) {
    if (now() > deadline) {
      return fail(0, "timeout: %u messages", atomic_load(&moved));
    }
    idle_wait(&idle);
  }
  return !is_failing();
}

static bool end_traffic(const struct traffic *traffic) {
  bool ok = true;
  atomic_store(&stop, true);
  for (int i = 0; i < traffic->started; i++) {
    void *result = NULL;
    ok &= pthread_join(traffic->threads[i], &result) == 0 && result != NULL;
  }
  return ok || fail(0, "the traffic ended badly");
}

/* ---- exit: the process ends while other threads are in the plugin; exit status 7, or what the signal gives ---- */

static void *leave_from_thread(void *unused) {
  (void)unused;
  exit(LEFT);
}

static int leave(const char *how) {
  struct traffic traffic;
  if (!begin_traffic(&traffic)) {
    return 1;
  }
  pthread_t thread;
  if (strcmp(how, "exit") == 0) {
    exit(LEFT);
  } else if (strcmp(how, "_exit") == 0) {
    _exit(LEFT);
  } else if (strcmp(how, "quick_exit") == 0) {
    quick_exit(LEFT);
  } else if (strcmp(how, "abort") == 0) {
    abort();
  } else if (strcmp(how, "thread") == 0) {
    (void)pthread_create(&thread, NULL, leave_from_thread, NULL);
    pause();
  }
  return strcmp(how, "return") == 0 ? LEFT : 2;
}

/* ---- fault: the program's own handlers see the program's own faults, and the traffic does not mind ---- */

static sigjmp_buf out_of_fault;
static atomic_int faults_seen;

static void own_handler(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  (void)context;
  atomic_fetch_add(&faults_seen, 1);
  siglongjmp(out_of_fault, 1);
}

static bool install_handler(int signal) {
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
  action.sa_sigaction = own_handler;
  return sigaction(signal, &action, NULL) == 0 || fail(0, "no handler: %s", strerror(errno));
}

static int number_of(const char *name) {
  return strcmp(name, "BUS") == 0   ? SIGBUS
         : strcmp(name, "FPE") == 0 ? SIGFPE
         : strcmp(name, "ILL") == 0 ? SIGILL
                                    : SIGSEGV;
}

static volatile int zero;
static volatile int quotient;

static char *page_behind_a_file(void) {
  FILE *empty = tmpfile();
  return empty == NULL ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0);
}

static void cause(int signal, char *beyond) {
  if (signal == SIGSEGV) {
    quotient = *(volatile int *)(uintptr_t)(8 + zero);
  } else if (signal == SIGBUS) {
    quotient = *(volatile char *)beyond;
  } else if (signal == SIGFPE) {
#ifdef __aarch64__
    (void)raise(SIGFPE); /* there, a division by zero is 0 */
#else
    quotient = 7 / zero;
#endif
  } else {
#ifdef __aarch64__
    __asm__ volatile(".inst 0"); /* udf; what __builtin_trap makes is a breakpoint's SIGTRAP */
#else
    __builtin_trap(); /* ud2 */
#endif
  }
}

static bool have_faults(int signal, char *beyond) {
  volatile int round = 0;
  for (; round < FAULTS; round++) {
    if (sigsetjmp(out_of_fault, 1) == 0) {
      cause(signal, beyond);
    }
    usleep(1000);
  }
  return atomic_load(&faults_seen) == FAULTS || fail(0, "%d faults seen of %d", atomic_load(&faults_seen), FAULTS);
}

/*
 * "before:SEGV": when the handler is installed, in relation to the plugin's start, and for what. After the start, it is
 * so while no code of the JVM runs, and the next init follows: until then it would get the JVM's signals as well.
 */
static int fault(const char *when) {
  int signal = number_of(strchr(when, ':') == NULL ? "" : strchr(when, ':') + 1);
  char *beyond = page_behind_a_file();
  bool before = strncmp(when, "before", 6) == 0;
  struct traffic traffic;
  static struct loop own; /* this thread has been in the plugin too */
  if (beyond == MAP_FAILED || (before && !install_handler(signal)) || !loop_open(&own, &net) || !loop_move(&own) ||
      !loop_close(&own) || (!before && !install_handler(signal)) || !loop_open(&own, &net) ||
      !begin_traffic(&traffic)) {
    return 1;
  }
  bool ok = loop_move(&own) && have_faults(signal, beyond) && loop_move(&own) && loop_close(&own);
  return end_traffic(&traffic) && ok ? 0 : 1;
}

/* ---- stack: all of the plugin's life on threads with that many KiB of stack ---- */

static void *live_once(void *result) {
  static struct loop loop; /* not on the stack, which may be small */
  bool ok = loop_open(&loop, &net);
  for (int round = 0; ok && round < STACK_ROUNDS; round++) {
    ok = loop_move(&loop);
  }
  ok = loop_close(&loop) && ok;
  return ok ? result : NULL;
}

static int stack(const char *kib) {
  pthread_attr_t attributes;
  (void)pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)atoi(kib) * 1024) != 0) {
    return fail(0, "no stack of %s KiB", kib);
  }
  for (int life = 0; life < 2; life++) { /* the first starts the JVM and loads the classes */
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, &attributes, live_once, &net) != 0 || pthread_join(thread, &result) != 0 ||
        result == NULL) {
      return 1;
    }
  }
  return 0;
}

/* ---- live: nothing odd here, but for the environment ---- */

static int live(const char *unused) {
  (void)unused;
  return stack("8192");
}

/* ---- deep: calls with less and less of the stack left; each must return ---- */

/* Leaves `bytes` of this thread's stack and calls. */
__attribute__((noinline)) static bool call_with(size_t bytes, struct loop *loop) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return fail(0, "no attributes");
  }
  (void)pthread_attr_getstack(&attributes, &lowest, &size);
  (void)pthread_attr_destroy(&attributes);
  size_t left = (size_t)((char *)__builtin_frame_address(0) - (char *)lowest);
  volatile char *used = __builtin_alloca(left > bytes ? left - bytes : 1);
  used[0] = 1;
  int count = 0;
  int done = 0;
  int result = net_devices(loop->net, &count);
  int tested = net_test(loop->net, (void *)0x10, &done, NULL);
  fprintf(stderr, "%zu KiB left: devices returned %d, test %d\n", bytes / 1024, result, tested);
  return (result == NCCL_SUCCESS) == (count > 0) && tested != NCCL_SUCCESS && used[0] == 1;
}

static void *call_deeper(void *result) {
  static struct loop loop;
  bool ok = loop_open(&loop, &net) && loop_move(&loop);
  for (size_t kib = 200; ok && kib >= 40; kib -= 4) {
    ok = call_with(kib * 1024, &loop) || fail(0, "with %zu KiB left", kib);
  }
  ok = ok && loop_move(&loop);
  return loop_close(&loop) && ok ? result : NULL;
}

static int deep(const char *unused) {
  (void)unused;
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = NULL;
  (void)pthread_attr_init(&attributes);
  (void)pthread_attr_setstacksize(&attributes, 512 * 1024);
  return pthread_create(&thread, &attributes, call_deeper, &net) == 0 && pthread_join(thread, &result) == 0 &&
                 result != NULL
             ? 0
             : 1;
}

/* ---- hoard: connections until the plugin refuses one, beside traffic; then all ends, in a finite time ---- */

enum { MOST = 3000 };

static int hoard(const char *unused) {
  (void)unused;
  struct loop **loops = calloc(MOST, sizeof *loops);
  int count = 0;
  struct traffic traffic;
  bool refused = !begin_traffic(&traffic);
  while (loops != NULL && count < MOST && !refused) {
    loops[count] = calloc(1, sizeof **loops);
    refused = loops[count] == NULL || !loop_open(loops[count], &net);
    count++;
  }
  fprintf(stderr, "%d connections, then %s\n", count, refused ? "one was refused" : "no wish for more");
  bool closed = true;
  for (int i = 0; i < count; i++) {
    closed &= loop_close(loops[i]);
    free(loops[i]);
  }
  free(loops);
  (void)end_traffic(&traffic); /* which may have got errors, but an end it has */
  return refused && closed ? 0 : 1;
}

/* ---- every: each entry once, whatever it returns; prints the results, for a plugin that is told to fail ---- */

static void print_result(const char *call, int result, bool nothing_there) {
  bool clean = result == NCCL_SUCCESS || nothing_there;
  fprintf(stderr, "%s returned %d%s\n", call, result, clean ? "" : " AND LEFT SOMETHING BEHIND");
}

static int every(const char *unused) {
  (void)unused;
  void *const comm = (void *)0x1010;
  void *const mhandle = (void *)0x2020;
  static char handle[NCCL_NET_HANDLE_BYTES];
  static char memory[64];
  struct net_properties properties;
  void *ctx = NULL;
  void *out = (void *)0x5550;
  void *data = memory;
  void *mhandles = mhandle;
  size_t size = sizeof memory;
  int int_size = sizeof memory;
  int tag = 1;
  int done = -1;
  int count = -1;
  int result = net_init(&net, &ctx, 1);
  print_result("init", result, ctx == NULL);
  result = net_devices(&net, &count);
  print_result("devices", result, count == 0);
  print_result("getProperties", net_get_properties(&net, 0, &properties), true);
  result = net_listen(&net, comm, 0, handle, &out);
  print_result("listen", result, out == NULL);
  out = (void *)0x5550;
  result = net_connect(&net, comm, 0, handle, &out);
  print_result("connect", result, out == NULL);
  out = (void *)0x5550;
  result = net_accept(&net, comm, &out);
  print_result("accept", result, out == NULL);
  out = (void *)0x5550;
  result = net_reg_mr(&net, comm, memory, sizeof memory, NCCL_PTR_HOST, &out);
  print_result("regMr", result, out == NULL);
  out = (void *)0x5550;
  result = net_isend(&net, comm, memory, sizeof memory, tag, mhandle, &out);
  print_result("isend", result, out == NULL);
  out = (void *)0x5550;
  result = net_irecv(&net, comm, 1, &data, &size, &tag, &mhandles, &out);
  print_result("irecv", result, out == NULL);
  out = (void *)0x5550;
  result = net_iflush(&net, comm, 1, &data, &int_size, &mhandles, &out);
  print_result("iflush", result, out == NULL);
  result = net_test(&net, comm, &done, NULL);
  print_result("test", result, done == 0);
  print_result("deregMr", net_dereg_mr(&net, comm, mhandle), true);
  print_result("closeSend", net_close_send(&net, comm), true);
  print_result("closeRecv", net_close_recv(&net, comm), true);
  print_result("closeListen", net_close_listen(&net, comm), true);
  print_result("finalize", net_finalize(&net, comm), true);
  return 0;
}

/* ---- verbs: the device fails under a connection ---- */

static int verbs(const char *how) {
  return fail_under_connection(&net, how);
}

/* ---- threads: how many the plugin adds ---- */

static int threads(const char *enough) {
  return print_threads(&net, enough);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(const char *argument);
  } cases[] = {{"live", live},   {"exit", leave},  {"fault", fault}, {"stack", stack},    {"deep", deep},
               {"hoard", hoard}, {"every", every}, {"verbs", verbs}, {"threads", threads}};
  if (argc < 4 || !net_open(&net, argv[1], atoi(argv[2]))) {
    fprintf(stderr, "usage: odd-host PLUGIN API live|exit|fault|stack|deep|hoard|every|verbs|threads [ARGUMENT]\n");
    return 2;
  }
  thread_rank = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(argv[3], cases[i].name) == 0) {
      return cases[i].run(argc > 4 ? argv[4] : "");
    }
  }
  fprintf(stderr, "no case %s\n", argv[3]);
  return 2;
}
