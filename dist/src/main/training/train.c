/*
 * Makes a distribution's AOT cache: plays NCCL's part as nccl-host does, in this one process, and then ends the JVM,
 * which writes what it has learnt. Writes beside the cache which jars and which content belong together
 * (host/aot_cache.c).
 *
 * usage: train DISTRIBUTION CONFIG RENDEZVOUS CLASSES
 *   CONFIG       a cluster's YAML file whose node "a" has addresses of the loopback interface
 *   RENDEZVOUS   a directory that is not there yet, for the ranks to meet in
 *   CLASSES      a file with the names of Trigon's classes
 */
#include <getopt.h>
#include <inttypes.h>
#include <jni.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlfcn.h>

#include "host/jars.h"

/* nccl-host's main, and one-sided-host's */
int run_host(int argc, char **argv);
int run_one_sided(int argc, char **argv);

static int fails(const char *what) {
  fprintf(stderr, "train: %s\n", what);
  return 1;
}

static int find_libjvm(struct dl_phdr_info *info, size_t size, void *path) {
  (void)size;
  const char *name = info->dlpi_name == NULL ? NULL : strrchr(info->dlpi_name, '/');
  if (name == NULL || strcmp(name, "/libjvm.so") != 0) {
    return 0;
  }
  (void)snprintf(path, PATH_MAX, "%s", info->dlpi_name);
  return 1;
}

/*
 * Loads the classes of a list, a name per line, without initializing them: the run has not needed them all, since a
 * build machine has no RDMA devices. One that cannot be loaded is left out.
 */
static bool load_classes(JNIEnv *env, const char *list) {
  char name[1024];
  FILE *names = fopen(list, "re");
  jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
  jmethodID system = (*env)->GetStaticMethodID(env, loader, "getSystemClassLoader", "()Ljava/lang/ClassLoader;");
  jmethodID load = (*env)->GetMethodID(env, loader, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  jobject of_jars = (*env)->CallStaticObjectMethod(env, loader, system);
  int loaded = 0;
  while (names != NULL && of_jars != NULL && fgets(name, sizeof name, names) != NULL) {
    name[strcspn(name, "\n")] = '\0';
    jstring text = (*env)->NewStringUTF(env, name);
    jobject found = (*env)->CallObjectMethod(env, of_jars, load, text);
    loaded += found != NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, found);
    (*env)->DeleteLocalRef(env, text);
  }
  if (names != NULL) {
    fclose(names);
  }
  fprintf(stderr, "train: %d classes of the list loaded\n", loaded);
  return loaded > 0;
}

/* Where the kernel has no RDMA device, the plugin does not look at libibverbs; the cache's users may have one. */
static void load_libibverbs(JNIEnv *env) {
  jclass libibverbs = (*env)->FindClass(env, "trigon/verbs/ffm/Libibverbs");
  jmethodID load = libibverbs == NULL ? NULL
                                      : (*env)->GetStaticMethodID(env, libibverbs, "load",
                                                                  "()Ltrigon/verbs/VerbsAvailability;");
  if (load != NULL) {
    (void)(*env)->CallStaticObjectMethod(env, libibverbs, load);
  }
  if ((*env)->ExceptionCheck(env)) {
    (*env)->ExceptionDescribe(env);
    (*env)->ExceptionClear(env);
  }
}

static bool has_thread(const char *wanted) {
  char path[300];
  char name[32];
  bool found = false;
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  while (tasks != NULL && !found && (task = readdir(tasks)) != NULL) {
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *comm = fopen(path, "re");
    found = comm != NULL && fgets(name, sizeof name, comm) != NULL && strncmp(name, wanted, strlen(wanted)) == 0;
    if (comm != NULL) {
      fclose(comm);
    }
  }
  if (tasks != NULL) {
    closedir(tasks);
  }
  return found;
}

/* It goes on beside all that the ranks do. */
static bool is_warm_up_over(void) {
  enum { SECONDS = 30, LOOKS_A_SECOND = 20 };
  int looks = 0;
  while (has_thread("trigon-warm-up") && looks < SECONDS * LOOKS_A_SECOND) {
    usleep(1000 * 1000 / LOOKS_A_SECOND);
    looks++;
  }
  return looks < SECONDS * LOOKS_A_SECOND;
}

/* What the plugin never does to its host: the cache is written on the JVM's way out. */
static bool end_jvm(const char *classes) {
  char path[PATH_MAX];
  JavaVM *vm = NULL;
  JNIEnv *env = NULL;
  jsize count = 0;
  void *libjvm = dl_iterate_phdr(find_libjvm, path) == 0 ? NULL : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *) = NULL;
  if (libjvm != NULL) {
    *(void **)&created = dlsym(libjvm, "JNI_GetCreatedJavaVMs");
  }
  if (created == NULL || created(&vm, 1, &count) != JNI_OK || count != 1 ||
      (*vm)->AttachCurrentThread(vm, (void **)&env, NULL) != JNI_OK) {
    return false;
  }
  load_libibverbs(env);
  return load_classes(env, classes) && (*vm)->DestroyJavaVM(vm) == JNI_OK;
}

static bool write_binding(const char *distribution, const char *cache, const char *binding) {
  char jars[PATH_MAX];
  struct jar_list list;
  uint64_t of_jars = 0;
  uint64_t of_cache = 0;
  if (!path_of(jars, distribution, "jars") || !list_jars(&list, jars) || list.count == 0 ||
      !fingerprint_of_jars(&of_jars, &list, jars) || !add_file(&of_cache, cache)) {
    return false;
  }
  FILE *file = fopen(binding, "we");
  return file != NULL && fprintf(file, "%016" PRIx64 " %016" PRIx64 "\n", of_jars, of_cache) > 0 && fclose(file) == 0;
}

#define ARGUMENTS(...) ((char *[]){"train", __VA_ARGS__, NULL})
#define COUNT(...) ((int)(sizeof ARGUMENTS(__VA_ARGS__) / sizeof(char *)) - 1)
#define RUN(...) run_host(COUNT(__VA_ARGS__), ARGUMENTS(__VA_ARGS__))
#define RUN_ONE_SIDED(...) run_one_sided(COUNT(__VA_ARGS__), ARGUMENTS(__VA_ARGS__))

/* Puts, signals and gets of two ranks; of a GPU's memory, too, where the library path has the driver of tests. */
static bool learn_one_sided(char *plugin) {
  bool ok = RUN_ONE_SIDED("--plugin", plugin, "--order", "gin", "--threads") == 0 &&
            RUN_ONE_SIDED("--plugin", plugin, "--order", "rma", "--threads") == 0;
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (cuda == NULL || dlsym(cuda, "trigon_fake_cuda") == NULL) {
    return ok;
  }
  return ok && RUN_ONE_SIDED("--plugin", plugin, "--order", "gin", "--threads", "--gpu") == 0 &&
         RUN_ONE_SIDED("--plugin", plugin, "--order", "rma", "--threads", "--gpu") == 0;
}

int main(int argc, char **argv) {
  char plugin[PATH_MAX];
  char cache[PATH_MAX];
  char binding[PATH_MAX];
  char options[PATH_MAX + 256];
  char short_messages[PATH_MAX];
  char long_messages[PATH_MAX];
  if (argc != 5 || !path_of(plugin, argv[1], "lib/libnccl-net-trigon.so") ||
      !path_of(cache, argv[1], "lib/trigon.aot") || !path_of(binding, argv[1], "lib/trigon.aot.binding")) {
    return fails("usage: train DISTRIBUTION CONFIG RENDEZVOUS CLASSES");
  }
  (void)snprintf(short_messages, sizeof short_messages, "%s-short", argv[3]);
  (void)snprintf(long_messages, sizeof long_messages, "%s-long", argv[3]);
  (void)remove(cache);
  (void)remove(binding);
  /* as on a machine with cores to spare, where long messages take a way of their own */
  (void)snprintf(options, sizeof options,
                 "-XX:TieredStopAtLevel=4 -XX:CICompilerCount=6 -XX:ActiveProcessorCount=16 "
                 "-Dtrigon.warmup=all '-XX:AOTCacheOutput=%s'",
                 cache);
  (void)setenv("TRIGON_JAVA_OPTS", options, 1);
  (void)setenv("TRIGON_CONFIG", argv[2], 1);
  (void)setenv("TRIGON_NODE", "a", 1);
  (void)setenv("TRIGON_ONE_SIDED", "on", 1);
  (void)setenv("TRIGON_LINKS", "software", 1); /* those over RDMA are the warm-up's part */
  /* every call and every refusal; then the data path, long enough for profiles */
  if (RUN("--plugin", plugin, "--mode", "contract") != 0) {
    return fails("a check failed");
  }
  optind = 0;
  if (RUN("--plugin", plugin, "--ranks", "2", "--local-ranks", "2", "--rendezvous", argv[3], "--bytes", "65536",
          "--slice-bytes", "2048", "--iterations", "300", "--channels", "2") != 0) {
    return fails("the all-reduce failed");
  }
  optind = 0;
  if (RUN("--plugin", plugin, "--ranks", "2", "--local-ranks", "2", "--rendezvous", short_messages, "--bytes", "16384",
          "--slice-bytes", "256", "--iterations", "300", "--channels", "2") != 0) {
    return fails("the all-reduce of short messages failed");
  }
  optind = 0;
  if (RUN("--plugin", plugin, "--ranks", "2", "--local-ranks", "2", "--rendezvous", long_messages, "--bytes", "2097152",
          "--slice-bytes", "262144", "--iterations", "100", "--channels", "2") != 0) {
    return fails("the all-reduce of long messages failed");
  }
  if (!learn_one_sided(plugin)) {
    return fails("one-sided communication failed");
  }
  if (!is_warm_up_over()) {
    return fails("the warm-up has no end");
  }
  if (!end_jvm(argv[4])) {
    return fails("the JVM did not load the classes, or did not end");
  }
  return write_binding(argv[1], cache, binding) ? 0 : fails("there is no cache, see what the JVM said");
}
