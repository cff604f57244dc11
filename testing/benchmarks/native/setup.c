/* What connections take: to make and to close, and what the process holds for each. */
#include "bench.h"

/* Connections are made in spans of a fifth of --setup-seconds. They are warm when the last of these were no faster than
 * those before, but for so much, and compilers took no more than so much of a processor; that may take half a minute.
 * Or when that has not come about in so many spans. */
enum { SPANS_OF_SETUP = 5, SPANS_ALIKE = 3, MAX_SPANS = 30 };
static const double ALIKE = 0.95;
static const double COMPILERS = 0.1;

struct setup {
  struct samples early; /* the first ones, as a program that has just begun makes them */
  double span_medians[MAX_SPANS];
  int spans;
  double compiling; /* what compilers took of a processor in the last of them */
  struct samples connecting;
  struct samples closing;
};

/* Makes one and closes it. */
static bool connect_once(struct subject *subject, const struct options *options, struct samples *connecting,
                         struct samples *closing) {
  struct pair pair;
  int64_t start = now_ns();
  if (!connect_pair(subject, options, &pair)) {
    return false;
  }
  int64_t connected = now_ns();
  if (!close_pair(subject, &pair)) {
    return false;
  }
  add_sample(connecting, (double)(connected - start) / 1e3);
  add_sample(closing, (double)(now_ns() - connected) / 1e3);
  return true;
}

static double least(const double *values, int count) {
  double found = values[0];
  for (int i = 1; i < count; i++) {
    found = values[i] < found ? values[i] : found;
  }
  return found;
}

static bool is_warm(const struct setup *setup) {
  int before = setup->spans - SPANS_ALIKE;
  return before > 0 && setup->compiling < COMPILERS &&
         least(setup->span_medians + before, SPANS_ALIKE) > ALIKE * least(setup->span_medians, before);
}

/* One after the other for so long, or until there are so many samples; at least one. */
static bool connect_for(struct subject *subject, const struct options *options, double seconds,
                        struct samples *connecting, struct samples *closing, bool until_full) {
  int64_t end = now_ns() + (int64_t)(seconds * 1e9);
  connecting->count = closing->count = 0;
  do {
    if (!connect_once(subject, options, connecting, closing)) {
      return false;
    }
  } while (now_ns() < end && !(until_full && connecting->count == MAX_SAMPLES));
  return true;
}

static bool measure_connections(struct subject *subject, const struct options *options, struct setup *setup) {
  setup->early.count = setup->closing.count = setup->spans = 0;
  while (setup->early.count < EARLY_CONNECTIONS) {
    if (!connect_once(subject, options, &setup->early, &setup->closing)) {
      return false;
    }
  }
  while (setup->spans < MAX_SPANS && !is_warm(setup)) {
    int64_t start = now_ns();
    double compiled = compiler_seconds();
    if (!connect_for(subject, options, options->setup_seconds / SPANS_OF_SETUP, &setup->connecting, &setup->closing,
                     false)) {
      return false;
    }
    setup->compiling = (compiler_seconds() - compiled) / ((double)(now_ns() - start) / 1e9);
    setup->span_medians[setup->spans++] = median(&setup->connecting);
  }
  return connect_for(subject, options, options->setup_seconds, &setup->connecting, &setup->closing, true);
}

bool measure_setup(struct subject *subject, const struct options *options, FILE *json) {
  static struct setup setup;
  if (!measure_connections(subject, options, &setup)) {
    return false;
  }
  begin_result(subject, json, "connect_early", subject->pair_count);
  fprintf(json, ", \"first\": %.1f", setup.early.values[0]);
  print_samples(json, "us", &setup.early);
  fprintf(json, ", \"span_seconds\": %.3f, \"span_medians\": [", options->setup_seconds / SPANS_OF_SETUP);
  for (int i = 0; i < setup.spans; i++) {
    fprintf(json, "%s%.2f", i == 0 ? "" : ", ", setup.span_medians[i]);
  }
  fprintf(json, "]}");
  begin_result(subject, json, "connect", subject->pair_count);
  print_samples(json, "us", &setup.connecting);
  fprintf(json, ", \"warm\": %s}", is_warm(&setup) ? "true" : "false");
  begin_result(subject, json, "close", subject->pair_count);
  print_samples(json, "us", &setup.closing);
  fprintf(json, "}");
  return true;
}

bool measure_growth(struct subject *subject, const struct options *options, int comms, FILE *json) {
  struct footprint before = footprint_now();
  int already = subject->pair_count;
  int64_t start = now_ns();
  if (!subject_grow(subject, options, comms)) {
    return false;
  }
  double seconds = (double)(now_ns() - start) / 1e9;
  struct footprint after = footprint_now();
  int made = comms - already;
  begin_result(subject, json, "growth", comms);
  fprintf(json,
          ", \"made\": %d, \"per_second\": %.1f, \"kib_each\": %.1f, \"descriptors_each\": %.2f, "
          "\"resident_kib\": %ld, \"descriptors\": %d, \"threads\": %d}",
          made, seconds > 0 ? made / seconds : 0,
          made > 0 ? (double)(after.resident_kib - before.resident_kib) / made : 0,
          made > 0 ? (double)(after.descriptors - before.descriptors) / made : 0, after.resident_kib, after.descriptors,
          after.threads);
  return true;
}
