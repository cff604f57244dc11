#include "log.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "pipes.h"

static _Atomic(nccl_logger) nccl_log;

void set_nccl_log(nccl_logger log) {
  if (log != NULL) {
    atomic_store(&nccl_log, log);
  }
}

bool is_log_of_rccl(void) {
  static const char rccl[] = "librccl";
  Dl_info info;
  nccl_logger log = atomic_load(&nccl_log);
  if (log == NULL || dladdr((const void *)(intptr_t)log, &info) == 0 || info.dli_fname == NULL) {
    return false;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  return strncmp(slash == NULL ? info.dli_fname : slash + 1, rccl, sizeof rccl - 1) == 0;
}

int32_t log_line(int32_t level, int64_t subsystems, const char *text) {
  nccl_logger log = atomic_load(&nccl_log);
  if (log == NULL) {
    return 0;
  }
  struct sigpipe_state before = begin_without_sigpipe(); /* NCCL may log into a pipe */
  log(level, (unsigned long)subsystems, "trigon", 0, "%s", text);
  end_without_sigpipe(&before);
  return 1;
}

void log_text(int level, const char *format, ...) {
  static const char prefix[] = "NET/Trigon : ";
  char line[LOG_LINE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  memcpy(line, prefix, sizeof prefix - 1);
  (void)vsnprintf(line + sizeof prefix - 1, sizeof line - sizeof prefix, format, arguments);
  va_end(arguments);
  unsigned long subsystems = level == NCCL_LOG_WARN ? NCCL_LOG_ALL : NCCL_LOG_INIT | NCCL_LOG_NET;
  (void)log_line(level, (int64_t)subsystems, line);
}
