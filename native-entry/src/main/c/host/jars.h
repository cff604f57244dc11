/*
 * The jars of an installation, and the fingerprint that ties an AOT cache to them. Needs nothing else of the library:
 * the program that makes the cache when a distribution is built compiles it too.
 */
#ifndef TRIGON_HOST_JARS_H
#define TRIGON_HOST_JARS_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The names of a directory's jars, sorted: the class path's order, whatever the locale. Lives as long as the process.
 */
struct jar_list {
  struct dirent **entries;
  int count;
};

/* Writes DIRECTORY/BELOW. False: it is too long. */
bool path_of(char path[PATH_MAX], const char *directory, const char *below);

/* False: the directory cannot be read. */
bool list_jars(struct jar_list *list, const char *directory);

/* Adds a file's content to a fingerprint. False: it cannot be read. */
bool add_file(uint64_t *fingerprint, const char *path);

/* Of the jars' names and contents. False: one cannot be read. */
bool fingerprint_of_jars(uint64_t *fingerprint, const struct jar_list *list, const char *directory);

#endif
