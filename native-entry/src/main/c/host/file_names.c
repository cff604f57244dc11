#include "file_names.h"

#include <langinfo.h>
#include <stdbool.h>
#include <string.h>

/* Whether the locale that the environment asks for is not installed, or has ASCII's characters alone, as C has. */
static bool has_ascii_alone(void) {
  locale_t asked = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (asked == (locale_t)0) {
    return true;
  }
  bool ascii = strcmp(nl_langinfo_l(CODESET, asked), "ANSI_X3.4-1968") == 0;
  freelocale(asked);
  return ascii;
}

struct utf8_names begin_utf8_names(void) {
  struct utf8_names names = {(locale_t)0, (locale_t)0};
  if (has_ascii_alone()) {
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
