/* Protection domains and memory regions: what peers write into them is written with the engine held. */
#include "simulated-verbs.h"

Mr *_Atomic mrs[MAX_OBJECTS];
static uint32_t next_mr;
static _Atomic uint32_t key_nonce;

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *c) {
  if ((errno = await_firmware(c)))
    return NULL;
  struct ibv_pd *pd = calloc(1, sizeof *pd);

  if (pd)
    pd->context = c;
  return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd) {
  if (await_firmware(pd->context))
    return EIO;
  free(pd);
  return 0;
}

struct ibv_mr *add_region(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access) {
  Mr *mr;

  if ((errno = await_firmware(pd->context)))
    return NULL;
  if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE)) {
    errno = EINVAL;
    return NULL;
  }
  mr = calloc(1, sizeof *mr);
  if (!mr)
    return NULL;
  mr->iova = iova;
  mr->access = (int)access;
  mr->ibv.context = pd->context;
  mr->ibv.pd = pd;
  mr->ibv.addr = addr;
  mr->ibv.length = len;
  lock(&world);
  for (uint32_t n = 0; n < MAX_OBJECTS; n++) {
    uint32_t i = next_mr++ % MAX_OBJECTS;
    if (i == 0 || mrs[i])
      continue;  /* key 0 is never given out */
    mr->ibv.handle = i;
    mr->ibv.lkey = mr->ibv.rkey = i << 8 | (atomic_fetch_add(&key_nonce, 1) & 0xff);
    atomic_store_explicit(&mrs[i], mr, memory_order_release);
    unlock(&world);
    return &mr->ibv;
  }
  unlock(&world);
  free(mr);
  errno = ENOMEM;
  return NULL;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access) {
  return add_region(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, int access) {
  return add_region(pd, addr, len, iova, (unsigned)access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
    unsigned access) {
  /* optional: who does not know it keeps the order, as instant devices do for speed */
  unsigned known = kind == &simulated ? IBV_ACCESS_RELAXED_ORDERING : 0, ignored = IBV_ACCESS_OPTIONAL_RANGE & ~known;

  return add_region(pd, addr, len, iova, access & ~ignored);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *m) {
  if (await_firmware(m->context))
    return EIO;
  pthread_mutex_lock(&engine);
  lock(&world);
  atomic_store_explicit(&mrs[m->handle], NULL, memory_order_release);
  unlock(&world);
  if (is_dma_buf((Mr *)m))
    unmap_dma_buf((Mr *)m);
  pthread_mutex_unlock(&engine);
  free(m);
  return 0;
}

/* For a stand-in of the CUDA driver. */
EXPORT void verbs_settle_writes(void) {
  pthread_mutex_lock(&engine);
  lock(&dma_bufs);
  land_all_writes();
  unlock(&dma_bufs);
  pthread_mutex_unlock(&engine);
}
