/*
 * To be preloaded: the plugin finds pages of PAGE_KIB, whatever the kernel has. What goes by the size of pages, the
 * stack that a call needs above all, is tried by it. All others, the JVM among them, are told the truth.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_of_plugin(void *caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && strstr(found.dli_fname, "/libnccl-net-trigon.so") != NULL;
}

__attribute__((visibility("default"))) long sysconf(int name) {
  static long (*libc_sysconf)(int name);
  const char *kib = getenv("PAGE_KIB");
  if (name == _SC_PAGESIZE && kib != NULL && is_of_plugin(__builtin_return_address(0))) {
    return atol(kib) * 1024;
  }
  if (libc_sysconf == NULL) {
    void *next = dlsym(RTLD_NEXT, "sysconf");
    memcpy(&libc_sysconf, &next, sizeof next);
  }
  return libc_sysconf(name);
}
