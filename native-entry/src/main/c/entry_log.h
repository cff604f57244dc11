/*
 * Lines into NCCL's log. NCCL's logger is printf-like: text never becomes its format. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_LOG_H
#define TRIGON_ENTRY_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nccl_net_abi.h"

#define LOG_LINE_BYTES 1024 /* NCCL cuts longer lines itself */

/* As given at the last init. */
static _Atomic(nccl_logger) nccl_log;

/*
 * Called by Java: a line as it stands, with the level and subsystems of nccl_net_abi.h. Returns 0 if there is no
 * logger at the moment, and the line is still the caller's.
 */
static int32_t log_line(int32_t level, int64_t subsystems, const char *text) {
  nccl_logger log = atomic_load(&nccl_log);
  if (log == NULL) {
    return 0;
  }
  log(level, (unsigned long)subsystems, "trigon", 0, "%s", text);
  return 1;
}

__attribute__((format(printf, 2, 3))) static void log_text(int level, const char *format, ...) {
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

/* Why the start failed: said again at every later init. Written by the starting thread alone. */
static char start_failure[LOG_LINE_BYTES];

__attribute__((format(printf, 1, 2))) static bool start_fails(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(start_failure, sizeof start_failure, format, arguments);
  va_end(arguments);
  return false;
}

#endif
