#include "environment.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "failure.h"
#include "log.h"

static const char *const variables_of_others[] = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS"};
enum { VARIABLES_OF_OTHERS = sizeof variables_of_others / sizeof variables_of_others[0] };

struct unbearable {
  const char *option;
  const char *effect;
};

static const struct unbearable unbearable_options[] = {
    {"-Xlog:help", "prints help and ends the program"},
    {"-XX:+PrintFlagsInitial", "prints to standard output and ends the program"},
    {"-Xinternalversion", "prints to standard output"},
    {"-Xshare:dump", "makes an archive instead of a running JVM"},
    /* JDK 25 frees what it has not allocated; with "=..." it is fine */
    {"-XX:StartFlightRecording", "without a value crashes a program that hosts a JVM"},
    {"-XX:+ExitOnOutOfMemoryError", "ends the program where a call could fail"},
    {"-XX:+CrashOnOutOfMemoryError", "ends the program where a call could fail"},
};

/* Whether `text` has `word` as a word of its own: between blanks, quotes, or the ends. */
static bool has_word(const char *text, const char *word) {
  static const char separators[] = " \t\n\r\f\v'\"";
  size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
    bool begins = at == text || strchr(separators, at[-1]) != NULL;
    if (begins && strchr(separators, at[length]) != NULL) { /* the terminating zero counts */
      return true;
    }
  }
  return false;
}

bool are_own_options_bearable(void) {
  const char *text = getenv(OWN_OPTIONS);
  for (size_t i = 0; text != NULL && i < sizeof unbearable_options / sizeof unbearable_options[0]; i++) {
    if (has_word(text, unbearable_options[i].option)) {
      return start_fails(OWN_OPTIONS " in the environment has %s, which %s; remove it there for this program",
                         unbearable_options[i].option, unbearable_options[i].effect);
    }
  }
  return true;
}

/* The names of those that are set, "A, B"; empty: none is. */
static void list_variables_of_others(char *list, size_t size) {
  size_t length = (size_t)snprintf(list, size, "%s", "");
  for (size_t i = 0; i < VARIABLES_OF_OTHERS; i++) {
    const char *value = getenv(variables_of_others[i]);
    if (value != NULL && value[0] != '\0' && length < size) {
      length += (size_t)snprintf(list + length, size - length, "%s%s", length == 0 ? "" : ", ", variables_of_others[i]);
    }
  }
}

/* getenv(3), as libjvm sees it. */
static char *getenv_of_jvm(const char *name) {
  for (size_t i = 0; i < VARIABLES_OF_OTHERS; i++) {
    if (strcmp(name, variables_of_others[i]) == 0) {
      return NULL;
    }
  }
  return getenv(name);
}

bool hide_options_of_others(void *libjvm) {
  char set[64];
  list_variables_of_others(set, sizeof set);
  bool hidden = replace_call(libjvm, "getenv", (void (*)(void))getenv_of_jvm);
  if (set[0] == '\0') {
    return true;
  }
  if (!hidden) {
    return start_fails("cannot keep Trigon's JVM from reading %s, which is set for other Java programs; unset it for "
                       "this program",
                       set);
  }
  log_text(NCCL_LOG_INFO, "%s: ignored, as it is set for other Java programs; " OWN_OPTIONS
                          " has the options for Trigon's JVM",
           set);
  return true;
}
