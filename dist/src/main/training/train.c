/*
 * Makes a distribution's AOT cache: plays NCCL's part as nccl-host does, in this one process, and then ends the JVM, which
 * writes what it has learnt. Writes beside the cache which jars and which content belong together (entry_cache.h).
 *
 * usage: train DISTRIBUTION CONFIG RENDEZVOUS
 *   CONFIG       a cluster's YAML file whose node "a" has software links
 *   RENDEZVOUS   a directory that is not there yet, for the ranks to meet in
 */
#include <getopt.h>
#include <inttypes.h>
#include <jni.h>
#include <link.h>

#include <dlfcn.h>

#include "entry_jars.h"

/* nccl-host's main */
int run_host(int argc, char **argv);

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

/* What the plugin never does to its host: the cache is written on the JVM's way out. */
static bool end_jvm(void) {
  char path[PATH_MAX];
  JavaVM *vm = NULL;
  void *env = NULL;
  jsize count = 0;
  void *libjvm = dl_iterate_phdr(find_libjvm, path) == 0 ? NULL : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  jint (*created)(JavaVM **, jsize, jsize *) = NULL;
  if (libjvm != NULL) {
    *(void **)&created = dlsym(libjvm, "JNI_GetCreatedJavaVMs");
  }
  return created != NULL && created(&vm, 1, &count) == JNI_OK && count == 1 &&
         (*vm)->AttachCurrentThread(vm, &env, NULL) == JNI_OK && (*vm)->DestroyJavaVM(vm) == JNI_OK;
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
#define RUN(...) run_host((int)(sizeof ARGUMENTS(__VA_ARGS__) / sizeof(char *)) - 1, ARGUMENTS(__VA_ARGS__))

int main(int argc, char **argv) {
  char plugin[PATH_MAX];
  char cache[PATH_MAX];
  char binding[PATH_MAX];
  char options[PATH_MAX + 64];
  if (argc != 4 || !path_of(plugin, argv[1], "lib/libnccl-net-trigon.so") || !path_of(cache, argv[1], "lib/trigon.aot") ||
      !path_of(binding, argv[1], "lib/trigon.aot.binding")) {
    return fails("usage: train DISTRIBUTION CONFIG RENDEZVOUS");
  }
  (void)remove(cache);
  (void)remove(binding);
  (void)snprintf(options, sizeof options, "'-XX:AOTCacheOutput=%s'", cache);
  (void)setenv("TRIGON_JAVA_OPTS", options, 1);
  (void)setenv("TRIGON_CONFIG", argv[2], 1);
  (void)setenv("TRIGON_NODE", "a", 1);
  /* every call and every refusal; then the data path, long enough for profiles */
  if (RUN("--plugin", plugin, "--mode", "contract") != 0) {
    return fails("a check failed");
  }
  optind = 0;
  if (RUN("--plugin", plugin, "--ranks", "2", "--local-ranks", "2", "--rendezvous", argv[3], "--bytes", "65536",
          "--slice-bytes", "2048", "--iterations", "300", "--channels", "2") != 0) {
    return fails("the all-reduce failed");
  }
  if (!end_jvm()) {
    return fails("the JVM did not end");
  }
  return write_binding(argv[1], cache, binding) ? 0 : fails("there is no cache, see what the JVM said");
}
