#include "trace.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct trace_table trace_table;
__thread struct trace_thread trace_thread;

static pid_t traced_process;

static void use_address(struct trace_connection *connection, const struct sockaddr_storage *address) {
  if (address->ss_family == AF_INET6) {
    memcpy(connection->local, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof connection->local);
  } else {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memcpy(connection->local, mapped, sizeof mapped);
    memcpy(connection->local + sizeof mapped, &((const struct sockaddr_in *)address)->sin_addr, 4);
  }
}

/* False: it is no connection of TCP's. */
static bool read_connection(int fd, struct trace_connection *connection) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  struct sockaddr_storage address;
  socklen_t address_length = sizeof address;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &address_length) != 0) {
    return false;
  }
  use_address(connection, &address);
  connection->retransmits = info.tcpi_total_retrans;
  connection->window_limited = info.tcpi_rwnd_limited;
  connection->busy = info.tcpi_busy_time;
  return true;
}

int trace_sample_connections(void) {
  DIR *directory = opendir("/proc/self/fd");
  uint64_t count = 0;
  const struct dirent *entry;
  while (directory != NULL && count < TRACE_CONNECTIONS && (entry = readdir(directory)) != NULL) {
    char *end;
    const long fd = strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && read_connection((int)fd, &trace_table.connections[count])) {
      count++;
    }
  }
  if (directory != NULL) {
    (void)closedir(directory);
  }
  trace_table.connection_count = count;
  return 0;
}

/* ---- rings of threads ---- */

static pthread_key_t ring_key;
static bool has_ring_key;

static void give_ring_back(void *of_thread) {
  struct trace_ring *ring = of_thread;
  if (atomic_load(&trace_table.is_tracing) != 0) { /* else it may be gone */
    atomic_store_explicit(&ring->owner, 0, memory_order_release);
  }
}

static void make_ring_key(void) {
  has_ring_key = pthread_key_create(&ring_key, give_ring_back) == 0;
}

struct trace_ring *trace_take_ring(struct trace_thread *thread) {
  enum { TRY_EVERY = 256 }; /* Java makes more, a hundred times a second */
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, make_ring_key);
  for (uint32_t i = 0; has_ring_key && thread->refused % TRY_EVERY == 0 && i < TRACE_THREADS; i++) {
    struct trace_ring *ring = atomic_load_explicit(&trace_table.threads[i], memory_order_acquire);
    uint64_t nobody = 0;
    if (ring != NULL && atomic_compare_exchange_strong(&ring->owner, &nobody, 1)) {
      thread->ring = ring;
      thread->place = i;
      (void)pthread_setspecific(ring_key, ring);
      return ring;
    }
  }
  thread->refused++;
  atomic_fetch_add(&trace_table.lost_events, 1);
  return NULL;
}

/* ---- the end ---- */

static void forget_in_child(void) {
  atomic_store(&trace_table.is_tracing, 0); /* the rings are the parent's */
}

/*
 * By exit(), on the thread that called it. Java's thread, which looks a hundred times a second, takes what the rings
 * have; where it does not, the rings outlive the process, and the report finds them. No longer than that: nothing keeps
 * the host from ending.
 */
static void end_trace(void) {
  enum { LONGEST_WAIT_MS = 300 };
  if (getpid() != traced_process || atomic_load(&trace_table.is_tracing) == 0) {
    return;
  }
  atomic_store(&trace_table.is_tracing, 0);
  atomic_store(&trace_table.is_ending, 1);
  const struct timespec moment = {.tv_nsec = 1000 * 1000};
  for (int waited = 0; waited < LONGEST_WAIT_MS && atomic_load(&trace_table.has_ended) == 0; waited++) {
    (void)nanosleep(&moment, NULL);
  }
}

void trace_until_exit(void) {
  if (atomic_load(&trace_table.is_tracing) != 0 && traced_process != getpid()) {
    traced_process = getpid();
    (void)atexit(end_trace);
    (void)pthread_atfork(NULL, NULL, forget_in_child);
  }
}
