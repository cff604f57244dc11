#include "options.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aot_cache.h"
#include "environment.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const standard_options[] = {
    /*
     * a guest: no handlers for INT, TERM, HUP, QUIT, no files outside, nothing on stdout; cores are for ulimit -c to
     * say
     */
    "-Xrs",
    "-XX:-UsePerfData",
    "-XX:+DisableAttachMechanism",
    "-Xlog:disable",
    "-Xlog:all=warning,jvmti=off:stderr", /* jvmti: exhaustion.c says it */
    /* small: the data path makes no garbage, so the heap serves connection set-up alone */
    "-Xms16m",
    "-Xmx128m",
    "-Xss512k",
    "-XX:MaxMetaspaceSize=128m",
    "-XX:MaxDirectMemorySize=512m",
    "-XX:ReservedCodeCacheSize=48m",
    /* one thread less: there are no finalizers */
    "--finalization=disabled",
    /*
     * Netty's allocators would register flight recorder events, which takes longer than all else they do at the start
     */
    "-Dio.netty.jfr.enabled=false",
};

/*
 * The shortest pauses at this size. What lives for seconds, as handshakes and announcements do, stays in the young
 * generation; what a collection frees is given back.
 */
static const char *const collector_options[] = {
    "-XX:+UseSerialGC",
    "-XX:SurvivorRatio=4",
    "-XX:TargetSurvivorRatio=90",
    "-XX:MinHeapFreeRatio=20",
    "-XX:MaxHeapFreeRatio=40",
    "-XX:-ShrinkHeapInSteps",
};

/*
 * The second compiler pays over RDMA, where our code is what a message takes. Over TCP the kernel's is; there, and
 * where processors are few, that compiler takes more from a job's first seconds than it ever gives back. In these
 * seconds some 2000 methods wait for the first compiler, so it has four threads, or two beside the second one's four:
 * the JVM divides the number so. Threads without work end.
 */
enum { FEW_PROCESSORS = 4 };
static const char *const both_compilers[] = {"-XX:CICompilerCount=6"};
static const char *const first_compiler[] = {"-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=4"};

static bool has_rdma_devices(void) {
  DIR *directory = opendir("/sys/class/infiniband");
  bool found = false;
  if (directory == NULL) {
    return false;
  }
  for (struct dirent *entry; !found && (entry = readdir(directory)) != NULL;) {
    found = entry->d_name[0] != '.';
  }
  (void)closedir(directory);
  return found;
}

static bool has_few_processors(void) {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) <= FEW_PROCESSORS;
}

static bool wants_software_links(void) {
  const char *links = getenv("TRIGON_LINKS");
  return links != NULL && strcmp(links, "software") == 0;
}

void add_option(struct jvm_options *options, char *text, void *extra) {
  if (options->count == MAX_JVM_OPTIONS || text == NULL) {
    options->complete = false;
    return;
  }
  options->list[options->count++] = (JavaVMOption){.optionString = text, .extraInfo = extra};
}

/* The strings live as long as the process: the JVM keeps some of them. */
__attribute__((format(printf, 2, 3))) static void add_formatted(struct jvm_options *options, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) {
    text = NULL;
  }
  va_end(arguments);
  add_option(options, text, NULL);
}

static void add_all(struct jvm_options *options, const char *const *texts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    add_formatted(options, "%s", texts[i]);
  }
}

/* Adds the words of `text`; blanks separate them, single and double quotes keep blanks. */
static void add_words(struct jvm_options *options, const char *text) {
  while (*text != '\0') {
    text += strspn(text, " \t\n");
    if (*text == '\0') {
      return;
    }
    char *word = malloc(strlen(text) + 1);
    if (word == NULL) {
      options->complete = false;
      return;
    }
    size_t length = 0;
    char quote = '\0';
    for (; *text != '\0' && (quote != '\0' || strchr(" \t\n", *text) == NULL); text++) {
      if (quote != '\0' ? *text == quote : *text == '\'' || *text == '"') {
        quote = quote != '\0' ? '\0' : *text;
      } else {
        word[length++] = *text;
      }
    }
    word[length] = '\0';
    add_option(options, word, NULL);
  }
}

static bool chooses_collector(const char *text) {
  for (const char *at = text; (at = strstr(at, "-XX:+Use")) != NULL; at++) {
    size_t length = strcspn(at, " \t\n'\"");
    if (length > 2 && strncmp(at + length - 2, "GC", 2) == 0) {
      return true;
    }
  }
  return false;
}

/* "FIRST:SECOND:...", to be freed; NULL without memory. */
static char *class_path_of(const struct jar_list *list, const char *directory) {
  size_t bytes = 1;
  for (int i = 0; i < list->count; i++) {
    bytes += strlen(directory) + strlen(list->entries[i]->d_name) + 2;
  }
  char *path = malloc(bytes);
  size_t length = 0;
  for (int i = 0; path != NULL && i < list->count; i++) {
    length += (size_t)snprintf(path + length, bytes - length, "%s%s/%s", i == 0 ? "" : ":", directory,
                               list->entries[i]->d_name);
  }
  return path;
}

/* The class path: on the module path, a cache serves no installation that was moved or copied. */
static void add_class_path(struct jvm_options *options, const struct home *home) {
  char cache[PATH_MAX];
  char *class_path = class_path_of(&home->list, home->jars);
  if (class_path == NULL) {
    options->complete = false;
    return;
  }
  add_formatted(options, "-Djava.class.path=%s", class_path);
  free(class_path);
  add_formatted(options, "--enable-native-access=ALL-UNNAMED");
  if (find_cache(home, cache)) {
    add_formatted(options, "-XX:AOTCache=%s", cache);
    /* no machine code out of the cache: it is of the processor that made it, and JDK 25 does not check that */
    add_formatted(options, "-XX:+UnlockDiagnosticVMOptions");
    add_formatted(options, "-XX:-AOTAdapterCaching");
    add_formatted(options, "-XX:-AOTStubCaching");
  }
}

void collect_options(struct jvm_options *options, const struct home *home) {
  const char *own = getenv(OWN_OPTIONS);
  const char *directory = getenv("TMPDIR");
  own = own != NULL ? own : "";
  directory = directory != NULL && directory[0] != '\0' ? directory : "/tmp";
  options->complete = true;
  add_all(options, standard_options, COUNT(standard_options));
  if (has_rdma_devices() && !wants_software_links() && !has_few_processors()) {
    add_all(options, both_compilers, COUNT(both_compilers));
  } else {
    add_all(options, first_compiler, COUNT(first_compiler));
  }
  if (!chooses_collector(own)) {
    add_all(options, collector_options, COUNT(collector_options));
  }
  add_formatted(options, "-XX:ErrorFile=%s/hs_err_trigon_%%p.log", directory);
  add_formatted(options, "-XX:ReplayDataFile=%s/replay_trigon_%%p.log", directory);
  add_formatted(options, "-Dtrigon.home=%s", home->directory);
  add_class_path(options, home);
  add_words(options, own);
}
