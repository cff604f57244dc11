/*
 * net-ping-pong: latency and bandwidth between two processes, each with its plugin, in the manner of perftest's
 * ib_write_lat and ib_write_bw. Rank 0 measures, and prints one JSON object; rank 1 answers.
 * usage: net-ping-pong PLUGIN RANK RENDEZVOUS-DIRECTORY WARMUP-SECONDS ITERATIONS [ROUNDS]
 * With ROUNDS the measurements are repeated, each when its turn comes: when somebody, who meanwhile runs something
 * else, makes the file turn.NAME.ROUND in the directory, with one byte in it. Afterwards there is done.NAME.ROUND.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connections.h"
#include "host.h"

enum {
  PING_BYTES = 8,
  SHORT_BYTES = 64 << 10,
  SHORT_MESSAGES = 400,
  MAX_BYTES = 1 << 20,
  LONG_MESSAGES = 50,
  WARM_TURNS = 20000, /* until the JVM's last compiler has compiled what is called once a turn */
  WARM_STREAMS = 4,
  WARM_MESSAGES = 2000,
  SLEEP_US = 300,
  DEADLINE_CHECK = 4096, /* polls */
  MOST_WARM = 6, /* times the wanted duration, if the machine is too slow for so many */
};

static double deadline;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* As ib_write_lat waits, and verbs-ping-pong: without a pause, and the clock is looked at now and then only. */
static bool wait_for(int result, unsigned *idle) {
  if (result == 0 && ++*idle % DEADLINE_CHECK == 0 && now() > deadline) {
    return fail(thread_rank, "not done before the deadline");
  }
  return result >= 0;
}

/* As NCCL does: receives are posted as long as there is room. */
static bool receive_ahead(struct rank *rank, struct flow *receives, size_t capacity) {
  while (receives->posted - receives->done < DEPTH) {
    struct channel *channel = &rank->channels[0];
    int posted = post_recv(rank, channel, receives, slot_of(rank, channel->recv_buffer, receives->posted), capacity);
    if (posted <= 0) {
      return posted == 0;
    }
  }
  return true;
}

static bool send_one(struct rank *rank, struct flow *sends, size_t bytes) {
  struct channel *channel = &rank->channels[0];
  unsigned idle = 0;
  int posted;
  while ((posted = post_send(rank, channel, sends, slot_of(rank, channel->send_buffer, sends->posted), bytes)) != 1) {
    if (!wait_for(posted, &idle)) {
      return false;
    }
  }
  return true;
}

static bool finish_one(struct rank *rank, struct flow *flow, size_t *size) {
  unsigned idle = 0;
  int done;
  while ((done = test_oldest(rank, flow, size)) != 1) {
    if (!wait_for(done, &idle)) {
      return false;
    }
  }
  return true;
}

static bool send_ping(struct rank *rank, struct flow *sends, bool more) {
  slot_of(rank, rank->channels[0].send_buffer, sends->posted)[0] = (char)more;
  return send_one(rank, sends, PING_BYTES);
}

static bool receive_ping(struct rank *rank, struct flow *receives, bool *more) {
  size_t size = 0;
  const char *slot = slot_of(rank, rank->channels[0].recv_buffer, receives->done);
  if (!finish_one(rank, receives, &size) || size != PING_BYTES) {
    return fail(rank->number, "a message of %zu bytes came for one of %d", size, PING_BYTES);
  }
  *more = slot[0] != 0;
  return true;
}

/*
 * One turn: rank 0 sends, rank 1 answers. *more is what rank 0 says: whether another turn comes. What a message does
 * not wait for is done while it is on its way: posting further receives, and, as ib_write_lat does it, looking for the
 * completion of the own send.
 */
static bool turn(struct rank *rank, struct flow *sends, struct flow *receives, bool *more) {
  size_t size = 0;
  if (rank->number == 0) {
    return send_ping(rank, sends, *more) && receive_ahead(rank, receives, MAX_BYTES) &&
           receive_ping(rank, receives, more) && finish_one(rank, sends, &size);
  }
  return receive_ping(rank, receives, more) && send_ping(rank, sends, *more) &&
         receive_ahead(rank, receives, MAX_BYTES) && finish_one(rank, sends, &size);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/*
 * Before the first measurement: as long as is wanted, and until enough is compiled; then a pause in which the compilers
 * finish what is still queued.
 */
static bool warm_up(struct rank *rank, struct flow *sends, struct flow *receives, double seconds) {
  double start = now();
  bool more = true;
  for (int turns = 0; more; turns++) {
    if (rank->number == 0) {
      double passed = now() - start;
      more = passed < seconds || (turns < WARM_TURNS && passed < seconds * MOST_WARM);
    }
    if (!turn(rank, sends, receives, &more)) {
      return false;
    }
  }
  return seconds == 0 || sleep(1) == 0;
}

static bool ping_pong(struct rank *rank, struct flow *sends, struct flow *receives, int iterations) {
  double *halves = calloc((size_t)iterations, sizeof *halves);
  bool more = true;
  if (halves == NULL) {
    return fail(rank->number, "no memory");
  }
  for (int measured = 0; more; measured++) {
    int64_t start = now_ns();
    if (rank->number == 0) {
      more = measured + 1 < iterations;
    }
    if (!turn(rank, sends, receives, &more)) {
      return false;
    }
    if (rank->number == 0) {
      halves[measured] = (double)(now_ns() - start) / 2e3;
    }
  }
  if (rank->number == 0) {
    qsort(halves, (size_t)iterations, sizeof *halves, compare);
    printf("\"latency\": {\"bytes\": %d, \"iterations\": %d, \"min_us\": %.3f, \"median_us\": %.3f, \"p99_us\": %.3f}",
           PING_BYTES, iterations, halves[0], halves[iterations / 2], halves[(long)iterations * 99 / 100]);
  }
  free(halves);
  return true;
}

/*
 * After a round that brought nothing others run, as with NCCL's proxy thread. On SoftRoCE it is they who move the data,
 * and a thread that yields all the time still takes a third of their processor; one that sleeps leaves it free, as
 * ib_write_bw's waiting receiver.
 */
static bool let_run(int progress, unsigned *idle, bool sleeps) {
  *idle = progress > 0 ? 0 : *idle;
  if (progress == 0 && sleeps) {
    usleep(SLEEP_US);
  } else if (progress == 0) {
    sched_yield();
  }
  return wait_for(progress, idle);
}

static bool receive_stream(struct rank *rank, struct flow *receives, size_t bytes, int messages, bool sleeps) {
  unsigned idle = 0;
  for (int received = 0; received < messages;) {
    size_t size = 0;
    int done = test_oldest(rank, receives, &size);
    if (done == 1 && size != bytes) {
      return fail(rank->number, "a message of %zu bytes came for one of %zu", size, bytes);
    }
    if (!let_run(done, &idle, sleeps) || !receive_ahead(rank, receives, MAX_BYTES)) {
      return false;
    }
    received += done;
  }
  return true;
}

static bool send_stream(struct rank *rank, struct flow *sends, size_t bytes, int messages) {
  struct channel *channel = &rank->channels[0];
  unsigned idle = 0;
  int posted = 0;
  for (int done = 0; done < messages;) {
    size_t size;
    int progress = 0;
    if (posted < messages && posted - done < DEPTH) {
      progress = post_send(rank, channel, sends, slot_of(rank, channel->send_buffer, sends->posted), bytes);
      posted += progress > 0;
    }
    if (progress >= 0 && done < posted) {
      int finished = test_oldest(rank, sends, &size);
      done += finished > 0;
      progress = finished < 0 ? finished : progress | finished;
    }
    if (!let_run(progress, &idle, false)) {
      return false;
    }
  }
  return true;
}

/* Rank 0 sends, as many at a time as NCCL does; rank 1 receives. MB/s, or a negative number after a failure. */
static double stream(struct rank *rank, struct flow *sends, struct flow *receives, const char *name, size_t bytes,
                     int messages, bool sleeps) {
  if (!receive_ahead(rank, receives, MAX_BYTES) || !rendezvous_barrier(rank->rendezvous, name, 2, deadline)) {
    return -1;
  }
  int64_t start = now_ns();
  bool ok = rank->number == 1 ? receive_stream(rank, receives, bytes, messages, sleeps)
                              : send_stream(rank, sends, bytes, messages);
  double seconds = (double)(now_ns() - start) / 1e9;
  return ok ? (double)bytes * messages / seconds / (1 << 20) : -1;
}

static bool warm_up_streams(struct rank *rank, struct flow *sends, struct flow *receives) {
  bool ok = true;
  for (int i = 0; ok && i < WARM_STREAMS; i++) {
    char name[32];
    snprintf(name, sizeof name, "stream.%d", i);
    ok = stream(rank, sends, receives, name, PING_BYTES, WARM_MESSAGES, false) >= 0;
  }
  return ok;
}

/* Sleeps until its turn comes, so as not to disturb whose turn it is now. */
static bool await_turn(struct rank *rank, const char *name) {
  char key[64];
  char there;
  int got;
  snprintf(key, sizeof key, "turn.%s", name);
  while ((got = rendezvous_get(rank->rendezvous, key, &there, 1)) == 0) {
    if (now() > deadline) {
      return fail(rank->number, "nobody has made %s", key);
    }
    usleep(20000);
  }
  return got > 0;
}

static bool end_turn(struct rank *rank, const char *name) {
  char key[64];
  char done = 1;
  snprintf(key, sizeof key, "done.%s", name);
  return rank->number != 0 || rendezvous_put(rank->rendezvous, key, &done, 1);
}

static bool measure_latency(struct rank *rank, struct flow *sends, struct flow *receives, const char *name,
                            int iterations) {
  return rendezvous_barrier(rank->rendezvous, name, 2, deadline) && ping_pong(rank, sends, receives, iterations);
}

static bool measure_bandwidth(struct rank *rank, struct flow *sends, struct flow *receives, const char *name,
                              size_t bytes, int messages, bool sleeps) {
  double mb_per_second = stream(rank, sends, receives, name, bytes, messages, sleeps);
  if (rank->number == 0) {
    printf("{\"bytes\": %zu, \"messages\": %d, \"receiver_sleeps\": %s, \"mb_per_second\": %.2f}", bytes, messages,
           sleeps ? "true" : "false", mb_per_second);
  }
  return mb_per_second >= 0;
}

/* One round; what comes before each figure is JSON. */
static bool measure(struct rank *rank, struct flow *sends, struct flow *receives, int round, bool in_turns,
                    int iterations) {
  static const struct {
    const char *name;
    const char *before;
    size_t bytes;
    int messages;
    bool sleeps;
  } figures[] = {
      {"latency", "{", 0, 0, false},
      {"short", ", \"bandwidth\": [", SHORT_BYTES, SHORT_MESSAGES, false},
      {"short-asleep", ", ", SHORT_BYTES, SHORT_MESSAGES, true},
      {"long", ", ", MAX_BYTES, LONG_MESSAGES, false},
      {"long-asleep", ", ", MAX_BYTES, LONG_MESSAGES, true},
  };
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof figures / sizeof figures[0]; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s.%d", figures[i].name, round);
    if (rank->number == 0) {
      printf("%s", figures[i].before);
    }
    ok = (!in_turns || await_turn(rank, name)) &&
         (figures[i].bytes == 0
              ? measure_latency(rank, sends, receives, name, iterations)
              : measure_bandwidth(rank, sends, receives, name, figures[i].bytes, figures[i].messages,
                                  figures[i].sleeps)) &&
         (!in_turns || end_turn(rank, name));
  }
  if (rank->number == 0) {
    printf("]}");
  }
  return ok;
}

static bool run(struct rank *rank, double warmup, int iterations, int rounds) {
  struct flow sends = {0};
  struct flow receives = {0};
  bool in_turns = rounds > 0;
  bool ok = connect_channels(rank, MAX_BYTES) && rendezvous_barrier(rank->rendezvous, "connected", 2, deadline) &&
            receive_ahead(rank, &receives, MAX_BYTES) && warm_up(rank, &sends, &receives, warmup) &&
            (warmup == 0 || warm_up_streams(rank, &sends, &receives)) && (!in_turns || end_turn(rank, "warm-up"));
  if (rank->number == 0) {
    printf("{\"benchmark\": \"net-ping-pong\", \"rounds\": [");
  }
  for (int round = 0; ok && round < (in_turns ? rounds : 1); round++) {
    if (rank->number == 0) {
      printf("%s", round == 0 ? "" : ",\n ");
    }
    ok = measure(rank, &sends, &receives, round, in_turns, iterations);
  }
  return ok && rendezvous_barrier(rank->rendezvous, "done", 2, deadline);
}

int main(int argc, char **argv) {
  if (argc < 6 || argc > 7 || strlen(argv[2]) != 1 || (argv[2][0] != '0' && argv[2][0] != '1')) {
    fprintf(stderr, "usage: net-ping-pong PLUGIN RANK RENDEZVOUS-DIRECTORY WARMUP-SECONDS ITERATIONS [ROUNDS]\n");
    return 2;
  }
  double warmup = strtod(argv[4], NULL);
  int iterations = atoi(argv[5]);
  int rounds = argc == 7 ? atoi(argv[6]) : 0;
  struct options options = {.channels = 1, .device = -1, .ranks = 2, .timeout_seconds = 780 + MOST_WARM * (int)warmup};
  struct net net;
  struct rank rank = {.options = &options, .net = &net, .number = argv[2][0] - '0'};
  thread_rank = rank.number;
  deadline = now() + options.timeout_seconds;
  if (iterations < 1 || warmup < 0 || rounds < 0) {
    fprintf(stderr, "net-ping-pong: needs at least one iteration\n");
    return 2;
  }
  if (!net_open(&net, argv[1], 12) || (rank.rendezvous = rendezvous_open(argv[3], rank.number, deadline)) == NULL) {
    return 1;
  }
  int result = net_begin(&net, &rank.ctx, 0x70696e67, &rank.devices);
  if (result != NCCL_SUCCESS || rank.devices < 1) {
    fail(rank.number, "init returned %d (%s), with %d devices", result, result_name(result), rank.devices);
    return 1;
  }
  bool ok = run(&rank, warmup, iterations, rounds);
  ok = close_channels(&rank) && ok;
  ok = net_finalize(&net, rank.ctx) == NCCL_SUCCESS && ok;
  if (ok && rank.number == 0) {
    printf("]}\n");
  }
  ok = ok && (rendezvous_leave(rank.rendezvous, 2, deadline) || fail(rank.number, "the other rank does not leave"));
  rendezvous_close(rank.rendezvous);
  return ok ? 0 : 1;
}
