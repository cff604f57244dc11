#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

/*
 * In the order in which the JVM goes through them: ours come between the first two. JDK_JAVA_OPTIONS is the launcher's.
 */
static const char *const option_variables[] = {"JAVA_TOOL_OPTIONS", "TRIGON_JAVA_OPTS", "_JAVA_OPTIONS"};
enum { OPTION_VARIABLES = sizeof option_variables / sizeof option_variables[0], FIRST_AFTER_OURS = 1 };

struct unbearable {
  const char *option;
  const char *effect;
  bool switched_off_by_ours; /* so it is no matter in JAVA_TOOL_OPTIONS */
};

static const struct unbearable unbearable_options[] = {
    {"-Xlog:help", "prints help and ends the program", false},
    {"-XX:+PrintFlagsInitial", "prints to standard output and ends the program", false},
    {"-Xinternalversion", "prints to standard output", false},
    {"-Xshare:dump", "makes an archive instead of a running JVM", false},
    /* JDK 25 frees what it has not allocated; with "=..." it is fine */
    {"-XX:StartFlightRecording", "without a value crashes a program that hosts a JVM", false},
    {"-XX:+ExitOnOutOfMemoryError", "ends the program where a call could fail", true},
    {"-XX:+CrashOnOutOfMemoryError", "ends the program where a call could fail", true},
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

bool is_environment_bearable(void) {
  for (size_t i = 0; i < OPTION_VARIABLES; i++) {
    const char *text = getenv(option_variables[i]);
    for (size_t k = 0; text != NULL && k < sizeof unbearable_options / sizeof unbearable_options[0]; k++) {
      const struct unbearable *bad = &unbearable_options[k];
      if (has_word(text, bad->option) && !(bad->switched_off_by_ours && i < FIRST_AFTER_OURS)) {
        return start_fails("%s in the environment has %s, which %s; remove it there for this program",
                           option_variables[i], bad->option, bad->effect);
      }
    }
  }
  return true;
}

void describe_environment(char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "%s", "");
  for (size_t i = 0; i < OPTION_VARIABLES; i++) {
    const char *value = getenv(option_variables[i]);
    if (value != NULL && value[0] != '\0' && length + 1 < size) {
      const char *separator = length == 0 ? "" : ", ";
      int more = snprintf(text + length, size - length, "%s%s=%.200s", separator, option_variables[i], value);
      length += more > 0 ? (size_t)more : 0;
    }
  }
  if (length == 0) {
    (void)snprintf(text, size, "no options in the environment");
  }
}
