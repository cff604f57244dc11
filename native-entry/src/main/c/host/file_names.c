#include "file_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool has_c_locale(void) {
  static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"}; /* locale(7): the first that is set counts */
  const char *locale = "";
  for (size_t i = 0; i < sizeof variables / sizeof variables[0] && locale[0] == '\0'; i++) {
    const char *value = getenv(variables[i]);
    locale = value != NULL ? value : "";
  }
  return locale[0] == '\0' || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

struct utf8_names begin_utf8_names(void) {
  struct utf8_names names = {(locale_t)0, (locale_t)0};
  if (has_c_locale()) {
    names.used = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  }
  if (names.used != (locale_t)0) {
    names.former = uselocale(names.used);
  }
  return names;
}

void end_utf8_names(struct utf8_names names) {
  if (names.used != (locale_t)0) {
    (void)uselocale(names.former);
    freelocale(names.used);
  }
}
