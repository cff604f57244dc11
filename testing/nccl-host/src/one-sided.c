/*
 * Plays NCCL's part with the tables for one-sided communication: each rank is a process, and makes the calls of the GIN
 * of NCCL 2.28.9 (--order gin) or of the GIN and host API of 2.30.7 (--order rma), in their order. Exits with 0 only if
 * all was right. RMA's table is of the version --rma, 14 to 17 (default 14): 2.31 and 2.32 have newer ones. Half of the
 * comms of --order gin have contexts, as in 2.30.4.
 *
 *   one-sided-host --plugin PATH --order gin|rma [--rma N] [--ranks N]
 *                  [--test all|signals|rounds|times|calls|leave|death] [--count N] [--cuts N] [--moves N]
 *                  [--seed N] [--nodes A,B,...] [--gpu] [--absent|--refused|--threads]
 *
 * The test "rounds" lasts for --count rounds and --cuts TCP connections, or all of a process, that are shut down, and
 * until connections have gone on over another path --moves times, which the log tells with NCCL_DEBUG=INFO;
 * "times" for --count rounds of each size, 1000 at most of long ones. "calls" is for --threads: one thread makes the
 * calls of both ends. Each rank is on its own of the --nodes.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "net.h"
#include "one-sided.h"

enum { OLDEST_RMA = 14, NEWEST_RMA = 17 };

/* False once a rank has failed, or not all come. */
bool one_sided_barrier(struct rank *r) {
  _Atomic int *arrived = &r->shared->arrived[r->barrier++];
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  atomic_fetch_add(arrived, 1);
  while (atomic_load(arrived) < r->ranks) {
    if (atomic_load(&r->shared->failures) > 0 || now() > deadline) {
      return fail(r->number, "another rank has failed, or does not come");
    }
    idle_wait(&idle);
  }
  return true;
}

bool one_sided_check(const struct rank *r, const char *call, int result) {
  return result == NCCL_SUCCESS || fail(r->number, "%s returned %d (%s)", call, result, result_name(result));
}

/* The older ones lack getRmaProperties, which is before all that follows. */
static void copy_table(struct rank *r) {
  const size_t missing = offsetof(struct nccl_rma_v17, getRmaProperties);
  const size_t lacks = r->rma_api < 16 ? sizeof r->rma.getRmaProperties : 0;
  const char *from = (const char *)r->rma_table + missing;
  memcpy(&r->rma, r->rma_table, missing);
  memcpy((char *)&r->rma + missing + lacks, from, sizeof r->rma - missing - lacks);
}

static bool find_tables(struct rank *r, bool are_there) {
  r->gin = dlsym(r->net.library, "ncclGinPlugin_v11");
  int found = r->gin == NULL ? 0 : 1;
  for (int api = OLDEST_RMA; api <= NEWEST_RMA; api++) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclRmaPlugin_v%d", api);
    const void *table = dlsym(r->net.library, symbol);
    found += table == NULL ? 0 : 1;
    r->rma_table = api == r->rma_api ? table : r->rma_table;
  }
  if (r->rma_table != NULL) {
    copy_table(r);
  }
  const int all = 1 + NEWEST_RMA - OLDEST_RMA + 1;
  return found == (are_there ? all : 0) || fail(r->number, "%d tables of %d are there", found, all);
}

/* ---- connections ---- */

int one_sided_create_context(const struct rank *r, void *comm, struct nccl_rma_config_v17 *config, void **ctx) {
  struct nccl_rma_config_v14 config_v14 = {0};
  if (r->rma_api == 17) {
    return r->rma_v17->createContext(comm, config, ctx);
  }
  if (config != NULL) {
    config_v14 = (struct nccl_rma_config_v14){.nContexts = config->nContexts, .trafficClass = config->trafficClass};
  }
  struct nccl_rma_config_v14 *given = config == NULL ? NULL : &config_v14;
  return r->rma_api == 16 ? r->rma_v16->createContext(comm, given, ctx)
                          : r->rma_v14->createContext(comm, given, ctx); /* the same in v15 */
}

/* Peers of a context: none are named; all; one, which is not all that is put to; and what nobody should name. */
static void name_peers(const struct rank *r, int comm, int peers[MOST_RANKS], struct nccl_rma_config_v17 *config) {
  for (int i = 0; i < r->ranks; i++) {
    peers[i] = i;
  }
  config->peerArray = comm == 0 ? NULL : comm == COMMS - 1 ? (int *)8 : peers;
  config->peerArrayCount = comm == 0 ? 0 : comm == 1 ? r->ranks : comm == 2 ? 1 : INT_MIN;
}

/* v17's with one argument more, as some of NCCL's commits have it. */
typedef int (*connect_with_flag)(void *ctx, void *handles[], int ranks, int rank, void *listen_comm, void **comm,
                                 volatile uint32_t *abort_flag);

static int connect_rma(const struct rank *r, void *ctx, void *handles[], void *listener, int comm, void **out) {
  static volatile uint32_t abort_flag;
  if (r->rma_api == 17 && comm % 2 == 1) {
    connect_with_flag connect = (connect_with_flag)(void (*)(void))r->rma.connect;
    return connect(ctx, handles, r->ranks, r->number, listener, out, &abort_flag);
  }
  return r->rma.connect(ctx, handles, r->ranks, r->number, listener, out);
}

static bool create_rma_context(struct rank *r, int comm) {
  int peers[MOST_RANKS];
  struct nccl_rma_properties_v16 properties = {true};
  struct nccl_rma_config_v17 config = {.nContexts = CONTEXTS, .trafficClass = -1};
  name_peers(r, comm, peers, &config);
  if (r->rma_api >= 16 &&
      (!one_sided_check(r, "getRmaProperties", r->rma.getRmaProperties(r->comms[comm], &properties)) ||
       properties.flushesAllPutsOnAnySignal)) {
    return fail(r->number, "a signal does not say that all puts are there");
  }
  return one_sided_check(r, "createContext",
                         one_sided_create_context(r, r->comms[comm], &config, &r->contexts[comm]));
}

static bool connect_comm(struct rank *r, int comm, void *listen_ctx, void *connect_ctx) {
  void *handles[MOST_RANKS];
  void *listener = NULL;
  void *gin_handle = NULL;
  char *own = r->shared->handles[comm][r->number];
  for (int i = 0; i < r->ranks; i++) {
    handles[i] = r->shared->handles[comm][i];
  }
  if (!OK(r, listen, listen_ctx, 0, own, &listener) || !one_sided_barrier(r) ||
      !one_sided_check(r, "connect",
                       r->is_gin ? r->gin->connect(connect_ctx, handles, r->ranks, r->number, listener, &r->comms[comm])
                                 : connect_rma(r, connect_ctx, handles, listener, comm, &r->comms[comm]))) {
    return false;
  }
  int type = r->apart == 0 ? NCCL_PTR_HOST : NCCL_PTR_CUDA;
  void *window = (void *)((uintptr_t)r->window + r->apart);
  r->signals[comm] = aligned_alloc(4096, 512 << 10);
  memset((void *)r->signals[comm], 0, 512 << 10);
  void *signals = (void *)((uintptr_t)r->signals[comm] + r->apart);
  if (r->is_gin) {
    r->contexts[comm] = r->comms[comm];
    return (comm % 2 == 0 ||
            one_sided_check(r, "createContext",
                            r->gin->createContext(r->comms[comm], 1, 1, &r->contexts[comm], NULL))) &&
           one_sided_check(r, "regMrSym",
                           r->gin->regMrSym(r->comms[comm], signals, 512 << 10, type,
                                                 NCCL_ONE_SIDED_FLAG_STRICT, &r->signal_handles[comm], &gin_handle)) &&
           OK(r, closeListen, listener) &&
           one_sided_check(r, "regMrSym", r->gin->regMrSym(r->comms[comm], window, WINDOW_BYTES, type, 0,
                                                 &r->window_handles[comm], &gin_handle));
  }
  return OK(r, closeListen, listener) &&
         create_rma_context(r, comm) &&
         one_sided_check(r, "regMrSym", r->rma.regMrSym(r->comms[comm], signals, 4096, type,
                                               NCCL_ONE_SIDED_FLAG_STRICT | NCCL_ONE_SIDED_FLAG_NEVER_RESET,
                                               &r->signal_handles[comm])) &&
         one_sided_check(r, "regMrSym", r->rma.regMrSym(r->comms[comm], window, WINDOW_BYTES, type, 0,
                                               &r->window_handles[comm]));
}

/* A context on this thread, which the proxy's has not. */
static bool use_gpu(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  int (*set_current)(uint64_t) = NULL;
  if (cuda != NULL) {
    *(void **)&set_current = dlsym(cuda, "cuCtxSetCurrent");
  }
  return set_current != NULL && set_current(1) == 0;
}

static bool begin(struct rank *r) {
  int devices = 0;
  struct nccl_net_properties_v11 v11;
  struct nccl_net_properties_v12 v12;
  void *other_ctx = NULL;
  if (r->apart != 0 && !use_gpu()) {
    return fail(r->number, "there is no libcuda.so.1: %s", dlerror());
  }
  r->window = aligned_alloc(4096, WINDOW_BYTES);
  if (!one_sided_check(r, "net init", net_begin(&r->net, &r->net_ctx, 0x77, &devices)) || !find_tables(r, true)) {
    return false;
  }
  if (!OK(r, init, &r->ctx, 0x77, log_to_stderr) || !OK(r, devices, &devices) ||
      !OK(r, init, &other_ctx, 0x77, log_to_stderr) || !OK(r, devices, &devices)) {
    return false;
  }
  int result = r->is_gin ? r->gin->getProperties(0, &v11) : r->rma.getProperties(0, &v12);
  int type = r->is_gin ? v11.netDeviceType : v12.netDeviceType;
  bool is_proxy = type == NCCL_NET_DEVICE_GIN_PROXY || fail(r->number, "type %d", type);
  if (!one_sided_check(r, "getProperties", result) || !is_proxy) {
    return false;
  }
  /* 2.28.9: later communicators pass no context; 2.30.7: the host API connects with the net plugin's */
  for (int i = 0; i < COMMS; i++) {
    void *listen_ctx = i == 0 ? other_ctx : i == 1 && r->is_gin ? NULL : r->ctx;
    if (!connect_comm(r, i, listen_ctx, r->is_gin ? r->ctx : i == 3 ? r->net_ctx : r->ctx)) {
      return false;
    }
  }
  return OK(r, finalize, other_ctx) && one_sided_barrier(r);
}

static bool end(struct rank *r) {
  bool ok = all_progress_until(r);
  for (int i = 0; i < COMMS; i++) {
    if (!r->is_gin || i % 2 == 1) {
      ok &= OK(r, destroyContext, r->contexts[i]);
    }
    ok &= OK(r, deregMrSym, r->comms[i], r->window_handles[i]) && OK(r, deregMrSym, r->comms[i], r->signal_handles[i]);
    ok &= OK(r, closeColl, r->comms[i]);
    free((void *)r->signals[i]);
  }
  ok &= OK(r, finalize, r->ctx) && one_sided_check(r, "net finalize", net_finalize(&r->net, r->net_ctx));
  free(r->window);
  return ok;
}

struct work {
  struct rank *rank;
  const char *test;
  bool ok;
};

/* As NCCL's proxy: data is moved by a thread of its own. */
static void *run_tests(void *argument) {
  struct work *w = argument;
  struct rank *r = w->rank;
  thread_rank = r->number;
  w->ok = one_sided_test(r, w->test);
  return NULL;
}

/* As NCCL that looks for the tables before Java has read the file. */
static bool is_refused(struct rank *r) {
  return find_tables(r, true) &&
         ((r->is_gin ? r->gin->init(&r->ctx, 0x77, log_to_stderr) : r->rma.init(&r->ctx, 0x77, log_to_stderr)) ==
              NCCL_INVALID_USAGE ||
          fail(r->number, "init took what nobody has asked for"));
}

static bool run_rank(struct rank *r, const char *plugin, const char *test, bool absent) {
  thread_rank = r->number;
  if (!net_open(&r->net, plugin, r->is_gin ? 11 : 12)) {
    return false;
  }
  if (strcmp(test, "refused") == 0) {
    return is_refused(r);
  }
  if (absent) {
    int devices = 0;
    return one_sided_check(r, "net init", net_begin(&r->net, &r->net_ctx, 0x77, &devices)) && find_tables(r, false) &&
           one_sided_check(r, "net finalize", net_finalize(&r->net, r->net_ctx));
  }
  pthread_t thread;
  struct work work = {.rank = r, .test = test};
  if (!begin(r)) {
    return false;
  }
  if (pthread_create(&thread, NULL, run_tests, &work) != 0) {
    return fail(r->number, "no thread");
  }
  pthread_join(thread, NULL);
  return work.ok && (strcmp(test, "death") == 0 || end(r));
}

struct thread {
  struct rank rank;
  const char *plugin;
  const char *test;
  bool ok;
};

static void *run_thread(void *argument) {
  struct thread *t = argument;
  t->ok = run_rank(&t->rank, t->plugin, t->test, false);
  return NULL;
}

/* All ranks in this process: some devices reach no further. */
static int run_threads(const struct rank *r, const char *plugin, const char *test) {
  static struct thread threads[MOST_RANKS];
  pthread_t ids[MOST_RANKS];
  for (int i = 0; i < r->ranks; i++) {
    threads[i] = (struct thread){.rank = *r, .plugin = plugin, .test = test};
    threads[i].rank.number = i;
    if (pthread_create(&ids[i], NULL, run_thread, &threads[i]) != 0) {
      return 1;
    }
  }
  int failures = 0;
  for (int i = 0; i < r->ranks; i++) {
    pthread_join(ids[i], NULL);
    failures += threads[i].ok ? 0 : 1;
  }
  return failures;
}

static struct shared *shared;

static void count_moves(const char *text) {
  if (strstr(text, " goes on over ") != NULL) {
    atomic_fetch_add(&shared->moves, 1);
  }
}

static int option(int argc, char **argv, const char *name, int otherwise) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) {
      return i + 1 < argc ? i + 1 : otherwise;
    }
  }
  return otherwise;
}

static bool has(int argc, char **argv, const char *name) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) {
      return true;
    }
  }
  return false;
}

/* The rank's own of the nodes with commas between them. */
static bool name_node(const char *nodes, int rank) {
  for (int i = 0; i < rank && nodes != NULL; i++) {
    nodes = strchr(nodes, ',');
    nodes = nodes == NULL ? NULL : nodes + 1;
  }
  if (nodes == NULL) {
    return fail(rank, "--nodes names no node for it");
  }
  char name[64] = "";
  return (sscanf(nodes, "%63[^,]", name) == 1 && setenv("TRIGON_NODE", name, 1) == 0) ||
         fail(rank, "it cannot be on the node of --nodes");
}

int main(int argc, char **argv) {
  int plugin = option(argc, argv, "--plugin", 0);
  int order = option(argc, argv, "--order", 0);
  int rma = option(argc, argv, "--rma", 0);
  int ranks = option(argc, argv, "--ranks", 0);
  int count = option(argc, argv, "--count", 0);
  int test = option(argc, argv, "--test", 0);
  int cuts = option(argc, argv, "--cuts", 0);
  int moves = option(argc, argv, "--moves", 0);
  int seed = option(argc, argv, "--seed", 0);
  int nodes = option(argc, argv, "--nodes", 0);
  bool absent = has(argc, argv, "--absent");
  bool threads = has(argc, argv, "--threads");
  struct rank r = {.ranks = ranks == 0 ? 2 : atoi(argv[ranks]), .count = count == 0 ? 2000 : atol(argv[count])};
  r.rma_api = rma == 0 ? OLDEST_RMA : atoi(argv[rma]);
  r.times = count == 0 ? 20000 : r.count;
  r.cuts = cuts == 0 ? 0 : atoi(argv[cuts]);
  r.moves = moves == 0 ? 0 : atoi(argv[moves]);
  r.cutters = threads ? 1 : r.ranks;
  r.seed = seed == 0 ? 1 : (unsigned)strtoul(argv[seed], NULL, 10);
  const char *name = has(argc, argv, "--refused") ? "refused" : test == 0 ? "all" : argv[test];
  bool fits = !threads ? strcmp(name, "calls") != 0 : nodes == 0;
  if (plugin == 0 || order == 0 || !fits || r.ranks < 1 || r.ranks > MOST_RANKS ||
      r.rma_api < OLDEST_RMA || r.rma_api > NEWEST_RMA) {
    fprintf(stderr, "usage: one-sided-host --plugin PATH --order gin|rma [--rma 14..17] [--ranks 1..8]"
                    " [--test all|signals|rounds|times|calls|leave|death] [--count N] [--cuts N] [--moves N] [--seed N]"
                    " [--nodes A,B,...] [--gpu] [--absent|--refused|--threads]\n");
    return 2;
  }
  r.yields = strcmp(name, "times") != 0 && strcmp(name, "calls") != 0 && strcmp(name, "signals") != 0;
  r.apart = has(argc, argv, "--gpu") ? (uintptr_t)1 << 56 : 0;
  r.is_gin = strcmp(argv[order], "gin") == 0;
  r.shared = mmap(NULL, sizeof *r.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (r.shared == MAP_FAILED) {
    return 2;
  }
  shared = r.shared;
  log_listener = count_moves;
  if (threads) {
    int failed = run_threads(&r, argv[plugin], name);
    fprintf(stderr, "%s: %d ranks, %s, %d failed\n", name, r.ranks, r.is_gin ? "gin" : "rma", failed);
    fflush(stdout);
    return failed == 0 && !is_failing() ? 0 : 1;
  }
  pid_t children[MOST_RANKS];
  for (int i = 0; i < r.ranks; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      r.number = i;
      bool ok = (nodes == 0 || name_node(argv[nodes], i)) && run_rank(&r, argv[plugin], name, absent) && !is_failing();
      fflush(stdout);
      atomic_fetch_add(&r.shared->failures, ok ? 0 : 1);
      exit(ok ? 0 : 1);
    }
  }
  int failures = 0;
  for (int i = 0; i < r.ranks; i++) {
    int status = 0;
    waitpid(children[i], &status, 0);
    bool dies = strcmp(name, "death") == 0 && i == r.ranks - 1 && !absent;
    bool right = dies ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                      : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    failures += right ? 0 : 1;
    if (!right) {
      fprintf(stderr, "rank %d ended with status 0x%x\n", i, (unsigned)status);
    }
  }
  fprintf(stderr, "%s: %d ranks, %s, %d failed\n", name, r.ranks, r.is_gin ? "gin" : "rma", failures);
  return failures == 0 ? 0 : 1;
}
