/*
 * How the JVM reads the names of files. In the C locale, and in one that is not installed, it takes them for ASCII. It
 * finds no file whose path has other characters, not even its own libraries. The kernel takes names as they are, and
 * today they are UTF-8.
 */
#ifndef TRIGON_HOST_FILE_NAMES_H
#define TRIGON_HOST_FILE_NAMES_H

#include <locale.h>

/* What this thread had before; for end_utf8_names. */
struct utf8_names {
  locale_t used; /* or (locale_t)0: nothing was changed */
  locale_t former;
};

/*
 * On this thread, until end_utf8_names, names are UTF-8 where the environment's locale has ASCII alone: the JVM asks
 * nl_langinfo(3) when it is created. The locale of the process, and of its other threads, stays as it is.
 */
struct utf8_names begin_utf8_names(void);
void end_utf8_names(struct utf8_names names);

#endif
