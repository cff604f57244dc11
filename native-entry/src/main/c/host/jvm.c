#include "jvm.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "environment.h"
#include "exhaustion.h"
#include "exit.h"
#include "failure.h"
#include "file_names.h"
#include "log.h"
#include "memory.h"
#include "options.h"
#include "pipes.h"
#include "signals.h"

typedef jint (*create_jvm_function)(JavaVM **vm, void **env, void *arguments);
typedef jint (*created_jvms_function)(JavaVM **vms, jsize size, jsize *count);

/* While the JVM is being created: what it says, and the way out if it gives up. */
static atomic_bool creating;
static pthread_t creator;
static jmp_buf out_of_creation;
static char said[LOG_LINE_BYTES];
static atomic_size_t said_bytes; /* more than fit if it said more */

/* The JVM's "abort" hook: it would end the process after this. */
static void leave_creation(void) {
  if (atomic_load(&creating) && pthread_equal(pthread_self(), creator)) {
    longjmp(out_of_creation, 1);
  }
}

/*
 * The JVM's "vfprintf" hook: its words go to NCCL's log while it starts, to stderr after, to stdout never. What it
 * writes into a file of its own (-Xlog:gc:file=...) stays there. Any of its threads, and no lock, since one may die in
 * here: each takes room for its line, then writes it.
 */
static jint JNICALL hear_jvm(FILE *file, const char *format, va_list arguments) {
  if (file != NULL && file != stdout && file != stderr) {
    return vfprintf(file, format, arguments);
  }
  if (!atomic_load(&creating)) {
    struct sigpipe_state before = begin_without_sigpipe();
    jint printed = vfprintf(stderr, format, arguments);
    end_without_sigpipe(&before);
    return printed;
  }
  char line[LOG_LINE_BYTES];
  int length = vsnprintf(line, sizeof line, format, arguments);
  if (length > 0) {
    size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    size_t at = atomic_fetch_add(&said_bytes, bytes);
    size_t room = at < sizeof said - 1 ? sizeof said - 1 - at : 0;
    if (room > 0) {
      memcpy(said + at, line, bytes < room ? bytes : room);
    }
  }
  return length;
}

/* Whether anything is left of it. */
static bool trim_said(void) {
  size_t length = strnlen(said, sizeof said - 1);
  for (size_t i = 0; i < length; i++) {
    said[i] = said[i] == '\n' || said[i] == '\r' ? ' ' : said[i];
  }
  while (length > 0 && said[length - 1] == ' ') {
    said[--length] = '\0';
  }
  return length > 0;
}

struct mapped_jvm {
  char path[PATH_MAX];
};

static int is_libjvm(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  const char *name = info->dlpi_name == NULL ? NULL : strrchr(info->dlpi_name, '/');
  if (name == NULL || strcmp(name, "/libjvm.so") != 0) {
    return 0;
  }
  (void)snprintf(((struct mapped_jvm *)found)->path, PATH_MAX, "%s", info->dlpi_name);
  return 1;
}

static bool is_same_file(const char *one, const char *other) {
  struct stat a;
  struct stat b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

JavaVM *running_jvm(void *libjvm) {
  created_jvms_function created = (created_jvms_function)dlsym(libjvm, "JNI_GetCreatedJavaVMs");
  JavaVM *vm = NULL;
  jsize count = 0;
  return created != NULL && created(&vm, 1, &count) == JNI_OK && count > 0 ? vm : NULL;
}

bool open_libjvm(const struct home *home, void **libjvm) {
  struct mapped_jvm mapped = {""};
  const char *path = home->libjvm;
  if (dl_iterate_phdr(is_libjvm, &mapped) != 0 && !is_same_file(mapped.path, home->libjvm)) {
    *libjvm = dlopen(mapped.path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (*libjvm == NULL || running_jvm(*libjvm) == NULL) {
      return start_fails("another JVM, %s, is loaded in this process; Trigon's, %s, cannot run beside it: set"
              " JAVA_HOME "
                         "to the one the program uses and remove Trigon's runtime, or run NCCL in another process",
                         mapped.path, home->libjvm);
    }
    return true;
  }
  *libjvm = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *libjvm != NULL || start_fails("cannot load the JVM: %s", dlerror());
}

/* Ours, the hooks, and what the user adds. False: start_failure() says what is wrong with them. */
static bool prepare_options(struct jvm_options *options, const struct home *home) {
  collect_options(options, home);
  add_option(options, "abort", (void *)leave_creation);
  add_option(options, "vfprintf", (void *)hear_jvm);
  if (!options->complete) {
    return start_fails("%s: too many options in " OWN_OPTIONS ", or no memory", home->libjvm);
  }
  return is_memory_granted(options);
}

/* What the JVM said goes to the log, with the reason if it gave up. */
static bool create_heard(create_jvm_function create, struct jvm_options *options, const char *libjvm, JavaVM **vm,
                         JNIEnv **env) {
  JavaVMInitArgs arguments = {.version = JNI_VERSION_10,
                              .nOptions = options->count,
                              .options = options->list,
                              .ignoreUnrecognized = JNI_TRUE};
  volatile jint result = JNI_ERR;
  creator = pthread_self();
  atomic_store(&creating, true);
  bool gave_up = setjmp(out_of_creation) != 0;
  if (!gave_up) {
    result = create(vm, (void **)env, &arguments);
  }
  atomic_store(&creating, false);
  bool has_said = trim_said();
  if (gave_up || result != JNI_OK) {
    const char *own = getenv(OWN_OPTIONS);
    return start_fails("the JVM %s did not start (%d): %s; with " OWN_OPTIONS "=%.400s", libjvm, (int)result,
                       has_said ? said : "it may have said why on standard error", own == NULL ? "" : own);
  }
  if (has_said) {
    log_text(NCCL_LOG_INFO, "the JVM says: %s", said);
  }
  return true;
}

bool create_jvm(void *libjvm, const struct home *home, JavaVM **vm, JNIEnv **env) {
  static struct jvm_options options; /* not on the stack: longjmp leaves it as it is */
  if (!are_own_options_bearable() || !hide_options_of_others(libjvm)) {
    return false;
  }
  create_jvm_function create = (create_jvm_function)dlsym(libjvm, "JNI_CreateJavaVM");
  if (create == NULL) {
    return start_fails("%s has no JNI_CreateJavaVM: not a JVM", home->libjvm);
  }
  if (!prepare_options(&options, home)) {
    return false;
  }
  keep_signals_of_host();
  struct utf8_names names = begin_utf8_names();
  bool created = create_heard(create, &options, home->libjvm, vm, env);
  end_utf8_names(names);
  give_signals_back(created ? home->libjvm : NULL);
  if (!created) {
    return false;
  }
  watch_for_exhaustion(*vm);
  guard_exit(*vm);
  begin_to_guard(libjvm);
  return true;
}
