/*
 * net-ping-pong: latency and bandwidth between two processes, each with its plugin, in the manner of perftest's
 * ib_write_lat and ib_write_bw. Rank 0 measures, and prints one JSON object; rank 1 answers.
 * usage: net-ping-pong PLUGIN RANK RENDEZVOUS-DIRECTORY WARMUP-SECONDS ITERATIONS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connections.h"
#include "host.h"

enum { PING_BYTES = 8, MAX_BYTES = 1 << 20, LONG_MESSAGES = 200 };

static double deadline;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool wait_for(int result, unsigned *idle) {
  if (result == 0 && now() > deadline) {
    return fail(thread_rank, "not done before the deadline");
  }
  if (++*idle > 1000) {
    idle_wait(idle);
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
 * One turn: rank 0 sends, rank 1 answers. *more is what rank 0 says: whether another turn comes. What a message does not
 * wait for is done while it is on its way: posting further receives, and, as ib_write_lat does it, looking for the
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

static bool ping_pong(struct rank *rank, struct flow *sends, struct flow *receives, double warmup, int iterations) {
  double *halves = calloc((size_t)iterations, sizeof *halves);
  double end_of_warmup = now() + warmup;
  int measured = 0;
  bool more = true;
  while (halves != NULL && more) {
    int64_t start = now_ns();
    if (rank->number == 0) {
      more = measured + 1 < iterations;
    }
    if (!turn(rank, sends, receives, &more)) {
      return false;
    }
    if (rank->number == 0 && now() > end_of_warmup) {
      halves[measured++] = (double)(now_ns() - start) / 2e3;
    }
  }
  if (halves == NULL) {
    return fail(rank->number, "no memory");
  }
  if (rank->number == 0) {
    qsort(halves, (size_t)measured, sizeof *halves, compare);
    printf("{\"benchmark\": \"net-ping-pong\", \"latency\": {\"bytes\": %d, \"iterations\": %d, \"min_us\": %.3f, "
           "\"median_us\": %.3f, \"p99_us\": %.3f}, \"bandwidth\": [",
           PING_BYTES, measured, halves[0], halves[measured / 2], halves[(long)measured * 99 / 100]);
  }
  free(halves);
  return true;
}

/* Rank 0 sends, as many at a time as NCCL does; rank 1 receives. */
static bool stream(struct rank *rank, struct flow *sends, struct flow *receives, size_t bytes) {
  size_t size = 0;
  bool ok = receive_ahead(rank, receives, MAX_BYTES) &&
            rendezvous_barrier(rank->rendezvous, bytes == MAX_BYTES ? "long" : "short", 2, deadline);
  int64_t start = now_ns();
  if (rank->number == 1) {
    for (int i = 0; ok && i < LONG_MESSAGES; i++) {
      ok = finish_one(rank, receives, &size) && size == bytes && receive_ahead(rank, receives, MAX_BYTES);
    }
    return ok || fail(rank->number, "a message of %zu bytes came for one of %zu", size, bytes);
  }
  int done = 0;
  int posted = 0;
  unsigned idle = 0;
  while (ok && done < LONG_MESSAGES) {
    struct channel *channel = &rank->channels[0];
    int progress = 0;
    if (posted < LONG_MESSAGES && posted - done < DEPTH) {
      progress = post_send(rank, channel, sends, slot_of(rank, channel->send_buffer, sends->posted), bytes);
      ok = progress >= 0;
      posted += progress == 1;
    }
    if (ok && done < posted) {
      int finished = test_oldest(rank, sends, &size);
      ok = finished >= 0;
      done += finished == 1;
      progress |= finished;
    }
    idle = progress > 0 ? 0 : idle;
    ok = ok && wait_for(progress, &idle);
  }
  double seconds = (double)(now_ns() - start) / 1e9;
  printf("%s{\"bytes\": %zu, \"messages\": %d, \"mb_per_second\": %.2f}", bytes == MAX_BYTES ? ", " : "", bytes,
         LONG_MESSAGES, (double)bytes * LONG_MESSAGES / seconds / (1 << 20));
  return ok;
}

static bool run(struct rank *rank, double warmup, int iterations) {
  struct flow sends = {0};
  struct flow receives = {0};
  return connect_channels(rank, MAX_BYTES) && rendezvous_barrier(rank->rendezvous, "connected", 2, deadline) &&
         receive_ahead(rank, &receives, MAX_BYTES) && ping_pong(rank, &sends, &receives, warmup, iterations) &&
         stream(rank, &sends, &receives, 65536) && stream(rank, &sends, &receives, MAX_BYTES) &&
         rendezvous_barrier(rank->rendezvous, "done", 2, deadline);
}

int main(int argc, char **argv) {
  if (argc != 6 || strlen(argv[2]) != 1 || (argv[2][0] != '0' && argv[2][0] != '1')) {
    fprintf(stderr, "usage: net-ping-pong PLUGIN RANK RENDEZVOUS-DIRECTORY WARMUP-SECONDS ITERATIONS\n");
    return 2;
  }
  double warmup = strtod(argv[4], NULL);
  int iterations = atoi(argv[5]);
  struct options options = {.channels = 1, .device = -1, .ranks = 2, .timeout_seconds = 480 + (int)warmup};
  struct net net;
  struct rank rank = {.options = &options, .net = &net, .number = argv[2][0] - '0'};
  thread_rank = rank.number;
  deadline = now() + options.timeout_seconds;
  if (iterations < 1 || warmup < 0) {
    fprintf(stderr, "net-ping-pong: needs at least one iteration\n");
    return 2;
  }
  if (!net_open(&net, argv[1], 12) || (rank.rendezvous = rendezvous_open(argv[3], rank.number, deadline)) == NULL) {
    return 1;
  }
  int result = net_begin(&net, &rank.ctx, 0x70696e67, &rank.devices);
  if (result != NCCL_SUCCESS || rank.devices < 1) {
    return fail(rank.number, "init returned %d (%s), with %d devices", result, result_name(result), rank.devices) ? 0 : 1;
  }
  bool ok = run(&rank, warmup, iterations);
  ok = close_channels(&rank) && ok;
  ok = net_finalize(&net, rank.ctx) == NCCL_SUCCESS && ok;
  if (ok && rank.number == 0) {
    printf("]}\n");
  }
  ok = ok && (rendezvous_leave(rank.rendezvous, 2, deadline) || fail(rank.number, "the other rank does not leave"));
  rendezvous_close(rank.rendezvous);
  return ok ? 0 : 1;
}
