/* The command line. */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "caller.h"

enum test { TEST_RING, TEST_EXCHANGE, TEST_ALL_TO_ALL };
/* What makes one rank late, to see whether somebody finds it. */
enum plant { PLANT_NONE, PLANT_COMPUTE, PLANT_RECEIVE, PLANT_PROXY, PLANT_CALL, PLANT_FIRST };
enum mode { MODE_TRANSFER, MODE_CONTRACT };

/* More than NCCL has with a peer: a node of many peers has as many connections. */
enum { MAX_CHANNELS = 512, MAX_SIZES = 64 };

struct options {
  enum caller as;
  const char *plugin; /* a path, or what NCCL_NET_PLUGIN has */
  const char *rendezvous; /* a fresh directory, or HOST:PORT of rank 0 */
  const char *trace;      /* a file for the calls made to the plugin, or NULL */
  enum mode mode;
  enum test test;
  int api;
  int rank;        /* of this process's first */
  int ranks;       /* in all processes */
  int local_ranks; /* in this process: a thread group each, as with several GPUs per process */
  int communicators; /* one after the other */
  int sizes[MAX_SIZES]; /* how many ranks each of them has, from 0 on; none: all have `ranks` */
  int from;             /* the first of them that this process is in, from 1 */
  bool overlapping;     /* each ends once the next one has moved its data */
  int channels;
  int device; /* -1: the channel's number modulo the devices */
  size_t bytes;
  size_t slice_bytes;
  int iterations;
  const char *until; /* fewer, once this file is there; or NULL */
  const char *cuts;  /* where the test says which connections to shut down; or NULL */
  int warmup; /* iterations before, checked but not timed */
  int pause_seconds; /* from the connections to the first message */
  int print_longer_ms; /* all-reduces that take longer have a line; 0: none */
  int rest_seconds; /* from the last communicator to the end */
  int linger_seconds; /* from a failure to the closes */
  int timeout_seconds;
  unsigned seed;
  bool send_gpu; /* buffers of sends are a GPU's, which the CPU may not touch */
  bool recv_gpu;
  bool gpu_if_offered; /* only with devices that say that they reach such memory */
  bool print_json;
  bool print_rounds; /* and the time of each all-reduce that counts */
  bool verbose;
  bool without_java; /* no call of the progress thread reaches the JVM */
  enum plant plant; /* a cause of delay at plant_rank */
  int plant_rank;
  long plant_microseconds;
  bool spin; /* wait as NCCL does: yield, never sleep */
  int tuned; /* microseconds that slow choices of the tuner cost, or 0: it is not asked */
  int profiler; /* API version of the profiler to call, or 0 */
  bool net_events; /* instead, one that counts what the net plugin reports */
  int tuner; /* API version of the tuner to ask, or 0: data are moved */
  int nodes; /* of the tuner's communicator */
  bool without_net; /* the tuner alone */
  bool measure; /* what its calls take */
  int event_microseconds; /* the tuner is asked after all-reduces of so long, which the profiler has heard of; or 0 */
};

/* As --test has it. */
const char *test_name(enum test test);

/* Returns false after it has said what is wrong with the command line. */
bool parse_options(struct options *options, int argc, char **argv);

#endif
