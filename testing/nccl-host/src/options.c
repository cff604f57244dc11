#include "options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "nccl-host [--plugin PATH] [options]: plays NCCL's part with a network plugin\n"
    "  --plugin PATH        the plugin, a shared library (default: NCCL_NET_PLUGIN, of the environment or of NCCL's\n"
    "                       files, which are read as NCCL reads them)\n"
    "  --as LIBRARY         nccl (default), rccl-6.2 or rccl-current: RCCL of ROCm 6.2, or a later one, with the\n"
    "                       newest API that it finds; needs the librccl.so.1 of testing/nccl-host\n"
    "  --api N              8 to 12: which ncclNetPlugin_vN (default 12)\n"
    "  --mode transfer      connect, transfer, check, close (default)\n"
    "  --mode contract      one process: what the plugin must bear from NCCL\n"
    "  --tuner N            2 to 7: instead of data, the decisions of the plugin's ncclTunerPlugin_vN on all\n"
    "                       collectives of 1 KiB to BYTES; with --print-json each, and again when it changes\n"
    "  --nodes N            of the tuner's communicator (default: as many as ranks)\n"
    "  --without-net        asks the tuner without initialising the network before\n"
    "  --measure            what a call of the tuner takes, beside one that decides nothing\n"
    "  --event-microseconds N  with --profiler: asks the tuner after all-reduces of so long\n"
    "  --tuned US           of the all-reduce: asks ncclTunerPlugin_v5 before, tells the profiler what it chose, and\n"
    "                       delays later messages by US microseconds unless that is ring, Simple and 2 channels\n"
    "  --profiler N         1 to 7: calls the plugin's ncclProfiler_vN as NCCL does, in --test ring\n"
    "  --net-events         instead, a profiler that counts what the plugin reports of its requests\n"
    "  --test ring          float32 ring all-reduce, every element checked (default)\n"
    "  --test exchange      messages of 0 to BYTES bytes to the next rank, every byte checked\n"
    "  --test all-to-all    the same, and channel C goes to the rank C + 1 further on: to all others at the same time\n"
    "  --rank R --ranks N   this process's first rank, and how many there are (default 0, 1)\n"
    "  --local-ranks L      ranks R to R+L-1 live in this process (default 1)\n"
    "  --rendezvous WHERE   a new directory that all ranks see, or HOST:PORT where rank 0 listens\n"
    "  --bytes N            of the all-reduce, or of the longest message (default 1048576)\n"
    "  --slice-bytes N      longest message of the all-reduce (default 524288)\n"
    "  --iterations N       (default 3)\n"
    "  --warmup N           iterations of the all-reduce before those that are timed (default 1)\n"
    "  --until FILE         ends soon after this file is there, after fewer iterations; ranks of one host\n"
    "  --cuts FILE          when this file is there: removes it, and shuts down this process's TCP connections at the\n"
    "                       IPv4 address in it\n"
    "  --pause SECONDS      with all connected and nothing under way, before data move (default 0)\n"
    "  --linger SECONDS     between a failure and the closes, as a program that is slow to abort (default 0)\n"
    "  --rest SECONDS       after the last communicator, before the end (default 0)\n"
    "  --gpu-memory ENDS    both or receive: whose buffers the CPU may not touch; received data are flushed; offered:\n"
    "                       both, if the device says that it reaches a GPU's memory\n"
    "  --spin               wait as NCCL does: yield, never sleep\n"
    "  --communicators K    made, used and destroyed one after the other (default 1)\n"
    "  --sizes N,N,...      communicators of ranks 0 to N-1, one after the other: ranks that the next one lacks\n"
    "                       kill themselves in the midst of one, and the others make the next, with processes\n"
    "                       that join it; all-reduces only, one rank per process\n"
    "  --from K             of --sizes, the first that this process is in (default 1)\n"
    "  --overlapping        of --sizes: each ends once the next one has moved its data, as ncclCommShrink and\n"
    "                       ncclCommGrow have it (default: before the next one is made)\n"
    "  --channels C         rings side by side (default 1)\n"
    "  --device D           device number (default: channel modulo devices)\n"
    "  --seed N             of --test exchange, and of communicators' numbers with --tuner (default 1)\n"
    "  --timeout SECONDS    for every wait (default 60)\n"
    "  --trace FILE         writes the calls made to the plugin, for comparison with NCCL's; one rank per process\n"
    "  --plant CAUSE:R:US   rank R is late by US microseconds: compute, receive or proxy (with each message), call\n"
    "                       (with each all-reduce), or first (with the first one only)\n"
    "  --print-json         one line of JSON per rank on stdout\n"
    "  --print-rounds       the same, with how long each all-reduce took, in microseconds\n"
    "  --print-longer MS    a line on stderr for each round that takes longer, with when it ended\n"
    "  --verbose            devices and steps on stderr\n"
    "  --without-java       fails if a call for a message has reached the JVM\n";

enum { PLUGIN = 256, AS, API, MODE, TEST, RANK, RANKS, LOCAL_RANKS, RENDEZVOUS, BYTES, SLICE_BYTES, ITERATIONS,
       CHANNELS, DEVICE, SEED, TIMEOUT, PRINT_JSON, VERBOSE, WITHOUT_JAVA, WARMUP, SPIN, TRACE,
       COMMUNICATORS, PAUSE, LINGER, PRINT_ROUNDS, PLANT, REST, TUNER, NODES, WITHOUT_NET, MEASURE,
       EVENT_MICROSECONDS, TUNED,
       PROFILER, NET_EVENTS, UNTIL, CUTS, PRINT_LONGER, GPU_MEMORY, SIZES, FROM, OVERLAPPING };

static const struct option long_options[] = {
    {"plugin", required_argument, NULL, PLUGIN},
    {"as", required_argument, NULL, AS},
    {"api", required_argument, NULL, API},
    {"mode", required_argument, NULL, MODE},
    {"test", required_argument, NULL, TEST},
    {"rank", required_argument, NULL, RANK},
    {"ranks", required_argument, NULL, RANKS},
    {"local-ranks", required_argument, NULL, LOCAL_RANKS},
    {"rendezvous", required_argument, NULL, RENDEZVOUS},
    {"bytes", required_argument, NULL, BYTES},
    {"slice-bytes", required_argument, NULL, SLICE_BYTES},
    {"iterations", required_argument, NULL, ITERATIONS},
    {"channels", required_argument, NULL, CHANNELS},
    {"device", required_argument, NULL, DEVICE},
    {"seed", required_argument, NULL, SEED},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"print-json", no_argument, NULL, PRINT_JSON},
    {"print-rounds", no_argument, NULL, PRINT_ROUNDS},
    {"verbose", no_argument, NULL, VERBOSE},
    {"without-java", no_argument, NULL, WITHOUT_JAVA},
    {"warmup", required_argument, NULL, WARMUP},
    {"spin", no_argument, NULL, SPIN},
    {"trace", required_argument, NULL, TRACE},
    {"communicators", required_argument, NULL, COMMUNICATORS},
    {"pause", required_argument, NULL, PAUSE},
    {"linger", required_argument, NULL, LINGER},
    {"rest", required_argument, NULL, REST},
    {"plant", required_argument, NULL, PLANT},
    {"tuner", required_argument, NULL, TUNER},
    {"nodes", required_argument, NULL, NODES},
    {"without-net", no_argument, NULL, WITHOUT_NET},
    {"measure", no_argument, NULL, MEASURE},
    {"event-microseconds", required_argument, NULL, EVENT_MICROSECONDS},
    {"tuned", required_argument, NULL, TUNED},
    {"profiler", required_argument, NULL, PROFILER},
    {"net-events", no_argument, NULL, NET_EVENTS},
    {"until", required_argument, NULL, UNTIL},
    {"cuts", required_argument, NULL, CUTS},
    {"print-longer", required_argument, NULL, PRINT_LONGER},
    {"gpu-memory", required_argument, NULL, GPU_MEMORY},
    {"sizes", required_argument, NULL, SIZES},
    {"from", required_argument, NULL, FROM},
    {"overlapping", no_argument, NULL, OVERLAPPING},
    {NULL, 0, NULL, 0},
};

static bool number(const char *text, long min, long max, long *value) {
  char *end;
  *value = strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && *value >= min && *value <= max) {
    return true;
  }
  fprintf(stderr, "nccl-host: %s is not a number from %ld to %ld\n", text, min, max);
  return false;
}

static bool choice(const char *text, const char *first, const char *second, int *value) {
  if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
    fprintf(stderr, "nccl-host: %s is neither %s nor %s\n", text, first, second);
    return false;
  }
  *value = strcmp(text, first) == 0 ? 0 : 1;
  return true;
}

static const char *const test_names[] = {"ring", "exchange", "all-to-all"};

const char *test_name(enum test test) {
  return test_names[test];
}

static bool test_of(const char *text, enum test *test) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, test_names[i]) == 0) {
      *test = (enum test)i;
      return true;
    }
  }
  fprintf(stderr, "nccl-host: %s is neither ring, exchange nor all-to-all\n", text);
  return false;
}

static bool plant(const char *text, struct options *options) {
  static const char *const names[] = {"none", "compute", "receive", "proxy", "call", "first"};
  char name[16];
  char more;
  int rank;
  long microseconds;
  if (sscanf(text, "%15[a-z]:%d:%ld%c", name, &rank, &microseconds, &more) == 3 && rank >= 0 && microseconds > 0) {
    for (int i = PLANT_COMPUTE; i <= PLANT_FIRST; i++) {
      if (strcmp(name, names[i]) == 0) {
        options->plant = (enum plant)i;
        options->plant_rank = rank;
        options->plant_microseconds = microseconds;
        return true;
      }
    }
  }
  fprintf(stderr, "nccl-host: %s is not CAUSE:RANK:MICROSECONDS with compute, receive, proxy, call or first\n", text);
  return false;
}

/* The most ranks that a communicator has are those of the job. */
static bool sizes(const char *text, struct options *options) {
  int count = 0;
  for (const char *rest = text; rest != NULL && count < MAX_SIZES; count++) {
    char *end;
    long size = strtol(rest, &end, 10);
    if (size < 1 || size > 4096 || (*end != '\0' && *end != ',')) {
      break;
    }
    options->sizes[count] = (int)size;
    options->ranks = (int)size > options->ranks ? (int)size : options->ranks;
    rest = *end == ',' ? end + 1 : NULL;
    if (rest == NULL) {
      options->communicators = count + 1;
      return true;
    }
  }
  fprintf(stderr, "nccl-host: %s is not up to %d numbers with commas between\n", text, MAX_SIZES);
  return false;
}

static bool set(struct options *options, int option, const char *text) {
  long value = 0;
  int chosen = 0;
  bool ok = true;
  switch (option) {
  case PLUGIN: options->plugin = text; break;
  case AS: ok = caller_of(text, &options->as); break;
  case TRACE: options->trace = text; break;
  case UNTIL: options->until = text; break;
  case CUTS: options->cuts = text; break;
  case SIZES: ok = sizes(text, options); break;
  case FROM: ok = number(text, 1, MAX_SIZES, &value); options->from = (int)value; break;
  case OVERLAPPING: options->overlapping = true; break;
  case COMMUNICATORS: ok = number(text, 1, 1000, &value); options->communicators = (int)value; break;
  case RENDEZVOUS: options->rendezvous = text; break;
  case PRINT_JSON: options->print_json = true; break;
  case PRINT_ROUNDS: options->print_json = options->print_rounds = true; break;
  case PRINT_LONGER: ok = number(text, 1, 86400000, &value); options->print_longer_ms = (int)value; break;
  case VERBOSE: options->verbose = true; break;
  case WITHOUT_JAVA: options->without_java = true; break;
  case PLANT: ok = plant(text, options); break;
  case GPU_MEMORY:
    options->gpu_if_offered = strcmp(text, "offered") == 0;
    ok = options->gpu_if_offered || choice(text, "both", "receive", &chosen);
    options->recv_gpu = ok;
    options->send_gpu = ok && chosen == 0;
    break;
  case SPIN: options->spin = true; break;
  case WITHOUT_NET: options->without_net = true; break;
  case MEASURE: options->measure = true; break;
  case EVENT_MICROSECONDS: ok = number(text, 1, 999999, &value); options->event_microseconds = (int)value; break;
  case TUNED: ok = number(text, 1, 999999, &value); options->tuned = (int)value; break;
  case PROFILER: ok = number(text, 1, 7, &value); options->profiler = (int)value; break;
  case NET_EVENTS: options->net_events = true; break;
  case TUNER: ok = number(text, 2, 7, &value); options->tuner = (int)value; break;
  case NODES: ok = number(text, 1, 4096, &value); options->nodes = (int)value; break;
  case WARMUP: ok = number(text, 0, 1000000, &value); options->warmup = (int)value; break;
  case PAUSE: ok = number(text, 0, 86400, &value); options->pause_seconds = (int)value; break;
  case LINGER: ok = number(text, 0, 86400, &value); options->linger_seconds = (int)value; break;
  case REST: ok = number(text, 0, 86400, &value); options->rest_seconds = (int)value; break;
  case API: ok = number(text, 8, 12, &value); options->api = (int)value; break;
  case RANK: ok = number(text, 0, 4095, &value); options->rank = (int)value; break;
  case RANKS: ok = number(text, 1, 4096, &value); options->ranks = (int)value; break;
  case LOCAL_RANKS: ok = number(text, 1, 64, &value); options->local_ranks = (int)value; break;
  case BYTES: ok = number(text, 0, 1L << 36, &value); options->bytes = (size_t)value; break;
  case SLICE_BYTES: ok = number(text, 4, 1L << 30, &value); options->slice_bytes = (size_t)value & ~3UL; break;
  case ITERATIONS: ok = number(text, 1, 100000000, &value); options->iterations = (int)value; break;
  case CHANNELS: ok = number(text, 1, MAX_CHANNELS, &value); options->channels = (int)value; break;
  case DEVICE: ok = number(text, -1, 127, &value); options->device = (int)value; break;
  case SEED: ok = number(text, 0, INT32_MAX, &value); options->seed = (unsigned)value; break;
  case TIMEOUT: ok = number(text, 1, 86400, &value); options->timeout_seconds = (int)value; break;
  case MODE: ok = choice(text, "transfer", "contract", &chosen); options->mode = (enum mode)chosen; break;
  case TEST: ok = test_of(text, &options->test); break;
  default: ok = false; fputs(usage, stderr); break;
  }
  return ok;
}

bool parse_options(struct options *options, int argc, char **argv) {
  *options = (struct options){.api = 12, .ranks = 1, .local_ranks = 1, .communicators = 1, .from = 1, .channels = 1,
                              .device = -1, .bytes = 1 << 20,
                              .slice_bytes = 512 << 10, .iterations = 3, .warmup = 1, .timeout_seconds = 60, .seed = 1};
  int option;
  while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
    if (!set(options, option, optarg)) {
      return false;
    }
  }
  if (options->test == TEST_ALL_TO_ALL && options->channels < options->ranks - 1) {
    options->channels = options->ranks - 1;
  }
  if (options->nodes == 0) {
    options->nodes = options->ranks;
  }
  if (options->plugin == NULL) {
    options->plugin = caller_plugin(options->as, options->api);
  }
  bool alone = options->mode == MODE_CONTRACT || options->ranks == 1 || options->tuner != 0;
  if (options->plugin == NULL || optind < argc || options->rank + options->local_ranks > options->ranks ||
      (!alone && options->rendezvous == NULL)) {
    fputs("nccl-host: needs --plugin or NCCL_NET_PLUGIN, and for several ranks --rendezvous; ranks count from 0\n",
          stderr);
    fputs(usage, stderr);
    return false;
  }
  if (options->trace != NULL && (options->local_ranks > 1 || options->mode == MODE_CONTRACT)) {
    fputs("nccl-host: --trace is for --mode transfer with one rank per process\n", stderr);
    return false;
  }
  return true;
}
