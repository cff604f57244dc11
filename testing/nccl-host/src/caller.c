#include "caller.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "host.h"

enum { OLDEST_TABLE = 8, NEWEST_IN_6_2 = 8, NEWEST = 12, FIRST_API_WITH_HOME = 12, OLDEST_GIN = 11, NEWEST_GIN = 13 };

bool caller_of(const char *name, enum caller *caller) {
  static const char *const names[] = {"nccl", "rccl-6.2", "rccl-current"};
  for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
    if (strcmp(name, names[i]) == 0) {
      *caller = (enum caller)i;
      return true;
    }
  }
  fprintf(stderr, "nccl-host: %s is neither nccl, rccl-6.2 nor rccl-current\n", name);
  return false;
}

/*
 * NCCL looks in the password entry's home up to net API 11 (2.29.7), then in HOME. RCCL of ROCm 6.2 reads neither HOME
 * nor NCCL_CONF_FILE. NCCL's and RCCL's src/misc/param.cc.
 */
const char *caller_plugin(enum caller caller, int api) {
  const struct files files = {
      .name = caller == AS_NCCL ? "nccl.conf" : "rccl.conf",
      .may_be_named = caller != AS_RCCL_6_2,
      .are_at_home = caller == AS_RCCL_CURRENT || (caller == AS_NCCL && api >= FIRST_API_WITH_HOME),
  };
  return plugin_of_files(files);
}

/* ---- as RCCL ---- */

/* The library whose name tells plugins who calls; it hands lines on to this program. */
static bool log_as_rccl(void) {
  void (**sink)(int level, const char *text) = NULL;
  void *library = dlopen("librccl.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) {
    *(void **)&sink = dlsym(library, "rccl_log_sink");
    *(void **)&host_logger = dlsym(library, "rccl_log");
  }
  if (sink == NULL || host_logger == NULL) {
    return fail(thread_rank, "no librccl.so.1 of this program's on the loader's path (testing/nccl-host)");
  }
  *sink = show_line;
  return true;
}

/* In ROCm 6.2 a value is a part of the name; later a name or a path, too. RCCL's src/net.cc and plugin_open.cc. */
static void *open_library(enum caller caller, const char *plugin, char name[PATH_MAX]) {
  void *library = NULL;
  if (caller == AS_RCCL_CURRENT) {
    (void)snprintf(name, PATH_MAX, "%s", plugin);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL && (caller == AS_RCCL_6_2 || strchr(plugin, '/') == NULL)) {
    (void)snprintf(name, PATH_MAX, "librccl-net-%s.so", plugin);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

/*
 * What RCCL passes to connect and accept on AMD's AINIC, in the place of a handle: four bytes. Here nobody may write
 * them, nor touch what follows them. RCCL's src/transport/net.cc.
 */
static void *four_bytes(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0 ? NULL : pages + page - sizeof(int);
}

static bool open_as_rccl(struct net *net, enum caller caller, const char *plugin) {
  char name[PATH_MAX] = "";
  void *library = log_as_rccl() ? open_library(caller, plugin, name) : NULL;
  if (library == NULL) {
    return fail(thread_rank, "RCCL finds no %s: %s", name, dlerror());
  }
  char symbol[32];
  int api = caller == AS_RCCL_6_2 ? NEWEST_IN_6_2 : NEWEST;
  do {
    snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", api);
  } while (dlsym(library, symbol) == NULL && --api >= OLDEST_TABLE);
  if (!net_find(net, library, name, api)) {
    return false;
  }
  net->asks_for_gpu_memory = true;
  net->context = caller == AS_RCCL_CURRENT ? four_bytes() : NULL;
  /* once more, by the same name, for the tuner and the profiler: ncclGetNetPluginLib in plugin_open.cc */
  return caller == AS_RCCL_6_2 || dlopen(name, RTLD_NOW | RTLD_LOCAL) == library ||
         fail(thread_rank, "the second dlopen of %s is another library", name);
}

bool caller_open(struct net *net, enum caller caller, const char *plugin, int api) {
  return caller == AS_NCCL ? net_open(net, plugin, api) : open_as_rccl(net, caller, plugin);
}

/* RCCL's src/plugin/gin.cc. */
void caller_show_one_sided(const struct net *net, enum caller caller) {
  bool found = false;
  for (int version = OLDEST_GIN; caller == AS_RCCL_CURRENT && version <= NEWEST_GIN; version++) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclGinPlugin_v%d", version);
    found |= dlsym(net->library, symbol) != NULL;
  }
  if (caller == AS_RCCL_CURRENT) {
    fprintf(stderr, "rank %d: RCCL finds %s for one-sided calls\n", thread_rank, found ? "a table" : "nothing");
  }
}
