/* Every test() call by itself, at the rate that all calls of the data path allow: nothing is averaged away. */
#include <string.h>

#include "calls.h"
#include "ticks.h"
#include "turns.h"

static double ns_per_tick(void) {
  int64_t start = now_ns();
  uint64_t ticks = ticks_now();
  while (now_ns() - start < 50000000) {
  }
  return (double)(now_ns() - start) / (double)(ticks_now() - ticks);
}

/* What NCCL does between a receive and its data's use; a plugin may have nothing to do. */
static bool flush(struct subject *subject, struct pair *pair, size_t size, struct patience *patience) {
  void *data = receive_buffer;
  int bytes = (int)size;
  void *request = NULL;
  int result =
      net_iflush(&subject->net, pair->receive_comm, 1, &data, &bytes, &pair->receive_memory, &request);
  if (__builtin_expect(result != NCCL_SUCCESS, 0)) {
    return gives_up(subject, "iflush", result);
  }
  return request == NULL || finish(subject, request, patience, NULL);
}

/* Each test() call by itself: those that find nothing, 8 at most, or those until it is done. */
static bool time_tests(struct subject *subject, void *request, bool expect_done, double tick,
                       struct histogram *histogram) {
  struct patience patience = {.deadline = INT64_MAX};
  int done = 0;
  int size;
  for (int calls = 0; expect_done ? !done : calls < 8; calls++) {
    uint64_t before = ticks_now();
    int result = net_test(&subject->net, request, &done, &size);
    uint64_t after = ticks_now();
    histogram_add(histogram, (uint64_t)((double)(after - before) * tick));
    if (result != NCCL_SUCCESS || (done && !expect_done)) {
      return gives_up(subject, "test", result);
    }
    if (expect_done && !done && !wait_more(&patience)) {
      return gives_up(subject, "test", result);
    }
  }
  return true;
}

/* All calls of the data path at the rate that they allow, and every test() by itself: nothing is averaged away. */
bool measure_test_distribution(struct subject *subject, const struct options *options, int comms, FILE *json) {
  static struct histogram histogram;
  static int turns[MAX_COMMS];
  size_t size = options->sizes[0];
  int next = 0;
  double tick = ns_per_tick();
  int64_t start = now_ns();
  double seconds = options->distribution_seconds;
  /* what the harness costs shows in a second */
  int64_t end = start + (int64_t)((is_harness(subject->path) && seconds > 1 ? 1 : seconds) * 1e9);
  uint64_t messages = 0;
  shuffle(turns, comms);
  memset(&histogram, 0, sizeof histogram);
  while (messages % 256 != 0 || now_ns() < end) {
    struct patience patience = {.deadline = INT64_MAX};
    next = next + 1 < comms ? next + 1 : 0;
    struct pair *pair = &subject->pairs[turns[next]];
    void *receive;
    void *send;
    if (!post_receive(subject, pair, size, &receive, &patience) ||
        !time_tests(subject, receive, false, tick, &histogram) ||
        !post_send(subject, pair, size, &send, &patience) ||
        !time_tests(subject, receive, true, tick, &histogram) || !finish(subject, send, &patience, NULL) ||
        !flush(subject, pair, size, &patience)) {
      return false;
    }
    messages++;
  }
  begin_result(subject, json, "test_call", comms);
  fprintf(json, ", \"unit\": \"ns\", \"seconds\": %.2f, \"messages\": %llu, \"calls\": %llu",
          (double)(now_ns() - start) / 1e9, (unsigned long long)messages, (unsigned long long)histogram.count);
  static const struct {
    const char *name;
    double percent;
  } wanted[] = {{"p50", 50}, {"p99", 99}, {"p99_9", 99.9}, {"p99_99", 99.99}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    fprintf(json, ", \"%s\": %llu", wanted[i].name,
            (unsigned long long)histogram_percentile(&histogram, wanted[i].percent));
  }
  fprintf(json, ", \"max\": %llu}", (unsigned long long)histogram.max);
  return true;
}
