#include "crash.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "START-END ..." */
static bool is_mapping_of(const char *line, uintptr_t address) {
  uintptr_t bounds[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    for (int digit; (digit = hex_digit(*line)) >= 0; line++) {
      bounds[i] = bounds[i] * 16 + (uintptr_t)digit;
    }
    line++; /* the hyphen, then the blank */
  }
  return address >= bounds[0] && address < bounds[1];
}

/* The JVM's code is libjvm.so's, or compiled: in memory that has no name. */
static bool is_of_jvm(const char *line) {
  const char *name = strchr(line, '/');
  if (name == NULL) {
    return strchr(line, '[') == NULL; /* [heap], [stack], [vdso] */
  }
  return strstr(name, "/libjvm.so") != NULL;
}

bool is_crash_in_jvm(const void *context) {
#ifdef __x86_64__
  uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
  uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#endif
  char line[512];
  size_t length = 0;
  bool found = false;
  bool of_jvm = false;
  char buffer[512];
  ssize_t bytes;
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  while (maps >= 0 && !found && (bytes = read(maps, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < bytes && !found; i++) {
      if (buffer[i] != '\n') {
        line[length] = buffer[i];
        length += length < sizeof line - 1;
        continue;
      }
      line[length] = '\0';
      length = 0;
      found = is_mapping_of(line, at);
      of_jvm = found && is_of_jvm(line);
    }
  }
  if (maps >= 0) {
    (void)close(maps);
  }
  return of_jvm;
}
