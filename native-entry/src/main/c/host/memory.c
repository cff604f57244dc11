#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "failure.h"

/*
 * MiB, of a start and some connections with the options of options.c, and a margin: measured with JDK 25, below which
 * limit it fails. The greater part is reserved and never used: for class pointers, the heap and the compiled code.
 */
enum { ADDRESS_SPACE_MIB = 1280, WRITABLE_MIB = 192, STANDARD_HEAP_MIB = 128 };

/* Asks for it and gives it back, untouched: so all limits count, whichever they are. */
static bool is_granted(size_t mib, int protection) {
  size_t bytes = mib * 1024 * 1024;
  void *mapped = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped != MAP_FAILED && munmap(mapped, bytes) == 0;
}

/* What the last -Xmx asks for beyond the standard; what is no number is for the JVM to refuse. */
static size_t additional_heap_mib(const struct jvm_options *options) {
  size_t mib = 0;
  for (int i = 0; i < options->count; i++) {
    if (strncmp(options->list[i].optionString, "-Xmx", 4) == 0) {
      char *unit = NULL;
      size_t number = strtoull(options->list[i].optionString + 4, &unit, 10);
      mib = *unit == 'g' || *unit == 'G'   ? number * 1024
            : *unit == 'm' || *unit == 'M' ? number
            : *unit == 'k' || *unit == 'K' ? number / 1024
                                           : number / 1024 / 1024;
    }
  }
  return mib > STANDARD_HEAP_MIB ? mib - STANDARD_HEAP_MIB : 0;
}

bool is_memory_granted(const struct jvm_options *options) {
  size_t more = additional_heap_mib(options);
  if (!is_granted(ADDRESS_SPACE_MIB + more, PROT_NONE)) {
    return start_fails("the kernel does not grant this process %zu MiB more of address space, which the JVM needs: "
                       "raise or remove the limit (ulimit -v)",
                       ADDRESS_SPACE_MIB + more);
  }
  return is_granted(WRITABLE_MIB, PROT_READ | PROT_WRITE) ||
         start_fails("the kernel does not grant this process %d MiB more of memory, which the JVM needs: raise or "
                     "remove the limit (ulimit -d, vm.overcommit_memory)",
                     WRITABLE_MIB);
}
