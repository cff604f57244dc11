/* What connections take: to make and to close, and what the process holds for each. */
#include "bench.h"

/* The first ones, as a program that has just begun makes them, and those after a while, when compilers are done. */
bool measure_setup(struct subject *subject, const struct options *options, FILE *json) {
  static struct samples early;
  static struct samples connecting;
  static struct samples closing;
  early.count = connecting.count = closing.count = 0;
  int64_t warm = now_ns() + (int64_t)(options->setup_seconds * 1e9);
  int64_t end = warm + (int64_t)(options->setup_seconds * 1e9);
  while (connecting.count == 0 || (now_ns() < end && connecting.count < MAX_SAMPLES)) {
    struct pair pair;
    int64_t start = now_ns();
    if (!connect_pair(subject, options, &pair)) {
      return false;
    }
    int64_t connected = now_ns();
    if (!close_pair(subject, &pair)) {
      return false;
    }
    double took = (double)(connected - start) / 1e3;
    if (early.count < EARLY_CONNECTIONS) {
      add_sample(&early, took);
    }
    if (connected > warm) {
      add_sample(&connecting, took);
      add_sample(&closing, (double)(now_ns() - connected) / 1e3);
    }
  }
  begin_result(subject, json, "connect_early", subject->pair_count);
  fprintf(json, ", \"first\": %.1f", early.values[0]);
  print_samples(json, "us", &early);
  fprintf(json, "}");
  begin_result(subject, json, "connect", subject->pair_count);
  print_samples(json, "us", &connecting);
  fprintf(json, "}");
  begin_result(subject, json, "close", subject->pair_count);
  print_samples(json, "us", &closing);
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
          ", \"made\": %d, \"per_second\": %.1f, \"kib_each\": %.1f, \"descriptors_each\": %.2f, \"resident_kib\": %ld, "
          "\"descriptors\": %d, \"threads\": %d}",
          made, seconds > 0 ? made / seconds : 0, made > 0 ? (double)(after.resident_kib - before.resident_kib) / made : 0,
          made > 0 ? (double)(after.descriptors - before.descriptors) / made : 0, after.resident_kib, after.descriptors,
          after.threads);
  return true;
}
