/*
 * The built-in tuner's answers on a grid, beside a statement of its rule that shares no code with it: all versions of
 * NCCL's tuner API, collectives, cost tables, sizes from 8 B to 1 GiB, 2 to 256 nodes, one and more GPUs a node.
 * tuner-grid-test MODULE: the module has the tuner's sources and tuner-stand-in.c.
 *
 * A process forked for each environment stands for a rank. All of them have to answer by the rule, and so alike.
 */
#include <dlfcn.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl_tuner_abi.h"
#include "tuner-stand-in.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TREE = NCCL_TUNER_TREE, RING = NCCL_TUNER_RING, NVLS = 4, PAT = 6 }; /* rows of the table (nccl_tuner.h) */
enum { LL = NCCL_TUNER_LL, LL128 = NCCL_TUNER_LL128, SIMPLE = NCCL_TUNER_SIMPLE };
enum { ROWS = NCCL_TUNER_ALGORITHMS, ROWS_OF_V3 = 6, COLUMNS = NCCL_TUNER_PROTOCOLS, ENTRIES = ROWS * COLUMNS };
enum { FIRST_VERSION = 2, LAST_VERSION = 7, COLLECTIVES = 5 };
enum { KIB = 1 << 10, MIB = 1 << 20, GIB = 1 << 30 };

/* ---- cost tables ---- */

enum table_kind {
  RING_ONLY,
  TREE_CHEAPER,
  WITHOUT_SIMPLE, /* as with NCCL_PROTO=^Simple */
  WITHOUT_LL128,
  LL_ONLY,
  NVLS_CHEAPER,
  EQUAL_COSTS, /* NCCL takes the first of equals */
  PAT_CHEAPER, /* the last: not in every table */
  TABLE_KINDS
};

static const char *const table_names[] = {"ring only",     "tree cheaper", "without Simple", "without LL128",
                                          "Ring/LL alone", "NVLS cheaper", "equal costs",    "PAT cheaper"};

static void fill_row(float table[ENTRIES], int row, float least, int cheapest) {
  for (int column = 0; column < COLUMNS; column++) {
    table[row * COLUMNS + column] = least + (float)((column - cheapest + COLUMNS) % COLUMNS);
  }
}

/* A table whose rows have their least entry at the protocol "cheapest". Most entries are -1, as on most machines. */
static void fill_table(float table[ENTRIES], enum table_kind kind, int cheapest) {
  for (int i = 0; i < ENTRIES; i++) {
    table[i] = NCCL_TUNER_IGNORE;
  }
  fill_row(table, RING, 20, cheapest);
  switch (kind) {
  case RING_ONLY: break;
  case TREE_CHEAPER: fill_row(table, TREE, 10, cheapest); break;
  case WITHOUT_SIMPLE: table[RING * COLUMNS + SIMPLE] = NCCL_TUNER_IGNORE; break;
  case WITHOUT_LL128: table[RING * COLUMNS + LL128] = NCCL_TUNER_IGNORE; break;
  case LL_ONLY: table[RING * COLUMNS + LL128] = table[RING * COLUMNS + SIMPLE] = NCCL_TUNER_IGNORE; break;
  case NVLS_CHEAPER:
    fill_row(table, TREE, 30, cheapest);
    table[NVLS * COLUMNS + SIMPLE] = 10;
    break;
  case PAT_CHEAPER: table[PAT * COLUMNS + SIMPLE] = 10; break;
  case EQUAL_COSTS:
    for (int i = 0; i < 2 * COLUMNS; i++) {
      table[i] = (float)cheapest + 1;
    }
    break;
  case TABLE_KINDS: abort();
  }
}

/* ---- NCCL's part ---- */

struct answer {
  int algorithm;
  int protocol;
  int channels; /* 0: NCCL's own number */
};

/* NCCL's choice: the least entry that is not negative (topoGetAlgoInfo in enqueue.cc); -1 and -1 in an empty table. */
static struct answer least_of(const float table[ENTRIES]) {
  struct answer least = {-1, -1, 0};
  float cost = FLT_MAX;
  for (int i = ENTRIES - 1; i >= 0; i--) {
    if (table[i] >= 0 && table[i] <= cost) {
      least = (struct answer){i / COLUMNS, i % COLUMNS, 0};
      cost = table[i];
    }
  }
  return least;
}

/* A collective of a communicator, and what the process is like. */
struct question {
  int version;
  struct process_state process;
  size_t ranks;
  size_t nodes;
  int coll;
  size_t bytes;
  float costs[ENTRIES];
};

struct tables {
  const void *of[LAST_VERSION + 1]; /* by version of the API */
  set_process_function set_process;
};

static bool find_tables(struct tables *tables, void *module) {
  *(void **)&tables->set_process = dlsym(module, "set_process");
  for (int version = FIRST_VERSION; version <= LAST_VERSION; version++) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclTunerPlugin_v%d", version);
    tables->of[version] = dlsym(module, symbol);
    if (tables->of[version] == NULL) {
      return false;
    }
  }
  return tables->set_process != NULL;
}

static void *open_tuner(const struct question *q, const void *table) {
  static struct nccl_tuner_constants constants;
  static struct nccl_tuner_constants_v7 constants_v7;
  struct nccl_tuner_domains domains = {(int)q->nodes, 1, 1};
  const struct nccl_tuner_v4 *until_v4 = table;
  const struct nccl_tuner_v5 *until_v6 = table;
  const struct nccl_tuner_v7 *v7 = table;
  void *ctx = NULL;
  const int result = q->version < 5   ? until_v4->init(q->ranks, q->nodes, NULL, &ctx)
                     : q->version < 7 ? until_v6->init(&ctx, 1, q->ranks, q->nodes, NULL, &domains, &constants)
                                      : v7->init(&ctx, 1, q->ranks, q->nodes, NULL, &domains, &constants_v7);
  if (result != NCCL_SUCCESS) {
    abort();
  }
  return ctx;
}

/* The question's table after the call is left in "costs". v2 has none, and its answer is written by the tuner. */
static struct answer ask(const struct question *q, const void *table, void *ctx, float costs[ENTRIES]) {
  struct answer answer = {-1, -1, 0};
  float **flat = (float **)(void *)costs;
  const struct nccl_tuner_v2 *v2 = table;
  const struct nccl_tuner_v3 *v3 = table;
  const struct nccl_tuner_v4 *v4 = table;
  int result;
  memcpy(costs, q->costs, sizeof q->costs);
  switch (q->version) {
  case 2:
    result = v2->getCollInfo(ctx, q->coll, q->bytes, 0, 0, 1, &answer.algorithm, &answer.protocol, &answer.channels);
    break;
  case 3: /* NCCL 2.22 has no row for PAT */
    result = v3->getCollInfo(ctx, q->coll, q->bytes, 1, flat, ROWS_OF_V3, COLUMNS, &answer.channels);
    break;
  default: result = v4->getCollInfo(ctx, q->coll, q->bytes, 1, flat, ROWS, COLUMNS, 0, &answer.channels); break;
  }
  if (result != NCCL_SUCCESS) {
    abort();
  }
  if (q->version > 2) {
    const struct answer chosen = least_of(costs);
    answer.algorithm = chosen.algorithm;
    answer.protocol = chosen.protocol;
  }
  return answer;
}

/* ---- the rule, stated again ---- */

/* Bytes of the longest collective whose steps have "step" bytes: a broadcast and a reduce pass all of them on. */
static double all_bytes(const struct question *q, double step) {
  return q->coll == NCCL_TUNER_BROADCAST || q->coll == NCCL_TUNER_REDUCE ? step : step * (double)q->ranks;
}

/*
 * Least bytes of a ring's collective for which NCCL itself takes two channels: 512 threads, 64 bytes each, with LL 8
 * times the ranks (threadThresholds in graph/tuning.cc, topoGetAlgoInfo in enqueue.cc), with LL128 640 threads and 8.
 */
static double two_of_nccl(const struct question *q, int protocol) {
  return protocol == SIMPLE ? 2.0 * 512 * 64 : protocol == LL ? 2.0 * 512 * 8 * (double)q->ranks : 2.0 * 640 * 8;
}

static struct answer rule(const struct question *q) {
  struct answer nccl = least_of(q->costs);
  const double bytes = (double)q->bytes;
  if (q->version == 2) {
    return (struct answer){-1, -1, 0};
  }
  if (!q->process.is_net_taken || q->process.is_tuning_off || q->nodes == 1) {
    return nccl;
  }
  if (nccl.algorithm == RING && nccl.protocol == LL && bytes > all_bytes(q, 64 * KIB) &&
      q->costs[RING * COLUMNS + SIMPLE] >= 0) {
    nccl.protocol = SIMPLE;
  }
  if (q->ranks != q->nodes) {
    return nccl;
  }
  if (nccl.algorithm == TREE) {
    nccl.channels = bytes <= 16 * KIB ? 1 : 0;
  } else if (nccl.algorithm == RING) {
    const bool one = bytes <= all_bytes(q, 128 * KIB) || bytes < two_of_nccl(q, nccl.protocol);
    nccl.channels = bytes >= all_bytes(q, 2 * MIB) ? 0 : one ? 1 : 2;
  }
  return nccl;
}

/* ---- the grid ---- */

/* What a rank has found. In memory that it shares with the test. */
struct result {
  long questions;
  long wrong;
  long wrong_trees; /* of them, those where NCCL's choice is a tree */
  uint64_t digest;  /* of all answers */
  bool is_shown[LAST_VERSION + 1][TABLE_KINDS];
};

static uint64_t mixed(uint64_t digest, int64_t value) {
  return (digest ^ (uint64_t)value) * 0x100000001b3; /* FNV-1a, by words */
}

static bool is_kept(const struct question *q, const float costs[ENTRIES], struct answer expected) {
  for (int i = 0; i < ENTRIES; i++) {
    const bool may_change = i == RING * COLUMNS + SIMPLE && expected.protocol == SIMPLE;
    if (costs[i] != q->costs[i] && (!may_change || q->costs[i] < 0)) {
      return false;
    }
  }
  return true;
}

static bool is_same(struct answer one, struct answer other) {
  return one.algorithm == other.algorithm && one.protocol == other.protocol && one.channels == other.channels;
}

static void show(const struct question *q, const char *table, struct answer answer, struct answer expected) {
  printf("v%d, %s, collective %d of %zu bytes, %zu ranks on %zu nodes%s%s: ", q->version, table, q->coll, q->bytes,
         q->ranks, q->nodes, q->process.is_net_taken ? "" : ", other net", q->process.is_tuning_off ? ", off" : "");
  printf("algorithm %d, protocol %d, %d channels instead of %d, %d, %d\n", answer.algorithm, answer.protocol,
         answer.channels, expected.algorithm, expected.protocol, expected.channels);
}

static void compare(const struct question *q, const void *table, void *ctx, int kind, struct result *result) {
  float costs[ENTRIES];
  const struct answer answer = ask(q, table, ctx, costs);
  const struct answer expected = rule(q);
  result->questions++;
  result->digest = mixed(mixed(mixed(result->digest, answer.algorithm), answer.protocol), answer.channels);
  if (is_same(answer, expected) && is_kept(q, costs, expected)) {
    return;
  }
  result->wrong++;
  result->wrong_trees += least_of(q->costs).algorithm == TREE ? 1 : 0;
  if (!result->is_shown[q->version][kind]) { /* the first of its kind */
    result->is_shown[q->version][kind] = true;
    show(q, table_names[kind], answer, expected);
  }
}

/* Each power of two, and a byte less and more. */
static void compare_sizes(struct question *q, const void *table, void *ctx, int kind, struct result *result) {
  for (size_t power = 8; power <= GIB; power *= 2) {
    for (size_t bytes = power - 1; bytes <= power + 1; bytes++) {
      q->bytes = bytes;
      compare(q, table, ctx, kind, result);
    }
  }
}

static void compare_communicator(struct question *q, const void *table, struct result *result) {
  void *ctx = open_tuner(q, table);
  const int kinds = q->version == 3 ? PAT_CHEAPER : TABLE_KINDS;
  for (int kind = 0; kind < kinds; kind++) {
    for (int cheapest = 0; cheapest < COLUMNS; cheapest++) {
      fill_table(q->costs, (enum table_kind)kind, cheapest);
      for (q->coll = 0; q->coll < COLLECTIVES; q->coll++) {
        compare_sizes(q, table, ctx, kind, result);
      }
    }
  }
  if (((const struct nccl_tuner_v5 *)table)->finalize(ctx) != NCCL_SUCCESS) { /* the same slot in all versions */
    abort();
  }
}

static void compare_all(const struct tables *tables, struct result *result) {
  static const struct process_state processes[] = {
      {.is_net_taken = true}, {.is_net_taken = false}, {.is_net_taken = true, .is_tuning_off = true}};
  static const size_t node_counts[] = {1, 2, 3, 4, 5, 8, 16, 31, 64, 128, 256};
  static const size_t gpu_counts[] = {1, 2, 8};
  for (size_t p = 0; p < COUNT(processes); p++) {
    tables->set_process(processes[p]);
    for (int version = FIRST_VERSION; version <= LAST_VERSION; version++) {
      for (size_t n = 0; n < COUNT(node_counts); n++) {
        for (size_t g = 0; g < COUNT(gpu_counts); g++) {
          struct question q = {.version = version, .process = processes[p], .nodes = node_counts[n]};
          q.ranks = q.nodes * gpu_counts[g];
          compare_communicator(&q, tables->of[version], result);
        }
      }
    }
  }
}

/* ---- beside a policy ---- */

static bool is_answer(const char *what, struct answer answer, struct answer expected) {
  if (!is_same(answer, expected)) {
    printf("%s: algorithm %d, protocol %d, %d channels instead of %d, %d, %d\n", what, answer.algorithm,
           answer.protocol, answer.channels, expected.algorithm, expected.protocol, expected.channels);
  }
  return is_same(answer, expected);
}

/* An all-reduce among two nodes with steps of 100 KiB, for which NCCL would take Ring/LL. */
static struct answer beside(const struct tables *tables, struct fixed_policy policy, bool is_tuning_off) {
  struct question q = {.version = LAST_VERSION, .ranks = 2, .nodes = 2, .coll = NCCL_TUNER_ALL_REDUCE,
                       .bytes = 200 * KIB,
                       .process = {true, is_tuning_off, true, policy}};
  float costs[ENTRIES];
  fill_table(q.costs, RING_ONLY, LL);
  tables->set_process(q.process);
  void *ctx = open_tuner(&q, tables->of[q.version]);
  const struct answer answer = ask(&q, tables->of[q.version], ctx, costs);
  if (policy.algorithm >= 0 && costs[RING * COLUMNS + SIMPLE] != q.costs[RING * COLUMNS + SIMPLE]) {
    return (struct answer){-1, -1, -1}; /* two chosen entries */
  }
  return answer;
}

/* The built-in tuner decides on what a policy leaves. */
static bool is_right_beside_policies(const struct tables *tables) {
  const struct fixed_policy leaves_all = {-1, -1, 0}, chooses_ll = {RING, LL, 0}, chooses_channels = {-1, -1, 5};
  bool ok = is_answer("a policy that leaves all", beside(tables, leaves_all, false), (struct answer){RING, SIMPLE, 1});
  ok &= is_answer("a policy that takes Ring/LL", beside(tables, chooses_ll, false), (struct answer){RING, LL, 1});
  ok &= is_answer("a policy of channels", beside(tables, chooses_channels, false), (struct answer){RING, SIMPLE, 5});
  ok &= is_answer("switched off", beside(tables, leaves_all, true), (struct answer){RING, LL, 0});
  return ok;
}

/* NCCL finds no tuner where nothing would decide: CTAPolicy has its way then. */
static bool is_absent_where_nothing_decides(const struct tables *tables, void *module) {
  static const struct {
    const char *what;
    struct process_state process;
    bool is_found;
  } cases[] = {{"by default", {.is_net_taken = true}, true},
               {"off", {.is_net_taken = true, .is_tuning_off = true}, false},
               {"off, with a policy", {.is_net_taken = true, .is_tuning_off = true, .has_policy = true}, true}};
  bool ok = true;
  for (size_t i = 0; i < COUNT(cases); i++) {
    tables->set_process(cases[i].process);
    if ((dlsym(module, "ncclTunerPlugin_v7") != NULL) != cases[i].is_found) {
      printf("%s: a tuner is %s\n", cases[i].what, cases[i].is_found ? "missing" : "found");
      ok = false;
    }
  }
  return ok;
}

/* ---- ranks ---- */

static const struct {
  const char *name;
  const char *values[4][2]; /* names and values */
} environments[] = {
    {"none", {{NULL, NULL}}},
    {"NCCL_MIN_NCHANNELS", {{"NCCL_MIN_NCHANNELS", "4"}}},
    {"NCCL_MIN_CTAS", {{"NCCL_MIN_CTAS", "8"}, {"NCCL_MAX_CTAS", "16"}}},
    {"NCCL_MIN_NRINGS", {{"NCCL_MIN_NRINGS", "2"}}},
    {"NCCL_ALGO and NCCL_PROTO", {{"NCCL_ALGO", "Tree"}, {"NCCL_PROTO", "LL"}, {"NCCL_NTHREADS", "64"}}},
};

static int be_rank(const char *path, size_t environment, struct result *result) {
  for (size_t i = 0; i < COUNT(environments[environment].values); i++) {
    if (environments[environment].values[i][0] != NULL) {
      setenv(environments[environment].values[i][0], environments[environment].values[i][1], 1);
    }
  }
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  struct tables tables;
  if (module == NULL || !find_tables(&tables, module)) {
    printf("%s has no tuner: %s\n", path, module == NULL ? dlerror() : "a table is missing");
    return 1;
  }
  compare_all(&tables, result);
  bool ok = result->wrong == 0;
  ok &= is_right_beside_policies(&tables);
  ok &= is_absent_where_nothing_decides(&tables, module);
  fflush(stdout);
  return ok ? 0 : 1;
}

int main(int count, char **arguments) {
  bool ok = count == 2;
  struct result *results = mmap(NULL, COUNT(environments) * sizeof *results, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!ok || results == MAP_FAILED) {
    fprintf(stderr, "tuner-grid-test MODULE\n");
    return 2;
  }
  for (size_t i = 0; i < COUNT(environments); i++) {
    const pid_t rank = fork();
    int status = 1;
    if (rank == 0) {
      _exit(be_rank(arguments[1], i, &results[i]));
    }
    ok &= waitpid(rank, &status, 0) == rank && status == 0;
    const bool is_alike = results[i].digest == results[0].digest;
    printf("environment %s: %ld questions, %ld wrong answers (%ld where NCCL takes a tree), %s\n",
           environments[i].name, results[i].questions, results[i].wrong, results[i].wrong_trees,
           is_alike ? "as without" : "OTHERS THAN WITHOUT");
    fflush(stdout);
    ok &= is_alike && results[i].questions > 0;
  }
  return ok ? 0 : 1;
}
