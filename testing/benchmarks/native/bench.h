/* What the parts of net-bench share: options, the plugins under test, samples, the clock. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net.h"

enum {
  MAX_PLUGINS = 8,
  MAX_SIZES = 16,
  MAX_COMM_COUNTS = 16,
  MAX_SAMPLES = 1000,
  MAX_WINDOW = 8,
  EARLY_CONNECTIONS = 100
};

struct options {
  const char *plugins[MAX_PLUGINS];
  int plugin_count;
  size_t sizes[MAX_SIZES];
  int size_count;
  int comm_counts[MAX_COMM_COUNTS];
  int comm_count_count;
  int samples;           /* of each figure */
  double sample_seconds; /* how long one takes, about */
  double warmup_seconds; /* of each figure's first use */
  double setup_seconds;  /* how long connections are made and closed for the set-up figures, once they are warm */
  double distribution_seconds; /* how long all calls are made, and single ones of test() timed */
  int window;            /* messages on their way at a time */
  int timeout_seconds;
  int cpu; /* the measuring thread's, or -1 */
  const char *token; /* a folder with two FIFOs: this run's rounds are in turns with another run's; or NULL */
  bool begins;       /* the first round is this run's */
  const char *device;
  const char *json;    /* file, or NULL for stdout */
  const char *jvm_log; /* written by -Xlog:safepoint,gc with decorator tn, or NULL */
};

/* Returns false after it has said what is wrong. */
bool parse_options(struct options *options, int argc, char **argv);

/* One connection, both ends. */
struct pair {
  void *send_comm;
  void *receive_comm;
  void *send_memory;
  void *receive_memory;
};

/* A plugin under test. */
struct subject {
  struct net net;
  const char *path;
  void *ctx;
  int device;
  struct pair *pairs; /* as many as the options' greatest number of comms */
  int pair_count;     /* open ones */
  double init_seconds;
  bool first_result;
};

/* Nanoseconds of CLOCK_MONOTONIC; also what the JVM's log decorator tn shows. */
int64_t now_ns(void);

/* Nanoseconds that this thread has been on a processor: not what others on the machine took. */
int64_t thread_ns(void);

/* The built-in plugin that does nothing: what the harness itself costs. */
bool is_harness(const char *path);
const struct nccl_net_v12 *harness_plugin(void);

/* ---- subject.c: connections. False: it has said why. ---- */
bool subject_open(struct subject *subject, const struct options *options, const char *path);
bool subject_grow(struct subject *subject, const struct options *options, int pairs);
bool subject_shrink(struct subject *subject, int pairs);
bool subject_close(struct subject *subject);

/* One connection: listen, connect and accept in turns until both ends are there, closeListen. */
bool connect_pair(struct subject *subject, const struct options *options, struct pair *pair);
bool close_pair(struct subject *subject, struct pair *pair);

/* The memory that all messages come from and go to. */
extern char *send_buffer;
extern char *receive_buffer;
extern size_t buffer_bytes;

/* ---- measure.c: the data path; each prints its results. ---- */
/* The first messages of a process, of its first connection, each timed by itself. */
bool measure_first_messages(struct subject *subject, const struct options *options, FILE *json);
bool measure_data_path(struct subject *subjects, int count, const struct options *options, int comms, FILE *json[]);
/* What one connection costs, each round of samples when the token is here. */
bool measure_in_turns(struct subject *subjects, int count, const struct options *options, int comms, FILE *json[]);

/* ---- distribution.c ---- */
bool measure_test_distribution(struct subject *subject, const struct options *options, int comms, FILE *json);

/* ---- token.c: two runs take turns. False: it has said why. ---- */
struct token {
  int from;
  int to;
};
bool token_open(struct token *token, const struct options *options);
bool token_await(const struct token *token, int timeout_seconds);
bool token_pass(const struct token *token);
void token_close(struct token *token);

/* ---- setup.c: connections. ---- */
bool measure_setup(struct subject *subject, const struct options *options, FILE *json);
bool measure_growth(struct subject *subject, const struct options *options, int comms, FILE *json);

/* ---- samples.c ---- */
struct samples {
  double values[MAX_SAMPLES];
  int count;
};
void add_sample(struct samples *samples, double value);
double median(const struct samples *samples);

/* Begins a result's JSON object, after a comma unless it is the first; the caller adds its fields and the brace. */
void begin_result(struct subject *subject, FILE *json, const char *question, int comms);
/* "unit": ..., "median": ... and the samples. */
void print_samples(FILE *json, const char *unit, struct samples *samples);

/* A histogram of durations: 32 buckets for each power of two, so within 3 %. */
enum { HISTOGRAM_BUCKETS = 64 * 32 };
struct histogram {
  uint64_t buckets[HISTOGRAM_BUCKETS];
  uint64_t count;
  uint64_t max;
};
void histogram_add(struct histogram *histogram, uint64_t ns);
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* What the process holds. */
struct footprint {
  long resident_kib;
  int descriptors;
  int threads;
};
struct footprint footprint_now(void);
/* Processor time of the JVM's compilers so far; 0 without a JVM. */
double compiler_seconds(void);
void print_machine(FILE *json);
void print_rdma_drivers(FILE *json);
void print_string(FILE *json, const char *text);
/* The JVM's stops in its log, the collections among them, and those between two times. */
void print_jvm_pauses(FILE *json, const char *log, int64_t from_ns, int64_t to_ns);

#endif
