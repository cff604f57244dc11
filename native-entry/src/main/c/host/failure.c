#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "log.h"

static char words[LOG_LINE_BYTES];

bool start_fails(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return false;
}

const char *start_failure(void) {
  return words;
}
