/* Memory of other devices, such as GPUs, that a descriptor lends: one that a process can map, a udmabuf or a memfd. */
#include "devices.h"

#include <sys/mman.h>

typedef struct Write Write;
struct Write {
  Write *next;
  const Mr *region;
  uint8_t *to;
  size_t len;
  uint8_t data[];
};

Lock dma_bufs;
atomic_uint dma_buf_regions;
static Write *withheld[MAX_DEVICES];  /* by device, in the order of writing */

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
    int fd, int access) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = offset % page;

  if (fcntl(fd, F_GETFD) < 0)
    return NULL;  /* EBADF before all else, as the kernel says */
  if (iova % page != before) {
    errno = EINVAL;
    return NULL;
  }
  uint8_t *at = mmap(NULL, len + before, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));
  if (at == MAP_FAILED)
    return NULL;
  struct ibv_mr *m = add_region(pd, at + before, len, iova, (unsigned)access);
  if (!m) {
    munmap(at, len + before);
    return NULL;
  }
  ((Mr *)m)->mapped_bytes = len + before;
  ((Mr *)m)->mapped = at;
  atomic_fetch_add(&dma_buf_regions, 1);
  return m;
}

void unmap_dma_buf(Mr *mr) {
  lock(&dma_bufs);
  for (Write **p = &withheld[context_of(mr->ibv.context)->device->index], *w; (w = *p);)
    if (w->region == mr) {
      *p = w->next;
      free(w);
    } else {
      p = &w->next;
    }
  munmap(mr->mapped, mr->mapped_bytes);
  unlock(&dma_bufs);
  atomic_fetch_sub(&dma_buf_regions, 1);
}

static void copy_into(const Mr *mr, uint8_t *to, const uint8_t *from, size_t len) {
  if (mr->access & IBV_ACCESS_RELAXED_ORDERING)
    relaxed_copy(to, from, len);
  else
    ordered_copy(to, from, len);
}

void write_region(const Mr *mr, uint8_t *to, const uint8_t *from, size_t len) {
  Write *w = is_dma_buf(mr) ? malloc(sizeof *w + len) : NULL;

  if (!w) {
    copy_into(mr, to, from, len);
    return;
  }
  *w = (Write){ .region = mr, .to = to, .len = len };
  memcpy(w->data, from, len);
  Write **end = &withheld[context_of(mr->ibv.context)->device->index];
  while (*end)
    end = &(*end)->next;
  *end = w;
}

static void land(Write **first) {
  for (Write *w; (w = *first); free(w)) {
    *first = w->next;
    copy_into(w->region, w->to, w->data, w->len);
  }
}

void land_writes(const Mr *mr) {
  if (is_dma_buf(mr))
    land(&withheld[context_of(mr->ibv.context)->device->index]);
}

void land_all_writes(void) {
  for (int i = 0; i < MAX_DEVICES; i++)
    land(&withheld[i]);
}
