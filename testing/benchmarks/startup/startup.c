/*
 * What the start of a network plugin costs: in fresh processes, one after the other, loads the plugin as NCCL does, and
 * measures dlopen, init, the first connection (to itself) and its first messages, the memory and the threads that came.
 * Knows the plugin interface and nothing else. Prints one JSON object.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl_net_abi.h"

enum { MAX_RUNS = 200, MAX_THREADS = 256, NAME = 16, TAG = 7, DEADLINE_SECONDS = 60 };

/* All of one process. */
struct figures {
  bool ok;
  double dlopen_ms, init_ms, init_cpu_ms, connect_ms;
  double rss_before_mb, rss_init_mb, rss_end_mb;
  int threads_before, threads_init, threads_end;
  double message_us[4]; /* first, second, median of 3 to 10, median of 11 to 100 */
  double steady_us;     /* median of the last half */
  double worst_us;      /* of all after the 100th */
  double rested_us;     /* the first message of the same connection after a pause as long as that before it */
  double later_connect_ms; /* of a second connection, when all is warm */
  double later_us;         /* its first message */
  char names[MAX_THREADS][NAME];
};

static const char *plugin_path;
static int runs = 5;
static int messages = 20000;
static int pause_ms;
static size_t bytes = 8;
static bool verbose;

static double now_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void logger(int level, unsigned long flags, const char *file, int line, const char *format, ...) {
  (void)flags, (void)file, (void)line;
  if (level > NCCL_LOG_WARN && !verbose) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

static double resident_mb(void) {
  char line[256];
  double kilobytes = 0;
  FILE *status = fopen("/proc/self/status", "re");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    (void)sscanf(line, "VmRSS: %lf kB", &kilobytes);
  }
  if (status != NULL) {
    fclose(status);
  }
  return kilobytes / 1024;
}

static int threads(char names[MAX_THREADS][NAME]) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  while (tasks != NULL && (task = readdir(tasks)) != NULL) {
    char path[300];
    if (task->d_name[0] == '.' || count == MAX_THREADS) {
      continue;
    }
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *comm = fopen(path, "re");
    if (comm != NULL && fgets(names[count], NAME, comm) != NULL) {
      names[count][strcspn(names[count], "\n")] = '\0';
      count++;
    }
    if (comm != NULL) {
      fclose(comm);
    }
  }
  if (tasks != NULL) {
    closedir(tasks);
  }
  return count;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts a copy. */
static double median(const double *values, int count) {
  double *sorted = malloc(sizeof *sorted * (size_t)count);
  if (sorted == NULL || count == 0) {
    free(sorted);
    return 0;
  }
  memcpy(sorted, values, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  double result = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  free(sorted);
  return result;
}

static bool fails(const char *what) {
  fprintf(stderr, "startup: %s\n", what);
  return false;
}

struct pair {
  void *send_comm, *recv_comm, *send_mhandle, *recv_mhandle;
  char *source, *target;
};

static bool connect_pair(const struct nccl_net_v12 *net, void *ctx, struct pair *pair) {
  char handle[NCCL_NET_HANDLE_BYTES] = {0};
  void *listen_comm = NULL;
  if (net->listen(ctx, 0, handle, &listen_comm) != NCCL_SUCCESS) {
    return fails("listen failed");
  }
  double deadline = now_us(CLOCK_MONOTONIC) + DEADLINE_SECONDS * 1e6;
  while (pair->send_comm == NULL || pair->recv_comm == NULL) {
    if ((pair->send_comm == NULL && net->connect(ctx, 0, handle, &pair->send_comm, NULL) != NCCL_SUCCESS) ||
        (pair->recv_comm == NULL && net->accept(listen_comm, &pair->recv_comm, NULL) != NCCL_SUCCESS)) {
      return fails("connect or accept failed");
    }
    if (now_us(CLOCK_MONOTONIC) > deadline) {
      return fails("no connection within the deadline");
    }
    usleep(100);
  }
  size_t size = bytes < 4096 ? 4096 : (bytes + 4095) & ~(size_t)4095;
  pair->source = aligned_alloc(4096, size);
  pair->target = aligned_alloc(4096, size);
  if (pair->source == NULL || pair->target == NULL) {
    return fails("no memory");
  }
  memset(pair->source, 1, size);
  memset(pair->target, 0, size);
  net->closeListen(listen_comm);
  return (net->regMr(pair->send_comm, pair->source, size, NCCL_PTR_HOST, &pair->send_mhandle) == NCCL_SUCCESS &&
          net->regMr(pair->recv_comm, pair->target, size, NCCL_PTR_HOST, &pair->recv_mhandle) == NCCL_SUCCESS) ||
         fails("regMr failed");
}

/* One message to oneself, from irecv to both requests done. */
static bool move(const struct nccl_net_v12 *net, struct pair *pair, int number) {
  void *received = NULL;
  void *sent = NULL;
  void *data = pair->target;
  int tag = TAG;
  int received_done = 0;
  int sent_done = 0;
  int size = -1;
  double deadline = now_us(CLOCK_MONOTONIC) + DEADLINE_SECONDS * 1e6;
  memcpy(pair->source, &number, sizeof number);
  if (net->irecv(pair->recv_comm, 1, &data, &bytes, &tag, &pair->recv_mhandle, NULL, &received) != NCCL_SUCCESS ||
      received == NULL) {
    return fails("irecv failed");
  }
  for (long turn = 0; !received_done || !sent_done; turn++) {
    if (sent == NULL &&
        net->isend(pair->send_comm, pair->source, bytes, tag, pair->send_mhandle, NULL, &sent) != NCCL_SUCCESS) {
      return fails("isend failed");
    }
    if ((sent != NULL && !sent_done && net->test(sent, &sent_done, NULL) != NCCL_SUCCESS) ||
        (!received_done && net->test(received, &received_done, &size) != NCCL_SUCCESS)) {
      return fails("test failed");
    }
    if (turn % 1024 == 1023 && now_us(CLOCK_MONOTONIC) > deadline) {
      return fails("a message did not arrive within the deadline");
    }
  }
  return (size == (int)bytes && memcmp(pair->source, pair->target, sizeof number) == 0) || fails("a message is wrong");
}

static bool transfer(const struct nccl_net_v12 *net, struct pair *pair, struct figures *f) {
  double *taken = malloc(sizeof *taken * (size_t)messages);
  bool ok = taken != NULL;
  for (int i = 0; ok && i < messages; i++) {
    double start = now_us(CLOCK_MONOTONIC);
    ok = move(net, pair, i + 1);
    taken[i] = now_us(CLOCK_MONOTONIC) - start;
  }
  if (ok) {
    f->message_us[0] = taken[0];
    f->message_us[1] = taken[1];
    f->message_us[2] = median(taken + 2, 8);
    f->message_us[3] = median(taken + 10, 90);
    f->steady_us = median(taken + messages / 2, messages / 2);
    for (int i = 100; i < messages; i++) {
      f->worst_us = taken[i] > f->worst_us ? taken[i] : f->worst_us;
    }
  }
  free(taken);
  return ok;
}

static void close_pair(const struct nccl_net_v12 *net, struct pair *pair) {
  net->deregMr(pair->send_comm, pair->send_mhandle);
  net->deregMr(pair->recv_comm, pair->recv_mhandle);
  net->closeSend(pair->send_comm);
  net->closeRecv(pair->recv_comm);
  free(pair->source);
  free(pair->target);
}

static bool measure(struct figures *f) {
  static char names[MAX_THREADS][NAME];
  struct pair pair = {0};
  struct pair later = {0};
  void *ctx = NULL;
  struct nccl_net_config config = {.trafficClass = -1};
  f->rss_before_mb = resident_mb();
  f->threads_before = threads(names);
  double start = now_us(CLOCK_MONOTONIC);
  void *library = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
  const struct nccl_net_v12 *net = library == NULL ? NULL : dlsym(library, "ncclNetPlugin_v12");
  if (net == NULL) {
    return fails(dlerror());
  }
  f->dlopen_ms = (now_us(CLOCK_MONOTONIC) - start) / 1e3;
  double cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
  if (net->init(&ctx, 1, &config, logger, NULL) != NCCL_SUCCESS) {
    return fails("init failed");
  }
  f->init_ms = (now_us(CLOCK_MONOTONIC) - start) / 1e3;
  f->init_cpu_ms = (now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e3;
  f->rss_init_mb = resident_mb();
  f->threads_init = threads(names);
  usleep((useconds_t)pause_ms * 1000);
  start = now_us(CLOCK_MONOTONIC);
  if (!connect_pair(net, ctx, &pair)) {
    return false;
  }
  f->connect_ms = (now_us(CLOCK_MONOTONIC) - start) / 1e3;
  if (!transfer(net, &pair, f)) {
    return false;
  }
  usleep((useconds_t)pause_ms * 1000);
  start = now_us(CLOCK_MONOTONIC);
  if (!move(net, &pair, messages + 1)) {
    return false;
  }
  f->rested_us = now_us(CLOCK_MONOTONIC) - start;
  f->rss_end_mb = resident_mb();
  f->threads_end = threads(f->names);
  close_pair(net, &pair);
  start = now_us(CLOCK_MONOTONIC);
  if (!connect_pair(net, ctx, &later)) {
    return false;
  }
  f->later_connect_ms = (now_us(CLOCK_MONOTONIC) - start) / 1e3;
  start = now_us(CLOCK_MONOTONIC);
  if (!move(net, &later, 1)) {
    return false;
  }
  f->later_us = now_us(CLOCK_MONOTONIC) - start;
  close_pair(net, &later);
  net->finalize(ctx);
  return true;
}

static bool measure_in_child(struct figures *f) {
  int ends[2];
  if (pipe(ends) != 0) {
    return fails("no pipe");
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    static struct figures own;
    close(ends[0]);
    own.ok = measure(&own);
    bool told = write(ends[1], &own, sizeof own) == (ssize_t)sizeof own;
    fflush(NULL);
    _exit(told && own.ok ? 0 : 1);
  }
  close(ends[1]);
  size_t got = 0;
  ssize_t part;
  while (child > 0 && got < sizeof *f && (part = read(ends[0], (char *)f + got, sizeof *f - got)) > 0) {
    got += (size_t)part;
  }
  close(ends[0]);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return fails("no child");
  }
  return (got == sizeof *f && f->ok && status == 0) || fails("a run failed");
}

static struct figures all[MAX_RUNS];

static void print_spread(const char *name, double (*value)(const struct figures *f), const char *end) {
  double values[MAX_RUNS];
  for (int i = 0; i < runs; i++) {
    values[i] = value(&all[i]);
  }
  qsort(values, (size_t)runs, sizeof *values, ascending);
  printf("  \"%s\": {\"median\": %.2f, \"min\": %.2f, \"max\": %.2f}%s\n", name, median(values, runs), values[0],
         values[runs - 1], end);
}

#define FIGURE(name, expression)                                                                                     \
  static double name(const struct figures *f) { return expression; }
FIGURE(dlopen_ms, f->dlopen_ms)
FIGURE(init_ms, f->init_ms)
FIGURE(init_cpu_ms, f->init_cpu_ms)
FIGURE(connect_ms, f->connect_ms)
FIGURE(first_us, f->message_us[0])
FIGURE(second_us, f->message_us[1])
FIGURE(to_tenth_us, f->message_us[2])
FIGURE(to_hundredth_us, f->message_us[3])
FIGURE(steady_us, f->steady_us)
FIGURE(worst_us, f->worst_us)
FIGURE(rested_us, f->rested_us)
FIGURE(later_connect_ms, f->later_connect_ms)
FIGURE(later_us, f->later_us)
FIGURE(rss_init, f->rss_init_mb - f->rss_before_mb)
FIGURE(rss_end, f->rss_end_mb - f->rss_before_mb)
FIGURE(threads_init, f->threads_init - f->threads_before)
FIGURE(threads_end, f->threads_end - f->threads_before)

static void print_json(void) {
  const struct figures *last = &all[runs - 1];
  printf("{\n  \"runs\": %d, \"messages\": %d, \"bytes\": %zu, \"cores\": %ld,\n", runs, messages, bytes,
         sysconf(_SC_NPROCESSORS_ONLN));
  print_spread("dlopen_ms", dlopen_ms, ",");
  print_spread("dlopen_and_init_ms", init_ms, ",");
  print_spread("init_cpu_ms", init_cpu_ms, ",");
  print_spread("connect_ms", connect_ms, ",");
  print_spread("message_1_us", first_us, ",");
  print_spread("message_2_us", second_us, ",");
  print_spread("messages_3_to_10_us", to_tenth_us, ",");
  print_spread("messages_11_to_100_us", to_hundredth_us, ",");
  print_spread("steady_us", steady_us, ",");
  print_spread("worst_after_100_us", worst_us, ",");
  print_spread("message_after_a_pause_us", rested_us, ",");
  print_spread("connect_ms_of_a_later_connection", later_connect_ms, ",");
  print_spread("message_1_of_a_later_connection_us", later_us, ",");
  print_spread("rss_added_by_init_mb", rss_init, ",");
  print_spread("rss_added_at_end_mb", rss_end, ",");
  print_spread("threads_added_by_init", threads_init, ",");
  print_spread("threads_added_at_end", threads_end, ",");
  printf("  \"threads\": [");
  for (int i = 0; i < last->threads_end; i++) {
    printf("%s\"%s\"", i == 0 ? "" : ", ", last->names[i]);
  }
  printf("]\n}\n");
}

int main(int argc, char **argv) {
  int option;
  while ((option = getopt(argc, argv, "p:n:m:b:w:v")) != -1) {
    switch (option) {
    case 'p': plugin_path = optarg; break;
    case 'n': runs = atoi(optarg); break;
    case 'm': messages = atoi(optarg); break;
    case 'b': bytes = strtoul(optarg, NULL, 10); break;
    case 'w': pause_ms = atoi(optarg); break;
    case 'v': verbose = true; break;
    default: plugin_path = NULL; argc = 0; break;
    }
  }
  if (plugin_path == NULL || runs < 1 || runs > MAX_RUNS || messages < 200 || bytes < sizeof(int) ||
      bytes > 1UL << 30 || pause_ms < 0 || pause_ms > 999) {
    fprintf(stderr,
            "usage: startup -p PLUGIN.so [-n RUNS] [-m MESSAGES] [-b BYTES] [-w MILLISECONDS] [-v]\n"
            "  RUNS 1 to %d (default 5), MESSAGES at least 200 (20000), BYTES at least 4 (8),\n"
            "  -w waits between init and the first listen, as NCCL's bootstrap does (0 to 999, default 0)\n",
            MAX_RUNS);
    return 2;
  }
  for (int i = 0; i < runs; i++) {
    if (!measure_in_child(&all[i])) {
      return 1;
    }
  }
  print_json();
  return 0;
}
