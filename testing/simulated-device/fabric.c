/* The shared file, its registry, and who is alive. */
#include "fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x326272765f6d6973ull  /* "sim_vrb2" */

enum { PAGE = 4096, REGISTRY_BYTE = 0, FIRST_PROCESS_BYTE = 16 };

Fabric fabric;
int self = -1;
uint64_t self_nonce;
bool fabric_made;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

uint64_t now_ns(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---------------------------------------------------------------- the file */

static uint64_t page_up(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static uint64_t tables_bytes(void) {
  return PAGE + page_up(PROCESSES * sizeof(Process)) + page_up(PORTS * sizeof(Port)) + page_up(RULES * sizeof(Rule))
    + page_up(SLOTS * sizeof(Slot)) + page_up(SLOTS * sizeof(Ring));
}

static void *next(uint8_t **at, uint64_t bytes) {
  void *here = *at;

  *at += page_up(bytes);
  return here;
}

static int map(uint64_t ring_bytes) {
  uint64_t bytes = tables_bytes() + SLOTS * ring_bytes;
  uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fabric.fd, 0);

  if (at == MAP_FAILED)
    return errno;
  madvise(at, bytes, MADV_DONTFORK);  /* a child is not on the fabric */
  fabric.header = next(&at, PAGE);
  fabric.processes = next(&at, PROCESSES * sizeof(Process));
  fabric.ports = next(&at, PORTS * sizeof(Port));
  fabric.rules = next(&at, RULES * sizeof(Rule));
  fabric.slots = next(&at, SLOTS * sizeof(Slot));
  fabric.rings = next(&at, SLOTS * sizeof(Ring));
  fabric.ring_data = at;
  return 0;
}

/* With the registry locked, so that who finds no magic is the first, or follows one who was killed. */
static int create_or_check(void) {
  struct { uint64_t magic, ring_bytes; } there = { 0, 0 };
  const char *asked = getenv("SIMVERBS_RING");
  const char *seed = getenv("SIMVERBS_SEED");

  if (pread(fabric.fd, &there, sizeof there, 0) == sizeof there && there.magic)
    return there.magic == MAGIC ? map(there.ring_bytes) : EPROTO;
  uint64_t ring_bytes = asked ? strtoull(asked, NULL, 0) : 1u << 20;
  ring_bytes = page_up(ring_bytes < 4 * 2 * SEGMENT ? 4 * 2 * SEGMENT : ring_bytes);
  ring_bytes = (ring_bytes + 4 * PAGE - 1) / (4 * PAGE) * (4 * PAGE);
  if (ftruncate(fabric.fd, (off_t)(tables_bytes() + SLOTS * ring_bytes)))
    return errno;
  int rc = posix_fallocate(fabric.fd, 0, (off_t)tables_bytes());  /* so that no later access raises SIGBUS */
  if (rc || (rc = map(ring_bytes)))
    return rc;
  fabric.header->ring_bytes = ring_bytes;
  fabric.header->seed = seed ? strtoull(seed, NULL, 0) : now_ns();
  atomic_store(&fabric.header->next_serial, 1);
  atomic_store(&fabric.header->magic, MAGIC);
  fabric_made = true;
  return 0;
}

int fabric_open(const char *path) {
  char by_default[64], locks[PATH_MAX];

  if (fabric.header)
    return 0;
  if (!path)
    path = getenv("SIMVERBS_FABRIC");
  if (!path) {
    snprintf(by_default, sizeof by_default, "/dev/shm/simverbs-%u", (unsigned)getuid());
    path = by_default;
  }
  if ((size_t)snprintf(locks, sizeof locks, "%s.locks", path) >= sizeof locks)
    return ENAMETOOLONG;
  fabric.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  fabric.lock_fd = fabric.fd < 0 ? -1 : open(locks, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fabric.lock_fd < 0) {
    int rc = errno;
    fprintf(stderr, "simverbs: cannot open the fabric %s: %s; set SIMVERBS_FABRIC to a file that can be written\n",
      path, strerror(rc));
    return rc;
  }
  registry_lock();
  int rc = create_or_check();
  registry_unlock();
  if (rc)
    fprintf(stderr, "simverbs: cannot use the fabric %s: %s; remove it if another version made it\n", path,
      strerror(rc));
  return rc;
}

/* ---------------------------------------------------------------- locks of the kernel */

static int lock_byte(int command, short type, off_t byte) {
  struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
  int rc;

  do {
    rc = fcntl(fabric.lock_fd, command, &l);
  } while (rc && errno == EINTR);
  return rc;
}

void registry_lock(void) {
  pthread_mutex_lock(&registry);  /* the file's lock is the process's, not the thread's */
  if (lock_byte(F_SETLKW, F_WRLCK, REGISTRY_BYTE))
    perror("simverbs: lock of the registry");
}

void registry_unlock(void) {
  (void)lock_byte(F_SETLK, F_UNLCK, REGISTRY_BYTE);
  pthread_mutex_unlock(&registry);
}

bool process_alive(uint32_t process, uint64_t nonce) {
  struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = FIRST_PROCESS_BYTE + process, .l_len = 1 };

  if (process >= PROCESSES || atomic_load(&fabric.processes[process].nonce) != nonce)
    return false;
  if ((int)process == self)
    return true;
  return !fcntl(fabric.lock_fd, F_GETLK, &l) && l.l_type != F_UNLCK;
}

/* Its byte is ours, so whoever had the slot is gone. */
static void become(int process, const char *node) {
  Process *p = &fabric.processes[process];
  uint64_t nonce = now_ns() ^ (uint64_t)getpid() << 40;

  atomic_store(&p->nonce, 0);
  p->pid = getpid();
  snprintf(p->node, sizeof p->node, "%s", node);
  atomic_store(&p->generation, 0);
  atomic_store(&p->asleep, 0);
  atomic_store(&p->summary, 0);
  for (int i = 0; i < SLOTS / 64; i++)
    atomic_store(&p->pending[i], 0);
  self_nonce = nonce ? nonce : 1;
  atomic_store(&p->nonce, self_nonce);
  self = process;
}

static void node_name(char *name) {
  const char *asked = getenv("SIMVERBS_NODE");
  struct stat net;

  if (asked)
    snprintf(name, NAME_SIZE, "%s", asked);
  else if (!stat("/proc/self/ns/net", &net))
    snprintf(name, NAME_SIZE, "net:%llu", (unsigned long long)net.st_ino);
  else
    snprintf(name, NAME_SIZE, "net");
}

int fabric_join(void) {
  char node[NAME_SIZE];

  node_name(node);
  registry_lock();
  for (int i = 0; i < PROCESSES && self < 0; i++)
    if (!lock_byte(F_SETLK, F_WRLCK, FIRST_PROCESS_BYTE + i))
      become(i, node);
  registry_unlock();
  return self >= 0 ? 0 : EUSERS;
}

/* ---------------------------------------------------------------- wake-ups */

void ring_bell(uint32_t process) {
  Process *p = &fabric.processes[process];

  atomic_fetch_add(&p->bell, 1);
  if (atomic_exchange(&p->asleep, 0))
    syscall(SYS_futex, &p->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void notify(uint32_t slot) {
  uint32_t owner = atomic_load(&fabric.slots[slot].owner);
  uint64_t bit = 1ull << slot % 64, word = 1ull << slot / 64;

  if (owner >= PROCESSES)
    return;
  Process *p = &fabric.processes[owner];
  if (!(atomic_fetch_or(&p->pending[slot / 64], bit) & bit) || !(atomic_load(&p->summary) & word))
    atomic_fetch_or(&p->summary, word);
  if (atomic_load(&p->asleep))
    ring_bell(owner);
}

void announce(void) {
  atomic_fetch_add(&fabric.header->generation, 1);
  for (uint32_t i = 0; i < PROCESSES; i++)
    if (atomic_load(&fabric.processes[i].nonce))
      ring_bell(i);
}
