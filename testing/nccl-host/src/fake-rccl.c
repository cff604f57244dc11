/*
 * A librccl.so.1 without RCCL: its logger alone, by whose library a plugin tells who calls. nccl-host sets where its
 * lines go. Tests alone.
 */
#include <stdarg.h>
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void (*rccl_log_sink)(int level, const char *text);

EXPORTED void rccl_log(int level, unsigned long subsystems, const char *where, int line, const char *format, ...) {
  (void)subsystems, (void)where, (void)line;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  rccl_log_sink(level, text);
}
