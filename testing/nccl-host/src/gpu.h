/*
 * What stands for memory of a GPU: pages that have two addresses. By the device's the CPU may not touch them; it is
 * what the plugin is given, with a descriptor, as CUDA lends memory. By the host's this program looks at them.
 */
#ifndef HOST_GPU_H
#define HOST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_memory {
  char *host;   /* NULL: there is none */
  char *device; /* PROT_NONE */
  size_t bytes;
  int fd;
};

/* False: it has said why. */
bool gpu_allocate(int rank, struct gpu_memory *memory, size_t bytes);

/* A descriptor of the memory, the caller's to close; -1 with errno. As CUDA's, it is another one with each call. */
int gpu_lend(const struct gpu_memory *memory);

void gpu_free(struct gpu_memory *memory);

/* How many descriptors of such memory this process has; after gpu_free those that somebody else has kept. */
int gpu_descriptors(void);

#endif
