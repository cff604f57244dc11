#include "home.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"

/* Somewhere in this library. */
static const char here;

/* TRIGON_HOME, or the parent of the directory in which this library lies. */
static bool find_directory(struct home *home) {
  const char *configured = getenv("TRIGON_HOME");
  if (configured != NULL && configured[0] != '\0') {
    return realpath(configured, home->directory) != NULL ||
           start_fails("TRIGON_HOME names %s, which does not exist; set it to Trigon's directory or unset it",
                       configured);
  }
  Dl_info self;
  if (dladdr(&here, &self) == 0 || self.dli_fname == NULL || realpath(self.dli_fname, home->directory) == NULL) {
    return start_fails("cannot tell where libnccl-net-trigon.so was loaded from; set TRIGON_HOME to Trigon's "
                       "directory");
  }
  for (int up = 0; up < 2; up++) { /* the file, then lib/ */
    char *slash = strrchr(home->directory, '/');
    if (slash == NULL) {
      break;
    }
    *slash = '\0';
  }
  return true;
}

static bool find_jars(struct home *home) {
  if (!path_of(home->jars, home->directory, "jars")) {
    return start_fails("the path of %s is too long", home->directory);
  }
  return (list_jars(&home->list, home->jars) && home->list.count > 0) ||
         start_fails("no jars in %s; install Trigon as it was packaged (lib/, jars/, runtime/) or set TRIGON_HOME to "
                     "where it is",
                     home->jars);
}

/* Whether a JDK's or runtime's `release` file says that it is the release Trigon is made for. */
static bool is_right_release(const char *java_home) {
  char path[PATH_MAX];
  char line[256];
  bool right = false;
  FILE *release = path_of(path, java_home, "release") ? fopen(path, "re") : NULL;
  if (release == NULL) {
    return false;
  }
  static const char key[] = "JAVA_VERSION=\"" JAVA_FEATURE_RELEASE;
  while (!right && fgets(line, sizeof line, release) != NULL) {
    char after = line[0] == '\0' || strncmp(line, key, sizeof key - 1) != 0 ? '\0' : line[sizeof key - 1];
    right = after == '.' || after == '"' || after == '+' || after == '-';
  }
  fclose(release);
  return right;
}

static bool find_libjvm(struct home *home) {
  static const char below[] = "lib/server/libjvm.so";
  char runtime[PATH_MAX];
  if (path_of(runtime, home->directory, "runtime") && path_of(home->libjvm, runtime, below) &&
      access(home->libjvm, R_OK) == 0) {
    home->own_runtime = true;
    return true;
  }
  const char *java_home = getenv("JAVA_HOME");
  if (java_home == NULL || java_home[0] == '\0') {
    return start_fails("no Java runtime: %s/%s is missing and JAVA_HOME is not set; install Trigon's runtime there or "
                       "set JAVA_HOME to a JDK or JRE " JAVA_FEATURE_RELEASE,
                       runtime, below);
  }
  if (path_of(home->libjvm, java_home, below) && access(home->libjvm, R_OK) == 0 && is_right_release(java_home)) {
    return true;
  }
  return start_fails("no Java runtime: %s/%s is missing and JAVA_HOME=%s is no JDK or JRE " JAVA_FEATURE_RELEASE
                     "; install Trigon's runtime or set JAVA_HOME to one",
                     runtime, below, java_home);
}

bool find_home(struct home *home) {
  return find_directory(home) && find_jars(home) && find_libjvm(home);
}
