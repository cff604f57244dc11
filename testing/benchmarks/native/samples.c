/* Numbers, and how they are printed. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t thread_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void add_sample(struct samples *samples, double value) {
  if (samples->count < MAX_SAMPLES) {
    samples->values[samples->count++] = value;
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double q) {
  double at = q * (count - 1);
  int below = (int)at;
  double share = at - below;
  return below + 1 < count ? sorted[below] * (1 - share) + sorted[below + 1] * share : sorted[below];
}

static int sort(const struct samples *samples, double sorted[MAX_SAMPLES]) {
  memcpy(sorted, samples->values, sizeof(double) * (size_t)samples->count);
  qsort(sorted, (size_t)samples->count, sizeof sorted[0], compare);
  return samples->count;
}

double median(const struct samples *samples) {
  double sorted[MAX_SAMPLES];
  return quantile(sorted, sort(samples, sorted), 0.5);
}

void print_string(FILE *json, const char *text) {
  fputc('"', json);
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') {
      fprintf(json, "\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      fprintf(json, "\\u%04x", *text);
    } else {
      fputc(*text, json);
    }
  }
  fputc('"', json);
}

void begin_result(struct subject *subject, FILE *json, const char *question, int comms) {
  fprintf(json, "%s\n    {\"question\": \"%s\", \"comms\": %d", subject->first_result ? "" : ",", question, comms);
  subject->first_result = false;
}

void print_samples(FILE *json, const char *unit, struct samples *samples) {
  double sorted[MAX_SAMPLES];
  sort(samples, sorted);
  fprintf(json, ", \"unit\": \"%s\", \"median\": %.2f, \"min\": %.2f, \"p10\": %.2f, \"p90\": %.2f, \"max\": %.2f",
          unit, quantile(sorted, samples->count, 0.5), sorted[0], quantile(sorted, samples->count, 0.1),
          quantile(sorted, samples->count, 0.9), sorted[samples->count - 1]);
  fprintf(json, ", \"samples\": [");
  for (int i = 0; i < samples->count; i++) {
    fprintf(json, "%s%.2f", i == 0 ? "" : ", ", samples->values[i]);
  }
  fprintf(json, "]");
}

void histogram_add(struct histogram *histogram, uint64_t ns) {
  unsigned bucket;
  if (ns < 32) {
    bucket = (unsigned)ns;
  } else {
    int shift = 58 - __builtin_clzll(ns); /* keeps 6 bits, the highest of which is set */
    bucket = (unsigned)(shift + 1) * 32 + (unsigned)(ns >> shift) - 32;
  }
  histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
  histogram->count++;
  histogram->max = ns > histogram->max ? ns : histogram->max;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent) {
  uint64_t rank = (uint64_t)ceil((double)histogram->count * percent / 100);
  uint64_t seen = 0;
  for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
    seen += histogram->buckets[bucket];
    if (seen >= rank && seen > 0) {
      return bucket < 64 ? bucket : (uint64_t)(32 + bucket % 32) << (bucket / 32 - 1);
    }
  }
  return histogram->max;
}

struct footprint footprint_now(void) {
  struct footprint footprint = {0};
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    (void)sscanf(line, "VmRSS: %ld", &footprint.resident_kib);
    (void)sscanf(line, "Threads: %d", &footprint.threads);
  }
  if (status != NULL) {
    fclose(status);
  }
  DIR *descriptors = opendir("/proc/self/fd");
  while (descriptors != NULL && readdir(descriptors) != NULL) {
    footprint.descriptors++;
  }
  if (descriptors != NULL) {
    closedir(descriptors);
    footprint.descriptors -= 3; /* ".", ".." and the directory's own */
  }
  return footprint;
}

/* Of one thread, if it is a compiler's. */
static double compiler_seconds_of(const char *thread) {
  char path[300];
  char line[512] = "";
  unsigned long user = 0;
  unsigned long system = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *stat = fopen(path, "r");
  if (stat == NULL) {
    return 0; /* it has ended */
  }
  bool read = fgets(line, sizeof line, stat) != NULL;
  fclose(stat);
  const char *rest = strrchr(line, ')');
  bool compiler = strstr(line, "(C1 Compiler") != NULL || strstr(line, "(C2 Compiler") != NULL;
  if (!read || !compiler || rest == NULL ||
      sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
    return 0;
  }
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double compiler_seconds(void) {
  double seconds = 0;
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
    if (entry->d_name[0] != '.') {
      seconds += compiler_seconds_of(entry->d_name);
    }
  }
  if (threads != NULL) {
    closedir(threads);
  }
  return seconds;
}

void print_machine(FILE *json) {
  char line[256];
  char model[256] = "unknown";
  FILE *cpus = fopen("/proc/cpuinfo", "r");
  while (cpus != NULL && fgets(line, sizeof line, cpus) != NULL) {
    if (sscanf(line, "model name : %255[^\n]", model) == 1) {
      break;
    }
  }
  if (cpus != NULL) {
    fclose(cpus);
  }
  struct utsname system;
  double load[3] = {0};
  uname(&system);
  (void)getloadavg(load, 3);
  fprintf(json, "{\"processor\": ");
  print_string(json, model);
  fprintf(json, ", \"cores\": %ld, \"kernel\": ", sysconf(_SC_NPROCESSORS_ONLN));
  print_string(json, system.release);
  fprintf(json, ", \"load\": %.2f}", load[0]);
}

/* By the kernel driver of a device Trigon decides whether its data verbs enter the kernel. */
void print_rdma_drivers(FILE *json) {
  fprintf(json, "{");
  DIR *devices = opendir("/sys/class/infiniband");
  bool first = true;
  for (struct dirent *entry; devices != NULL && (entry = readdir(devices)) != NULL;) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    char path[512];
    char driver[4096];
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/driver", entry->d_name);
    bool known = realpath(path, driver) != NULL;
    fprintf(json, "%s\"%s\": ", first ? "" : ", ", entry->d_name);
    print_string(json, known ? strrchr(driver, '/') + 1 : "none");
    first = false;
  }
  if (devices != NULL) {
    closedir(devices);
  }
  fprintf(json, "}");
}

/* Whether a line tells of a pause: when it ended, and how long it was. */
static bool is_pause(const char *line, long long *at, long long *total) {
  const char *tail = strstr(line, "Total: ");
  return tail != NULL && sscanf(line, "[%lldns]", at) == 1 && sscanf(tail, "Total: %lld ns", total) == 1;
}

void print_jvm_pauses(FILE *json, const char *log, int64_t from_ns, int64_t to_ns) {
  char line[1024];
  long long at;
  long long total;
  long long longest = 0;
  long long longest_measured = 0;
  int count = 0;
  int count_measured = 0;
  int collections = 0;
  int collections_measured = 0;
  FILE *file = fopen(log, "r");
  if (file == NULL) {
    fprintf(json, "null");
    return;
  }
  while (fgets(line, sizeof line, file) != NULL) {
    if (is_pause(line, &at, &total)) {
      bool measured = at >= from_ns && at - total <= to_ns;
      count++;
      count_measured += measured;
      longest = total > longest ? total : longest;
      longest_measured = measured && total > longest_measured ? total : longest_measured;
    } else if (strstr(line, "] GC(") != NULL && strstr(line, " Pause ") != NULL && sscanf(line, "[%lldns]", &at) == 1) {
      collections++;
      collections_measured += at >= from_ns && at <= to_ns;
    }
  }
  fclose(file);
  fprintf(json,
          "{\"pauses\": %d, \"longest_ns\": %lld, \"collections\": %d, \"pauses_while_measuring\": %d, "
          "\"longest_while_measuring_ns\": %lld, \"collections_while_measuring\": %d}",
          count, longest, collections, count_measured, longest_measured, collections_measured);
}
