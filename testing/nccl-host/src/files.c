#include "files.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096, LONGEST = 1023 };

/* Letter by letter: no quotes, no blanks, and no variable that is set already. NCCL's src/misc/param.cc. */
static void set_from(const char *path) {
  FILE *file = fopen(path, "r");
  char line[LINE_BYTES];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\r\n")] = '\0';
    char *value = strchr(line, '=');
    if (line[0] == '#' || value == NULL) {
      continue;
    }
    *value++ = '\0';
    line[strnlen(line, LONGEST)] = '\0';
    value[strnlen(value, LONGEST)] = '\0';
    (void)setenv(line, value, 0);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
}

static const char *home_folder(int api) {
  const struct passwd *entry = api < 12 ? getpwuid(getuid()) : NULL;
  return api < 12 ? (entry == NULL ? NULL : entry->pw_dir) : getenv("HOME");
}

const char *plugin_of_files(int api) {
  const char *named = getenv("NCCL_CONF_FILE");
  const char *home = home_folder(api);
  if (named != NULL && named[0] != '\0') {
    set_from(named);
  } else if (home != NULL) {
    char path[LINE_BYTES];
    if (snprintf(path, sizeof path, "%s/.nccl.conf", home) < (int)sizeof path) {
      set_from(path);
    }
  }
  set_from("/etc/nccl.conf");
  return getenv("NCCL_NET_PLUGIN");
}
