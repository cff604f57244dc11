#include "aot_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "log.h"

#define CACHE_FILE "lib/trigon.aot"
#define CACHE_BINDING "lib/trigon.aot.binding"

/* Two hexadecimal numbers: the fingerprints of the jars and of the cache. */
static bool read_binding(const char *path, uint64_t *jars, uint64_t *cache) {
  FILE *binding = fopen(path, "re");
  bool ok = binding != NULL && fscanf(binding, "%16" SCNx64 " %16" SCNx64, jars, cache) == 2;
  if (binding != NULL) {
    fclose(binding);
  }
  return ok;
}

/* Whether options choose an archive themselves, or make one: two do not go together. */
static bool chooses_archive(const char *options) {
  static const char *const words[] = {"-XX:AOT", "-Xshare", "-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit"};
  for (size_t i = 0; options != NULL && i < sizeof words / sizeof words[0]; i++) {
    if (strstr(options, words[i]) != NULL) {
      return true;
    }
  }
  return false;
}

bool find_cache(const struct home *home, char path[PATH_MAX]) {
  char binding[PATH_MAX];
  uint64_t jars_then;
  uint64_t cache_then;
  uint64_t jars = 0;
  uint64_t cache = 0;
  if (!home->own_runtime || chooses_archive(getenv(OWN_OPTIONS))) {
    return false;
  }
  if (!path_of(path, home->directory, CACHE_FILE) || !path_of(binding, home->directory, CACHE_BINDING) ||
      access(path, R_OK) != 0) {
    log_text(NCCL_LOG_INFO, "starting without an AOT cache, which takes longer: there is no %s/" CACHE_FILE,
             home->directory);
    return false;
  }
  const char *reason = NULL;
  if (!read_binding(binding, &jars_then, &cache_then)) {
    reason = CACHE_BINDING " beside it is missing or damaged";
  } else if (!fingerprint_of_jars(&jars, &home->list, home->jars) || jars != jars_then) {
    reason = "it was made for other jars than those in jars/";
  } else if (!add_file(&cache, path) || cache != cache_then) {
    reason = "it is damaged";
  }
  if (reason != NULL) {
    log_text(NCCL_LOG_WARN,
             "%s is not used, and the start takes longer: %s; copy the whole distribution again, or build it again",
             path, reason);
  }
  return reason == NULL;
}
