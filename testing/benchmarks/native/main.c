/*
 * net-bench: what NCCL's calls cost with a network plugin. Both ends are in this process, on one thread, so over a
 * device that costs nothing (libibverbs.so.1 of this directory) what remains is the plugin. Several plugins are
 * measured in turns, in one run. Prints one JSON object.
 */
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "host.h"

static const char usage[] =
    "net-bench --plugin PATH [options]: what NCCL's calls cost with a network plugin, both ends in one process\n"
    "  --plugin PATH          a plugin; again for another, measured in turns with it; \"harness\" does nothing\n"
    "  --sizes N,...          of the messages, in bytes (default 8,1024,65536)\n"
    "  --comms N,...          connections that are open and used in turns, ascending (default 1)\n"
    "  --window N             messages on their way at a time, 1 to 8, beside 1 (default 8)\n"
    "  --samples N            of each figure (default 301)\n"
    "  --sample-seconds X     how long a sample takes (default 0.001: shorter than a scheduler's slice)\n"
    "  --test-seconds X       how long messages of the first size move, with each test() timed by itself (default 1)\n"
    "  --warmup-seconds X     before each figure (default 1)\n"
    "  --setup-seconds X      warm connections are timed for so long, or 1000 of them (default 10); until they are\n"
    "                         warm, at most six times as long, they are made in spans of a fifth of that\n"
    "  --device NAME          of the plugin's devices the one of that name, else the first\n"
    "  --cpu N                binds the measuring thread to a processor\n"
    "  --token FOLDER         measures one connection alone, while the others are open and rest, in turns with\n"
    "                         another net-bench that has the same folder and --comms\n"
    "  --begins               in one of these two: it has the least connections, and the first turn; the other has\n"
    "                         the most\n"
    "  --timeout SECONDS      for every wait (default 60)\n"
    "  --jvm-log FILE         where -Xlog:safepoint,gc:file=FILE:tn writes, to read the pauses from\n"
    "  --json FILE            instead of stdout\n";

static bool numbers(const char *text, long min, long max, int most, long *values, int *count) {
  *count = 0;
  do {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || value < min || value > max || *count == most) {
      fprintf(stderr, "net-bench: %s: needs up to %d numbers from %ld to %ld, separated by commas\n", text, most, min,
              max);
      return false;
    }
    values[(*count)++] = value;
    text = *end == ',' ? end + 1 : NULL;
  } while (text != NULL);
  return true;
}

static bool seconds(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (end != text && *end == '\0' && *value >= 0 && *value <= 3600) {
    return true;
  }
  fprintf(stderr, "net-bench: %s is not a number of seconds from 0 to 3600\n", text);
  return false;
}

static bool set_list(struct options *options, int option, const char *text) {
  long values[MAX_SIZES];
  int count;
  bool sizes = option == 's';
  if (!numbers(text, sizes ? 0 : 1, sizes ? 1L << 30 : 32768, MAX_SIZES, values, &count)) {
    return false;
  }
  for (int i = 0; i < count; i++) {
    if (sizes) {
      options->sizes[i] = (size_t)values[i];
    } else {
      options->comm_counts[i] = (int)values[i];
    }
  }
  *(sizes ? &options->size_count : &options->comm_count_count) = count;
  return true;
}

static bool set_number(const char *text, long min, long max, int *value) {
  long number;
  int count;
  bool ok = numbers(text, min, max, 1, &number, &count);
  *value = ok ? (int)number : *value;
  return ok;
}

static bool set(struct options *options, int option, const char *text) {
  switch (option) {
  case 'p':
    if (options->plugin_count == MAX_PLUGINS) {
      fprintf(stderr, "net-bench: at most %d plugins\n", MAX_PLUGINS);
      return false;
    }
    options->plugins[options->plugin_count++] = text;
    return true;
  case 's':
  case 'c': return set_list(options, option, text);
  case 'w': return set_number(text, 1, MAX_WINDOW, &options->window);
  case 'n': return set_number(text, 1, MAX_SAMPLES, &options->samples);
  case 't': return set_number(text, 1, 86400, &options->timeout_seconds);
  case 'u': return set_number(text, 0, CPU_SETSIZE - 1, &options->cpu);
  case 'S': return seconds(text, &options->sample_seconds);
  case 'W': return seconds(text, &options->warmup_seconds);
  case 'C': return seconds(text, &options->setup_seconds);
  case 'D': return seconds(text, &options->distribution_seconds);
  case 'd': options->device = text; return true;
  case 'k': options->token = text; return true;
  case 'b': options->begins = true; return true;
  case 'j': options->json = text; return true;
  case 'l': options->jvm_log = text; return true;
  default: fputs(usage, stderr); return false;
  }
}

bool parse_options(struct options *options, int argc, char **argv) {
  static const struct option long_options[] = {
      {"plugin", required_argument, NULL, 'p'},         {"sizes", required_argument, NULL, 's'},
      {"comms", required_argument, NULL, 'c'},          {"window", required_argument, NULL, 'w'},
      {"samples", required_argument, NULL, 'n'},        {"sample-seconds", required_argument, NULL, 'S'},
      {"warmup-seconds", required_argument, NULL, 'W'}, {"setup-seconds", required_argument, NULL, 'C'},
      {"device", required_argument, NULL, 'd'},         {"cpu", required_argument, NULL, 'u'},
      {"test-seconds", required_argument, NULL, 'D'},   {"token", required_argument, NULL, 'k'},
      {"begins", no_argument, NULL, 'b'},
      {"timeout", required_argument, NULL, 't'},        {"jvm-log", required_argument, NULL, 'l'},
      {"json", required_argument, NULL, 'j'},           {NULL, 0, NULL, 0},
  };
  *options = (struct options){.sizes = {8, 1024, 65536}, .size_count = 3, .comm_counts = {1}, .comm_count_count = 1,
                              .samples = 301, .sample_seconds = 0.001, .warmup_seconds = 1, .distribution_seconds = 1,
                              .setup_seconds = 10, .window = 8, .timeout_seconds = 60, .cpu = -1};
  int option;
  while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
    if (!set(options, option, optarg)) {
      return false;
    }
  }
  if (options->plugin_count == 0 || optind < argc) {
    fputs("net-bench: needs --plugin\n", stderr);
    fputs(usage, stderr);
    return false;
  }
  for (int i = 1; i < options->comm_count_count; i++) {
    if (options->comm_counts[i] <= options->comm_counts[i - 1]) {
      fputs("net-bench: --comms must ascend\n", stderr);
      return false;
    }
  }
  return true;
}

static bool allocate_buffers(const struct options *options) {
  buffer_bytes = 4096;
  for (int i = 0; i < options->size_count; i++) {
    buffer_bytes = options->sizes[i] > buffer_bytes ? options->sizes[i] : buffer_bytes;
  }
  buffer_bytes = (buffer_bytes + 4095) & ~4095UL;
  send_buffer = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  receive_buffer = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return (send_buffer != MAP_FAILED && receive_buffer != MAP_FAILED) || fail(0, "no memory for the messages");
}

/*
 * Beside a run with another number of connections: of those that were asked for the first has the least, the other the
 * most.
 */
static bool measure_one_of_many(const struct options *options, struct subject *subjects, FILE *json[]) {
  int comms = options->comm_counts[options->begins ? 0 : options->comm_count_count - 1];
  bool ok = true;
  for (int s = 0; ok && s < options->plugin_count; s++) {
    ok = subject_grow(&subjects[s], options, comms);
  }
  return ok && measure_in_turns(subjects, options->plugin_count, options, comms, json);
}

static bool measure(const struct options *options, struct subject *subjects, FILE *json[], int64_t *from, int64_t *to) {
  int count = options->plugin_count;
  bool ok = true;
  *from = INT64_MAX;
  for (int c = 0; ok && c < options->comm_count_count; c++) {
    int comms = options->comm_counts[c];
    for (int s = 0; ok && s < count; s++) {
      if (c == 0) {
        ok = measure_first_messages(&subjects[s], options, json[s]) && measure_setup(&subjects[s], options, json[s]);
      }
      ok = ok && measure_growth(&subjects[s], options, comms, json[s]);
    }
    ok = ok && measure_data_path(subjects, count, options, comms, json);
    /* by now everything is compiled; from here on a pause is one that a user would see */
    *from = *from == INT64_MAX ? now_ns() : *from;
    for (int s = 0; ok && s < count; s++) {
      ok = measure_test_distribution(&subjects[s], options, comms, json[s]);
    }
  }
  *to = now_ns();
  return ok;
}

static bool print_report(const struct options *options, const struct subject *subjects, char *results[], int64_t from,
                         int64_t to) {
  FILE *json = options->json == NULL ? stdout : fopen(options->json, "w");
  if (json == NULL) {
    return fail(0, "cannot write %s", options->json);
  }
  fprintf(json, "{\"benchmark\": \"net-bench\", \"machine\": ");
  print_machine(json);
  fprintf(json, ", \"rdma_drivers\": ");
  print_rdma_drivers(json);
  fprintf(json, ",\n \"samples\": %d, \"sample_seconds\": %g, \"warmup_seconds\": %g, \"plugins\": [", options->samples,
          options->sample_seconds, options->warmup_seconds);
  for (int s = 0; s < options->plugin_count; s++) {
    fprintf(json, "%s\n  {\"path\": ", s == 0 ? "" : ",");
    print_string(json, subjects[s].path);
    fprintf(json, ", \"name\": ");
    print_string(json, net_name(&subjects[s].net));
    fprintf(json, ", \"api\": %d, \"init_seconds\": %.3f, \"results\": [%s]}", subjects[s].net.api,
            subjects[s].init_seconds, results[s]);
  }
  fprintf(json, "]");
  if (options->jvm_log != NULL) {
    fprintf(json, ",\n \"jvm\": ");
    print_jvm_pauses(json, options->jvm_log, from, to);
  }
  fprintf(json, "}\n");
  return fflush(json) == 0 && (json == stdout || fclose(json) == 0);
}

int main(int argc, char **argv) {
  struct options options;
  static struct subject subjects[MAX_PLUGINS];
  FILE *json[MAX_PLUGINS] = {NULL};
  char *results[MAX_PLUGINS] = {NULL};
  size_t lengths[MAX_PLUGINS];
  int64_t from;
  int64_t to;
  thread_rank = 0;
  if (!parse_options(&options, argc, argv)) {
    return 2;
  }
  bool ok = allocate_buffers(&options);
  for (int s = 0; ok && s < options.plugin_count; s++) {
    json[s] = open_memstream(&results[s], &lengths[s]);
    ok = json[s] != NULL && subject_open(&subjects[s], &options, options.plugins[s]);
  }
  if (ok && options.cpu >= 0) { /* after the JVM's threads were made, which would inherit it */
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(options.cpu, &set);
    ok = sched_setaffinity(0, sizeof set, &set) == 0 || fail(0, "cannot run on processor %d", options.cpu);
  }
  if (ok && options.token != NULL) {
    from = now_ns();
    ok = measure_one_of_many(&options, subjects, json);
    to = now_ns();
  } else {
    ok = ok && measure(&options, subjects, json, &from, &to);
  }
  for (int s = 0; ok && s < options.plugin_count; s++) {
    fclose(json[s]);
    ok = subject_close(&subjects[s]);
  }
  return ok && print_report(&options, subjects, results, from, to) ? 0 : 1;
}
