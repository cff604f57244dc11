#include "threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "loop.h"

enum { MESSAGES = 200, MOST_THREADS = 512, NAME_BYTES = 17, SECONDS = 20 };

static const char passing[] = "trigon-warm-up";

struct list {
  int count;
  bool passing;
  char names[MOST_THREADS][NAME_BYTES];
};

static struct list look(void) {
  static struct list list;
  list.count = 0;
  list.passing = false;
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  while (tasks != NULL && list.count < MOST_THREADS && (task = readdir(tasks)) != NULL) {
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "re");
    char *name = list.names[list.count];
    if (file != NULL && fgets(name, NAME_BYTES, file) != NULL) {
      name[strcspn(name, "\n")] = '\0';
      list.passing = list.passing || strcmp(name, passing) == 0;
      list.count++;
    }
    if (file != NULL) {
      fclose(file);
    }
  }
  if (tasks != NULL) {
    closedir(tasks);
  }
  return list;
}

static int print_when_at_most(const char *when, int most) {
  double deadline = now() + SECONDS;
  struct list list = look();
  while ((list.count > most || list.passing) && now() < deadline) {
    (void)usleep(20 * 1000);
    list = look();
  }
  fprintf(stderr, "threads %s: ", when);
  for (int i = 0; i < list.count; i++) {
    fprintf(stderr, "%s%s", i == 0 ? "" : ", ", list.names[i]);
  }
  fputc('\n', stderr);
  return list.count;
}

int print_threads(struct net *net, const char *enough) {
  void *ctx = NULL;
  struct loop loop;
  int most = print_when_at_most("before init", MOST_THREADS) + atoi(enough);
  if (net_init(net, &ctx, 1) != NCCL_SUCCESS) {
    (void)fail(0, "init failed");
    return 1;
  }
  (void)print_when_at_most("after init", most);
  bool ok = loop_open(&loop, net);
  for (int i = 0; ok && i < MESSAGES; i++) {
    ok = loop_move(&loop);
  }
  (void)print_when_at_most("with a connection", most);
  for (int i = 0; ok && i < MESSAGES; i++) {
    ok = loop_move(&loop);
  }
  ok = loop_close(&loop) && ok;
  return net_finalize(net, ctx) == NCCL_SUCCESS && ok ? 0 : 1;
}
