/*
 * A libcuda.so.1 without a GPU: memory of its "GPU" lies far from where its addresses say, so that a program that
 * touches it by itself ends with a signal. Copies run in their order, each some calls after it was begun. A flush of
 * writes by other devices has the stand-in of libibverbs let them be seen. Tests alone.
 *
 * FAKE_CUDA_ORDERING is what the GPU claims of such writes (CUGPUDirectRDMAWritesOrdering; default 0, no order): with
 * 200 a flush does nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { NOT_READY = 600, INVALID_CONTEXT = 201, INVALID_VALUE = 1, MEMORY_TYPE = 2, OF_DEVICE = 2 };
enum { DEVICE_ORDINAL = 9, FLUSH_OPTIONS = 117, WRITES_ORDERING = 118, BY_HOST = 1, PRIMARY_CONTEXT = 1 };
enum { QUEUE = 4096, EVENTS = 65536 };
static const uint64_t APART = 1ULL << 56;

struct command {
  uint64_t to, from, bytes, value;
  int kind; /* 1: copy, 2: write */
};
struct stream {
  struct command queue[QUEUE];
  uint64_t begun, over;
  unsigned calls;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream streams[64];
static uint64_t stream_count;
static struct {
  struct stream *stream;
  uint64_t at;
} events[EVENTS];
static uint64_t event_count;
static _Thread_local uint64_t current;

static void *real(uint64_t address) {
  return (void *)(uintptr_t)(address >= APART ? address - APART : address);
}

static void run_one(struct stream *s) {
  struct command *c = &s->queue[s->over % QUEUE];
  if (c->kind == 1) {
    memmove(real(c->to), real(c->from), c->bytes);
  } else {
    __atomic_store_n((uint64_t *)real(c->to), c->value, __ATOMIC_RELEASE);
  }
  s->over++;
}

static int begin(uint64_t stream, struct command c) {
  if (current == 0) {
    return INVALID_CONTEXT;
  }
  pthread_mutex_lock(&lock);
  struct stream *s = (struct stream *)(uintptr_t)stream;
  while (s->begun - s->over >= QUEUE) {
    run_one(s);
  }
  s->queue[s->begun++ % QUEUE] = c;
  pthread_mutex_unlock(&lock);
  return 0;
}

/* By this it can be told from a real one. */
EXPORTED int trigon_fake_cuda = 1;

EXPORTED int cuCtxGetCurrent(uint64_t *out) {
  *out = current;
  return 0;
}
EXPORTED int cuCtxSetCurrent(uint64_t context) {
  current = context;
  return 0;
}
EXPORTED int cuPointerGetAttribute(void *out, int attribute, uint64_t pointer) {
  if (attribute == DEVICE_ORDINAL) {
    *(int *)out = 0; /* its own memory, and that of nccl-host's --gpu-memory */
    return 0;
  }
  if (attribute != MEMORY_TYPE || pointer < APART) {
    return INVALID_VALUE;
  }
  *(int *)out = OF_DEVICE;
  return 0;
}
EXPORTED int cuStreamCreate(uint64_t *out, unsigned flags) {
  (void)flags;
  pthread_mutex_lock(&lock);
  *out = (uint64_t)(uintptr_t)&streams[stream_count++ % 64];
  pthread_mutex_unlock(&lock);
  return current == 0 ? INVALID_CONTEXT : 0;
}
EXPORTED int cuStreamDestroy_v2(uint64_t stream) {
  (void)stream;
  return 0;
}
EXPORTED int cuStreamSynchronize(uint64_t stream) {
  struct stream *s = (struct stream *)(uintptr_t)stream;
  pthread_mutex_lock(&lock);
  while (s->over < s->begun) {
    run_one(s);
  }
  pthread_mutex_unlock(&lock);
  return current == 0 ? INVALID_CONTEXT : 0;
}
EXPORTED int cuEventCreate(uint64_t *out, unsigned flags) {
  (void)flags;
  pthread_mutex_lock(&lock);
  *out = ++event_count % EVENTS;
  pthread_mutex_unlock(&lock);
  return current == 0 ? INVALID_CONTEXT : 0;
}
EXPORTED int cuEventDestroy_v2(uint64_t event) {
  (void)event;
  return 0;
}
EXPORTED int cuEventRecord(uint64_t event, uint64_t stream) {
  if (current == 0) {
    return INVALID_CONTEXT;
  }
  pthread_mutex_lock(&lock);
  events[event].stream = (struct stream *)(uintptr_t)stream;
  events[event].at = events[event].stream->begun;
  pthread_mutex_unlock(&lock);
  return 0;
}
EXPORTED int cuEventQuery(uint64_t event) {
  pthread_mutex_lock(&lock);
  struct stream *s = events[event].stream;
  if (s->over < events[event].at && s->calls++ % 3 == 2) {
    run_one(s);
  }
  int result = s->over >= events[event].at ? 0 : NOT_READY;
  pthread_mutex_unlock(&lock);
  return current == 0 ? INVALID_CONTEXT : result;
}
EXPORTED int cuMemcpyAsync(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream) {
  return begin(stream, (struct command){.to = to, .from = from, .bytes = bytes, .kind = 1});
}
EXPORTED int cuStreamWriteValue64_v2(uint64_t stream, uint64_t to, uint64_t value, unsigned flags) {
  (void)flags;
  return begin(stream, (struct command){.to = to, .value = value, .kind = 2});
}
EXPORTED int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  (void)address, (void)bytes, (void)flags;
  return 0;
}
EXPORTED int cuMemHostUnregister(void *address) {
  (void)address;
  return 0;
}

static int ordering(void) {
  const char *text = getenv("FAKE_CUDA_ORDERING");
  return text == NULL ? 0 : atoi(text);
}
EXPORTED int cuDeviceGet(int *out, int ordinal) {
  *out = ordinal;
  return ordinal == 0 ? 0 : INVALID_VALUE;
}
EXPORTED int cuDeviceGetAttribute(int *out, int attribute, int device) {
  *out = attribute == FLUSH_OPTIONS ? BY_HOST : ordering();
  return device == 0 && (attribute == FLUSH_OPTIONS || attribute == WRITES_ORDERING) ? 0 : INVALID_VALUE;
}
EXPORTED int cuDevicePrimaryCtxRetain(uint64_t *out, int device) {
  *out = PRIMARY_CONTEXT;
  return device == 0 ? 0 : INVALID_VALUE;
}
EXPORTED int cuDevicePrimaryCtxRelease_v2(int device) {
  return device == 0 ? 0 : INVALID_VALUE;
}
EXPORTED int cuFlushGPUDirectRDMAWrites(int target, int scope) {
  void *verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  void (*settle)(void) = NULL;
  if (current == 0 || target != 0) {
    return INVALID_CONTEXT;
  }
  if (verbs != NULL && scope > ordering()) {
    *(void **)&settle = dlsym(verbs, "verbs_settle_writes");
  }
  if (settle != NULL) {
    settle();
    fprintf(stderr, "fakecuda: writes of other devices are flushed\n");
  }
  return 0;
}
