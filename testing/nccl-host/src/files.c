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

static const char *home_folder(struct files files) {
  const struct passwd *entry = files.are_at_home ? NULL : getpwuid(getuid());
  return files.are_at_home ? getenv("HOME") : entry == NULL ? NULL : entry->pw_dir;
}

const char *plugin_of_files(struct files files) {
  const char *named = files.may_be_named ? getenv("NCCL_CONF_FILE") : NULL;
  const char *home = home_folder(files);
  char path[LINE_BYTES];
  if (named != NULL && named[0] != '\0') {
    set_from(named);
  } else if (home != NULL && snprintf(path, sizeof path, "%s/.%s", home, files.name) < (int)sizeof path) {
    set_from(path);
  }
  (void)snprintf(path, sizeof path, "/etc/%s", files.name);
  set_from(path);
  return getenv("NCCL_NET_PLUGIN");
}
