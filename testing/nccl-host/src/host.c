#include "host.h"

#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_bool failing;
static bool sleepless;

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool fail(int rank, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "rank %d: FAILED: %s\n", rank, text);
  atomic_store(&failing, true);
  return false;
}

bool is_failing(void) {
  return atomic_load(&failing);
}

void recover(void) {
  atomic_store(&failing, false);
}

void idle_wait(unsigned *idle) {
  if (++*idle < 200 || sleepless) {
    sched_yield();
  } else {
    usleep(*idle < 2000 ? 20 : 500);
  }
}

void never_sleep(void) {
  sleepless = true;
}

const char *result_name(int result) {
  static const char *const names[] = {"success",          "CUDA error",    "system error", "internal error",
                                      "invalid argument", "invalid usage", "remote error", "in progress"};
  return result >= 0 && result < (int)(sizeof names / sizeof names[0]) ? names[result] : "unknown result";
}
