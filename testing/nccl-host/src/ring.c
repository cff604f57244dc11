/*
 * Ring all-reduce as NCCL does it on the wire. A channel's part of the vector is worked off in loops; a loop has a
 * segment per rank. In step s, a rank sends to the next what it got in step s-1: for ranks-1 steps the sum so far
 * (reduce-scatter), for ranks-1 steps more the finished sum (all-gather). A segment travels in SLICES messages, so that
 * several are on their way; short segments leave the last ones empty, which are sent all the same.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "profiler.h"
#include "transfers.h"
#include "tuner.h"
#include "until.h"

enum { SLICES = 4 };

struct work {
  struct rank *rank;
  struct channel *channel;
  float *data;            /* the channel's part */
  size_t elements;        /* of it */
  size_t slice_elements;  /* of the longest message */
  size_t loop_elements;   /* all segments of a loop */
  size_t steps_of_loop;
  size_t messages;
  struct flow sends;
  struct flow receives;
  bool staged; /* message sends.posted lies in its slot */
  double receive_at; /* when a receive that is planted to be late is posted; 0: it has not been wanted */
  double compute_at; /* the same for data that are planted to be late */
};

static long planted(const struct rank *rank, enum plant plant) {
  const struct options *options = rank->options;
  return options->plant == plant && options->plant_rank == rank->number ? options->plant_microseconds : 0;
}

/* Whether a planted delay is over, which begins when it is first asked for. */
static bool is_over(double *at, long microseconds) {
  if (microseconds == 0) {
    return true;
  }
  if (*at == 0) {
    *at = now() + (double)microseconds / 1e6;
  }
  bool over = now() >= *at;
  *at = over ? 0 : *at;
  return over;
}

static void delay(const struct rank *rank, enum plant plant) {
  const long microseconds = planted(rank, plant);
  if (microseconds > 0) {
    (void)usleep((useconds_t)microseconds);
  }
}

struct piece {
  size_t first;
  size_t elements;
  size_t step;
};

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Which elements message `message` carries that this rank sends (or receives, from the rank before). */
static struct piece piece_of(const struct work *work, size_t message, bool received) {
  size_t ranks = (size_t)work->rank->options->ranks;
  size_t step = message / SLICES % work->steps_of_loop;
  size_t loop = message / SLICES / work->steps_of_loop;
  size_t slice = message % SLICES;
  size_t sender = (size_t)work->rank->number + (received ? ranks - 1 : 0);
  size_t segment = (sender + 2 * ranks - step) % ranks;
  size_t loop_first = loop * work->loop_elements;
  size_t loop_end = least(loop_first + work->loop_elements, work->elements);
  size_t segment_elements = (loop_end - loop_first + ranks - 1) / ranks;
  size_t slice_elements = (segment_elements + SLICES - 1) / SLICES;
  size_t end = least(loop_first + (segment + 1) * segment_elements, loop_end);
  size_t first = least(loop_first + segment * segment_elements + slice * slice_elements, end);
  return (struct piece){first, least(first + slice_elements, end) - first, step};
}

static bool begin(struct work *work, struct rank *rank, int number, float *vector, size_t elements) {
  size_t channels = (size_t)rank->options->channels;
  size_t ranks = (size_t)rank->options->ranks;
  size_t first = elements * (size_t)number / channels;
  *work = (struct work){.rank = rank,
                        .channel = &rank->channels[number],
                        .data = vector + first,
                        .elements = elements * (size_t)(number + 1) / channels - first,
                        .slice_elements = rank->options->slice_bytes / sizeof(float),
                        .steps_of_loop = 2 * (ranks - 1)};
  work->loop_elements = work->slice_elements * SLICES * ranks;
  size_t loops = (work->elements + work->loop_elements - 1) / work->loop_elements;
  work->messages = (loops == 0 ? 1 : loops) * work->steps_of_loop * SLICES;
  return true;
}

/* As NCCL's progress thread: posts one receive, and tests the oldest when there is nothing to post. */
static bool receive(struct work *work, bool *progress) {
  struct rank *rank = work->rank;
  struct flow *flow = &work->receives;
  const long late = planted(rank, PLANT_RECEIVE);
  const size_t depth = late > 0 ? 1 : DEPTH;
  if (flow->posted < work->messages && flow->posted - flow->done < depth && is_over(&work->receive_at, late)) {
    int result = post_recv(rank, work->channel, flow, slot_of(rank, work->channel->recv_buffer, flow->posted),
                           rank->slot_bytes);
    if (result != 0) {
      *progress = true;
      return result > 0;
    }
  }
  size_t bytes;
  size_t message = flow->done;
  int done = test_oldest(rank, flow, &bytes);
  if (done <= 0) {
    return done == 0;
  }
  *progress = true;
  struct piece piece = piece_of(work, message, true);
  if (bytes != piece.elements * sizeof(float)) {
    return fail(rank->number, "message %zu has %zu bytes instead of %zu", message, bytes,
                piece.elements * sizeof(float));
  }
  const float *received = (const float *)slot_of(rank, work->channel->recv_buffer, message);
  float *into = work->data + piece.first;
  if (piece.step < (size_t)rank->options->ranks - 1) {
    for (size_t i = 0; i < piece.elements; i++) {
      into[i] += received[i];
    }
  } else {
    memcpy(into, received, bytes);
  }
  return true;
}

/* The next message is there and in its slot. */
static bool stage(struct work *work) {
  struct flow *flow = &work->sends;
  if (flow->posted == work->messages || flow->posted - flow->done == DEPTH) {
    return false;
  }
  profile_step_begin(flow);
  struct piece piece = piece_of(work, flow->posted, false);
  if (piece.step > 0 && work->receives.done + SLICES <= flow->posted) {
    return false; /* this piece has not come from the rank before yet */
  }
  const long slow = work->rank->is_slow && piece.step > 0 ? work->rank->options->tuned : 0;
  if (!work->staged && !is_over(&work->compute_at, slow + planted(work->rank, PLANT_COMPUTE))) {
    return false;
  }
  if (!work->staged) {
    memcpy(slot_of(work->rank, work->channel->send_buffer, flow->posted), work->data + piece.first,
           piece.elements * sizeof(float));
    work->staged = true;
  }
  return true;
}

/* As NCCL's progress thread: sends one message if it can, and tests the oldest when it cannot. */
static bool transmit(struct work *work, bool *progress) {
  struct rank *rank = work->rank;
  struct flow *flow = &work->sends;
  if (stage(work)) {
    struct piece piece = piece_of(work, flow->posted, false);
    int result = post_send(rank, work->channel, flow, slot_of(rank, work->channel->send_buffer, flow->posted),
                           piece.elements * sizeof(float));
    if (result != 0) {
      work->staged = false;
      *progress = true;
      return result > 0;
    }
  }
  size_t bytes;
  int done = test_oldest(rank, flow, &bytes);
  *progress |= done == 1;
  return done >= 0;
}

static void begin_profile(struct rank *rank, struct work *work, int number) {
  int ranks = rank->options->ranks;
  profile_flow_begin(rank->profile, &work->sends, true, number, (rank->number + 1) % ranks, work->messages);
  profile_flow_begin(rank->profile, &work->receives, false, number, (rank->number + ranks - 1) % ranks,
                     work->messages);
}

static bool stalled(const struct work *works) {
  const struct rank *rank = works->rank;
  char text[512] = "";
  size_t length = 0;
  for (int c = 0; c < rank->options->channels && length < sizeof text; c++) {
    const struct work *work = &works[c];
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "; channel %d: of %zu messages %zu sends posted, %zu done, "
                                "%zu receives posted, %zu done",
                               c, work->messages, work->sends.posted, work->sends.done, work->receives.posted,
                               work->receives.done);
  }
  return fail(rank->number, "timeout: nothing moved for %d s%s", rank->options->timeout_seconds, text);
}

static bool move_all(struct rank *rank, struct work *works) {
  int open = rank->options->channels;
  double last_progress = now();
  unsigned idle = 0;
  while (open > 0) {
    bool progress = false;
    open = 0;
    for (int c = 0; c < rank->options->channels; c++) {
      struct work *work = &works[c];
      if (work->sends.done == work->messages && work->receives.done == work->messages) {
        continue;
      }
      open++;
      if (!receive(work, &progress) || !transmit(work, &progress)) {
        return false;
      }
    }
    if (progress) {
      last_progress = now();
      idle = 0;
      delay(rank, PLANT_PROXY);
    } else if (is_failing()) {
      return false;
    } else if (now() - last_progress > rank->options->timeout_seconds) {
      return stalled(works);
    } else {
      idle_wait(&idle);
    }
  }
  return true;
}

/* What the tuner chooses is said to the profiler, and slow or not; the messages are the same. Returns the channels. */
static int choose(struct rank *rank, size_t bytes) {
  struct decision decision;
  if (rank->tuner == NULL ||
      tuner_decide(rank->tuner, rank->tuner_ctx, NCCL_TUNER_ALL_REDUCE, bytes, &decision) != NCCL_SUCCESS) {
    return rank->options->channels;
  }
  rank->profile->algorithm = algorithm_name(decision.algorithm);
  rank->profile->protocol = protocol_name(decision.protocol);
  rank->is_slow = decision.algorithm != NCCL_TUNER_RING || decision.protocol != NCCL_TUNER_SIMPLE ||
                  decision.channels != 2;
  return decision.channels != 0 ? decision.channels : rank->options->channels;
}

static bool all_reduce(struct rank *rank, struct work *works, float *vector, size_t elements) {
  const int channels = rank->options->channels;
  delay(rank, PLANT_CALL);
  profile_collective_begin(rank->profile, elements, choose(rank, elements * sizeof(float)));
  for (int c = 0; c < channels; c++) {
    begin(&works[c], rank, c, vector, elements);
    begin_profile(rank, &works[c], c);
  }
  bool ok = move_all(rank, works);
  for (int c = 0; c < channels; c++) {
    profile_flow_end(&works[c].sends);
    profile_flow_end(&works[c].receives);
  }
  profile_collective_end(rank->profile);
  return ok;
}

/* Small whole numbers: their sums are exact in any order. */
static float value_of(size_t element, int iteration) {
  return (float)((element * 7 + (size_t)(iteration + 1000000) * 3) % 251);
}

static void fill(const struct rank *rank, float *vector, size_t elements, int iteration) {
  for (size_t i = 0; i < elements; i++) {
    vector[i] = (float)(rank->number + 1) * value_of(i, iteration);
  }
}

static void check(struct rank *rank, const float *vector, size_t elements, int iteration) {
  float ranks = (float)rank->options->ranks;
  float factor = ranks * (ranks + 1) / 2;
  for (size_t i = 0; i < elements; i++) {
    float expected = factor * value_of(i, iteration);
    if (vector[i] != expected && rank->wrong++ == 0) {
      fail(rank->number, "element %zu of iteration %d is %g instead of %g", i, iteration, (double)vector[i],
           (double)expected);
    }
  }
}

bool run_ring(struct rank *rank) {
  size_t elements = rank->options->bytes / sizeof(float);
  float *vector = malloc(elements * sizeof(float) + sizeof(float));
  struct work *works = calloc((size_t)rank->options->channels, sizeof *works);
  if (vector == NULL || works == NULL) {
    free(vector);
    free(works);
    return fail(rank->number, "no memory for %zu bytes", rank->options->bytes);
  }
  bool ok = true;
  for (int i = -rank->options->warmup; ok && i < rank->options->iterations && !until_is_over(rank, i); i++) {
    fill(rank, vector, elements, i);
    if (i == -rank->options->warmup) {
      delay(rank, PLANT_FIRST);
    }
    if (rank->dies && i == rank->options->iterations / 2) {
      raise(SIGKILL);
    }
    double start = now();
    ok = all_reduce(rank, works, vector, elements);
    double seconds = now() - start;
    rank->seconds += i < 0 ? 0 : seconds;
    rank->rounds += i < 0 ? 0 : 1;
    print_if_long(rank, "all-reduce", i, seconds);
    if (i >= 0 && rank->round_seconds != NULL) {
      rank->round_seconds[i] = seconds;
    }
    if (ok) {
      check(rank, vector, elements, i);
    }
  }
  free(vector);
  free(works);
  return ok;
}
