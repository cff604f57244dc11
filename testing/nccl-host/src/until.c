#include "until.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "connections.h"
#include "options.h"

/* A round ends at no rank before it has begun at all: so many ahead, no rank has passed it. */
enum { AHEAD = 8 };

static int last_round(const char *path) {
  FILE *file = fopen(path, "r");
  int round = INT_MAX;
  if (file != NULL) {
    if (fscanf(file, "%d", &round) != 1) {
      round = INT_MAX;
    }
    fclose(file);
  }
  return round;
}

/* Whole or not at all: other ranks look for it. */
static void say_last_round(const char *until, const char *path, int round) {
  char new_path[PATH_MAX];
  snprintf(new_path, sizeof new_path, "%s.new", until);
  FILE *file = fopen(new_path, "w");
  if (file != NULL) {
    fprintf(file, "%d\n", round);
    if (fclose(file) == 0) {
      (void)rename(new_path, path);
    }
  }
}

bool until_is_over(const struct rank *rank, int round) {
  const char *until = rank->options->until;
  if (until == NULL) {
    return false;
  }
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s.round", until);
  if (rank->number == 0 && access(path, F_OK) != 0 && access(until, F_OK) == 0) {
    say_last_round(until, path, round + AHEAD);
  }
  return access(path, F_OK) == 0 && round >= last_round(path);
}

/* With the time of day, so that it can be held against what somebody did to the cables. */
void print_if_long(const struct rank *rank, const char *what, int round, double seconds) {
  if (rank->options->print_longer_ms > 0 && seconds * 1e3 > rank->options->print_longer_ms) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    fprintf(stderr, "rank %d: %s %d took %.1f ms, until %lld.%03ld\n", rank->number, what, round, seconds * 1e3,
            (long long)time.tv_sec, time.tv_nsec / 1000000);
  }
}
