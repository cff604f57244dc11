/* Memory regions: what peers write into them is written with the engine held. */
#include "simulated-verbs.h"

#include <sys/mman.h>

EXPORT int ibv_dereg_mr(struct ibv_mr *m) {
  void *mapped = ((Mr *)m)->mapped;
  size_t bytes = ((Mr *)m)->mapped_bytes;

  if (forked)
    return EIO;
  pthread_mutex_lock(&engine);
  remove_region(m);
  pthread_mutex_unlock(&engine);
  if (mapped)
    munmap(mapped, bytes);
  return 0;
}

/* The descriptor's memory is mapped, so it has to be one that a process can map: a udmabuf, or a memfd. */
EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
    int fd, int access) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = offset % page;
  uint8_t *at = mmap(NULL, len + before, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));

  if (at == MAP_FAILED)
    return NULL;
  struct ibv_mr *m = add_region(pd, at + before, len, iova, (unsigned)access);
  if (!m) {
    munmap(at, len + before);
    return NULL;
  }
  ((Mr *)m)->mapped = at;
  ((Mr *)m)->mapped_bytes = len + before;
  return m;
}
