/* What is asked of a plugin. All on one thread, which is NCCL's service and progress thread of both ends. */
#include <string.h>

#include "calls.h"
#include "turns.h"

enum { MAX_FIGURES = 2 * MAX_SIZES };

/* What one timed stretch does, and how often. */
struct question {
  const struct options *options;
  int open;  /* connections */
  int comms; /* of these, so many are used in turns */
  size_t size;
  int window;
  uint64_t next; /* which turn is next */
  int *turns;    /* whose it is */
  const struct token *token; /* if another run's rounds come between; or NULL */
};

static int *turns_of(int comms) {
  static int turns[MAX_COMMS];
  shuffle(turns, comms);
  return turns;
}

typedef bool (*stretch)(struct subject *subject, struct question *question, long count);

static inline struct pair *next_pair(struct subject *subject, struct question *question) {
  if (++question->next >= (uint64_t)question->comms) {
    question->next = 0;
  }
  return &subject->pairs[question->turns[question->next]];
}

static bool move_messages(struct subject *subject, struct question *question, long count) {
  void *sends[MAX_WINDOW];
  void *receives[MAX_WINDOW];
  int window = question->window;
  int size = 0;
  for (long done = 0; done < count; done += window) {
    struct patience patience = {.deadline = 0};
    struct pair *pair = next_pair(subject, question);
    patience.deadline = INT64_MAX;
    for (int i = 0; i < window; i++) {
      if (!post_receive(subject, pair, question->size, &receives[i], &patience)) {
        return false;
      }
    }
    for (int i = 0; i < window; i++) {
      if (!post_send(subject, pair, question->size, &sends[i], &patience)) {
        return false;
      }
    }
    for (int i = 0; i < window; i++) {
      if (!finish(subject, receives[i], &patience, &size) || !finish(subject, sends[i], &patience, NULL)) {
        return false;
      }
    }
  }
  return true;
}

/* Beside the timed ones: does every byte arrive? */
static bool check_message(struct subject *subject, struct question *question, unsigned char pattern) {
  struct patience patience = patience_of(question->options);
  struct pair *pair = next_pair(subject, question);
  void *receive;
  void *send;
  int size = -1;
  for (size_t i = 0; i < question->size; i++) {
    send_buffer[i] = (char)(pattern + i * 7);
  }
  memset(receive_buffer, ~pattern, question->size);
  if (!post_receive(subject, pair, question->size, &receive, &patience) ||
      !post_send(subject, pair, question->size, &send, &patience) ||
      !finish(subject, receive, &patience, &size) || !finish(subject, send, &patience, NULL)) {
    return false;
  }
  if (memcmp(send_buffer, receive_buffer, question->size) != 0 || (size_t)size != question->size) {
    return fail(0, "%s: a message of %zu bytes arrived as %d bytes, or other ones", subject->path, question->size,
                size);
  }
  return true;
}

static void *pending[MAX_COMMS];

static bool test_empty(struct subject *subject, struct question *question, long count) {
  for (long i = 0; i < count; i++) {
    if (++question->next >= (uint64_t)question->comms) {
      question->next = 0;
    }
    int done = 0;
    int size;
    int result = net_test(&subject->net, pending[question->turns[question->next]], &done, &size);
    if (__builtin_expect(result != NCCL_SUCCESS || done != 0, 0)) {
      return gives_up(subject, "test of a receive that nothing was sent to: is done", result);
    }
  }
  return true;
}

static bool send_without_credit(struct subject *subject, struct question *question, long count) {
  for (long i = 0; i < count; i++) {
    struct pair *pair = next_pair(subject, question);
    void *request = NULL;
    int result =
        net_isend(&subject->net, pair->send_comm, send_buffer, question->size, TAG, pair->send_memory, &request);
    if (__builtin_expect(result != NCCL_SUCCESS || request != NULL, 0)) {
      return gives_up(subject, "isend without a receive: is on its way", result);
    }
  }
  return true;
}

static bool count_devices(struct subject *subject, struct question *question, long count) {
  (void)question;
  for (long i = 0; i < count; i++) {
    int devices;
    int result = net_devices(&subject->net, &devices);
    if (__builtin_expect(result != NCCL_SUCCESS, 0)) {
      return gives_up(subject, "devices", result);
    }
  }
  return true;
}

static bool post_pending(struct subject *subject, struct question *question) {
  struct patience patience = patience_of(question->options);
  for (int i = 0; i < question->comms; i++) {
    if (!post_receive(subject, &subject->pairs[i], question->size, &pending[i], &patience)) {
      return false;
    }
  }
  return true;
}

static bool finish_pending(struct subject *subject, struct question *question) {
  struct patience patience = patience_of(question->options);
  for (int i = 0; i < question->comms; i++) {
    void *send;
    int size;
    if (!post_send(subject, &subject->pairs[i], question->size, &send, &patience) ||
        !finish(subject, pending[i], &patience, &size) || !finish(subject, send, &patience, NULL)) {
      return false;
    }
  }
  return true;
}

/* Runs it for some time. Elapsed nanoseconds per count, and those of this thread on a processor; false: it failed. */
static bool run_for(stretch run, struct subject *subject, struct question *question, double seconds, double *elapsed,
                    double *processor) {
  int64_t on_processor = thread_ns();
  int64_t start = now_ns();
  int64_t end = start + (int64_t)(seconds * 1e9);
  long total = 0;
  long chunk = 8L * question->window;
  int64_t now;
  do {
    if (!run(subject, question, chunk)) {
      return false;
    }
    total += chunk;
    now = now_ns();
    if (now - start < (end - start) / 16) {
      chunk *= 2;
    }
  } while (now < end);
  *elapsed = (double)(now - start) / (double)total;
  *processor = (double)(thread_ns() - on_processor) / (double)total;
  return true;
}

/* A figure: what is asked, and how. */
struct figure {
  const char *name;
  stretch run;
  bool uses_pending;
  bool has_size;
  struct question question;
};

/* One sample of a subject; the times are for each count. */
static bool take_sample(struct figure *figure, struct subject *subject, double seconds, unsigned char pattern,
                        double *elapsed, double *processor) {
  struct question *question = &figure->question;
  return (!figure->uses_pending || post_pending(subject, question)) &&
         run_for(figure->run, subject, question, seconds, elapsed, processor) &&
         (!figure->uses_pending || finish_pending(subject, question)) &&
         (!figure->has_size || check_message(subject, question, pattern));
}

static void print_figure(struct figure *figure, struct subject *subject, struct samples *elapsed,
                         struct samples *processor, FILE *json) {
  begin_result(subject, json, figure->name, figure->question.open);
  if (figure->has_size) {
    fprintf(json, ", \"bytes\": %zu, \"window\": %d", figure->question.size, figure->question.window);
  }
  fprintf(json, ", \"processor_median\": %.2f", median(processor));
  print_samples(json, "ns", elapsed);
  fprintf(json, "}");
}

/* Samples of all figures and subjects in turns, so that what else the machine does, and its clock, meet them alike. */
static bool sample_all(struct figure *figures, int figure_count, struct subject *subjects, int count, FILE *json[]) {
  static struct samples samples[MAX_FIGURES][MAX_PLUGINS];
  static struct samples processor_samples[MAX_FIGURES][MAX_PLUGINS];
  const struct options *options = figures[0].question.options;
  const struct token *token = figures[0].question.token;
  for (int f = 0; f < figure_count; f++) {
    for (int s = 0; s < count; s++) {
      samples[f][s].count = processor_samples[f][s].count = 0;
    }
  }
  for (int i = -1; i < options->samples; i++) {
    double seconds = i < 0 ? options->warmup_seconds : options->sample_seconds;
    if (token != NULL && !token_await(token, options->timeout_seconds)) {
      return false;
    }
    for (int f = 0; f < figure_count; f++) {
      for (int s = 0; s < count; s++) {
        double elapsed = 0;
        double processor = 0;
        if (!take_sample(&figures[f], &subjects[s], seconds, (unsigned char)(i + 1), &elapsed, &processor)) {
          return false;
        }
        if (i >= 0) {
          add_sample(&samples[f][s], elapsed);
          add_sample(&processor_samples[f][s], processor);
        }
      }
    }
    if (token != NULL && !token_pass(token)) {
      return false;
    }
  }
  for (int f = 0; f < figure_count; f++) {
    for (int s = 0; s < count; s++) {
      print_figure(&figures[f], &subjects[s], &samples[f][s], &processor_samples[f][s], json[s]);
    }
  }
  return true;
}

static bool sample(const char *name, stretch run, struct subject *subjects, int count, const struct question *question,
                   FILE *json[], bool uses_pending, bool has_size) {
  struct figure figure = {name, run, uses_pending, has_size, *question};
  return sample_all(&figure, 1, subjects, count, json);
}

/*
 * Whether a plugin takes a message before its receive is there, as over software links: then there is no isend that has
 * to wait for one. Moves a message if so.
 */
static bool find_eager(struct subject *subject, const struct question *question, bool *eager) {
  struct patience patience = patience_of(question->options);
  struct pair *pair = &subject->pairs[0];
  void *sent = NULL;
  void *received = NULL;
  int size;
  int result = net_isend(&subject->net, pair->send_comm, send_buffer, question->size, TAG, pair->send_memory, &sent);
  *eager = sent != NULL;
  if (result != NCCL_SUCCESS) {
    return gives_up(subject, "isend without a receive", result);
  }
  if (*eager) {
    fprintf(stderr, "%s takes messages before their receives: isend_without_receive is not measured\n", subject->path);
  }
  return !*eager || (post_receive(subject, pair, question->size, &received, &patience) &&
                     finish(subject, received, &patience, &size) && finish(subject, sent, &patience, NULL));
}

/* What one connection costs while others are open and at rest. */
static bool measure_one(struct subject *subjects, int count, const struct options *options, int comms,
                        const struct token *token, FILE *json[]) {
  static int first[] = {0};
  struct question question = {.options = options, .open = comms, .comms = 1, .turns = first, .size = options->sizes[0],
                              .window = 1, .token = token};
  return sample("test_empty_of_one", test_empty, subjects, count, &question, json, true, false) &&
         sample("message_of_one", move_messages, subjects, count, &question, json, false, true);
}

/* Messages of all sizes, one at a time and several. */
static bool measure_messages(struct subject *subjects, int count, const struct question *question, FILE *json[]) {
  static struct figure figures[MAX_FIGURES];
  const struct options *options = question->options;
  int windows[] = {1, options->window};
  int figure_count = 0;
  for (int i = 0; i < options->size_count; i++) {
    for (int w = 0; w < (options->window > 1 ? 2 : 1); w++) {
      struct figure *figure = &figures[figure_count++];
      *figure = (struct figure){"message", move_messages, false, true, *question};
      figure->question.size = options->sizes[i];
      figure->question.window = windows[w];
    }
  }
  return sample_all(figures, figure_count, subjects, count, json);
}

bool measure_in_turns(struct subject *subjects, int count, const struct options *options, int comms, FILE *json[]) {
  struct token token;
  bool ok = token_open(&token, options) && measure_one(subjects, count, options, comms, &token, json);
  token_close(&token);
  return ok;
}

bool measure_data_path(struct subject *subjects, int count, const struct options *options, int comms, FILE *json[]) {
  struct question question = {.options = options, .open = comms, .comms = comms, .turns = turns_of(comms), .size = 8,
                              .window = 1};
  if (!sample("devices", count_devices, subjects, count, &question, json, false, false) ||
      !sample("test_empty", test_empty, subjects, count, &question, json, true, false)) {
    return false;
  }
  if (comms > 1 && !measure_one(subjects, count, options, comms, NULL, json)) {
    return false;
  }
  bool any_eager = false;
  for (int s = 0; s < count; s++) {
    bool eager;
    if (!find_eager(&subjects[s], &question, &eager)) {
      return false;
    }
    any_eager |= eager;
  }
  if (!any_eager &&
      !sample("isend_without_receive", send_without_credit, subjects, count, &question, json, false, false)) {
    return false;
  }
  return measure_messages(subjects, count, &question, json);
}

/* Microseconds of a message on average, of those behind one and up to another, by when each has ended. */
static double mean_us(const int64_t *ends, int behind, int last) {
  return (double)(ends[last] - ends[behind]) / 1e3 / (last - behind);
}

bool measure_first_messages(struct subject *subject, const struct options *options, FILE *json) {
  enum { FEW = 10, SOME = 100, MANY = 1000, WARM = 10 * MANY };
  static int64_t ends[WARM + 1];
  static int first[] = {0};
  struct question question = {.options = options, .open = 1, .comms = 1, .turns = first, .size = 8, .window = 1};
  double ignored;
  if (!subject_grow(subject, options, 1)) {
    return false;
  }
  ends[0] = now_ns();
  for (int i = 1; i <= MANY; i++) {
    if (!move_messages(subject, &question, 1)) {
      return false;
    }
    ends[i] = now_ns();
  }
  begin_result(subject, json, "first_messages", 1);
  fprintf(json, ", \"bytes\": 8, \"unit\": \"us\", \"first\": %.2f, \"from_2\": %.3f, \"from_11\": %.3f, "
          "\"from_101\": %.3f",
          mean_us(ends, 0, 1), mean_us(ends, 1, FEW), mean_us(ends, FEW, SOME), mean_us(ends, SOME, MANY));
  if (!run_for(move_messages, subject, &question, options->warmup_seconds, &ignored, &ignored)) {
    return false;
  }
  ends[0] = now_ns();
  for (int i = 1; i <= WARM; i++) {
    if (!move_messages(subject, &question, 1)) {
      return false;
    }
    ends[i] = now_ns();
  }
  fprintf(json, ", \"warm\": %.3f}", mean_us(ends, 0, WARM));
  return subject_shrink(subject, 0);
}
