/*
 * verbs-ping-pong: the work requests of Trigon's messages without Trigon, in the pattern of net-ping-pong: what of a
 * message's time is the device's. Two processes, each with a queue pair for either direction.
 * usage: verbs-ping-pong DEVICE GID-INDEX RANK RENDEZVOUS-DIRECTORY latency|bandwidth|bandwidth-asleep BYTES MESSAGES
 *        [ENTRIES-AT-ONCE]
 * bandwidth-asleep: the receiver sleeps a little when nothing has come, instead of yielding; ib_write_bw's waits all
 * the time.
 * ENTRIES-AT-ONCE: clear-to-send entries of one work request, 1 to 4, by default 4 as in Trigon.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "rendezvous.h"
#include "verbs-ends.h"

enum {
  MAX_BYTES = 1 << 20,
  PAGE_BYTES = 4096,
  RING_SLOTS = 32,
  DEPTH = 8,
  ENOUGH_AHEAD = 4,
  SIGNAL_INTERVAL = 16,
  INLINE_BYTES = 32,
  BATCH = 16,
  SLEEP_US = 300,
  DEADLINE_SECONDS = 120,
  DEADLINE_CHECK = 4096,
};

/* As in Trigon's ring; valid when the sequence number is the message's plus 1. */
struct entry {
  uint64_t address;
  uint32_t remote_key;
  uint32_t capacity;
  uint64_t tag;
  _Atomic uint64_t sequence;
};

/* What an end tells the other. */
struct offer {
  uint32_t sender;
  uint32_t receiver;
  uint64_t ring;
  uint64_t data;
  uint32_t ring_key;
  uint32_t data_key;
  union ibv_gid gid;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct rendezvous *rendezvous;
static double deadline;
static int rank;
static bool receiver_sleeps;
static struct offer peer;

static struct {
  struct end end;
  const struct entry *ring;
  char *data;
  uint32_t key;
  uint64_t posted;
  uint64_t done;
} sender;

static struct {
  struct end end;
  struct entry *staging;
  uint32_t staging_key;
  uint64_t entries_at_once;
  uint64_t posted;
  uint64_t written; /* entries */
  uint64_t writes;
  uint64_t done;
} receiver;

static void check(bool good, const char *what) {
  if (!good) {
    fail(rank, "%s failed: %s", what, strerror(errno));
    exit(1);
  }
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void count_idle(unsigned *idle, bool yields) {
  if (++*idle % DEADLINE_CHECK == 0) {
    errno = ETIMEDOUT;
    check(now() < deadline, "waiting for the other end");
  }
  if (yields) {
    sched_yield();
  }
}

static void check_done(const char *failed) {
  check(failed == NULL, failed);
}

static void connect_to(struct end end, uint32_t number, int gid_index, enum ibv_mtu mtu) {
  struct route route = {.number = number, .gid = peer.gid, .own_gid_index = gid_index, .mtu = mtu};
  check_done(connect_end(end, &route));
}

static struct ibv_mr *memory(size_t bytes, int access) {
  void *block = NULL;
  check((errno = posix_memalign(&block, PAGE_BYTES, bytes)) == 0, "allocating memory");
  memset(block, 0, bytes);
  struct ibv_mr *mr = ibv_reg_mr(pd, block, bytes, access);
  check(mr != NULL, "ibv_reg_mr");
  return mr;
}

static void open_device(const char *name) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  for (int i = 0; devices != NULL && devices[i] != NULL; i++) {
    if (strcmp(ibv_get_device_name(devices[i]), name) == 0) {
      ctx = ibv_open_device(devices[i]);
    }
  }
  check(ctx != NULL, "opening the device");
  pd = ibv_alloc_pd(ctx);
  check(pd != NULL, "ibv_alloc_pd");
}

static void connect_ends(int gid_index) {
  struct ibv_port_attr port;
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  struct ibv_mr *ring = memory(PAGE_BYTES, access);
  struct ibv_mr *staging = memory(PAGE_BYTES, 0);
  struct ibv_mr *from = memory(MAX_BYTES, 0);
  struct ibv_mr *to = memory(MAX_BYTES, access);
  check_done(open_end(&sender.end, pd, 160, 1, INLINE_BYTES));
  sender.ring = ring->addr;
  sender.data = from->addr;
  sender.key = from->lkey;
  check_done(open_end(&receiver.end, pd, 64, RING_SLOTS, INLINE_BYTES));
  receiver.staging = staging->addr;
  receiver.staging_key = staging->lkey;
  struct offer offer = {.sender = sender.end.qp->qp_num,
                        .receiver = receiver.end.qp->qp_num,
                        .ring = (uintptr_t)ring->addr,
                        .data = (uintptr_t)to->addr,
                        .ring_key = ring->rkey,
                        .data_key = to->rkey};
  check(ibv_query_port(ctx, 1, &port) == 0, "ibv_query_port");
  check(ibv_query_gid(ctx, 1, gid_index, &offer.gid) == 0, "ibv_query_gid");
  for (int i = 0; i < RING_SLOTS; i++) {
    receiver.staging[i] = (struct entry){.address = offer.data, .remote_key = offer.data_key, .capacity = MAX_BYTES};
  }
  check(rendezvous_put(rendezvous, rank == 0 ? "offer.0" : "offer.1", &offer, sizeof offer), "the rendezvous");
  unsigned idle = 0;
  int got;
  while ((got = rendezvous_get(rendezvous, rank == 0 ? "offer.1" : "offer.0", &peer, sizeof peer)) == 0) {
    errno = ETIMEDOUT;
    check(now() < deadline, "waiting for the other end");
    idle_wait(&idle);
  }
  check(got > 0, "the rendezvous");
  connect_to(sender.end, peer.receiver, gid_index, port.active_mtu);
  connect_to(receiver.end, peer.sender, gid_index, port.active_mtu);
}

static void post_write(struct end end, enum ibv_wr_opcode opcode, const void *from, uint32_t bytes,
                       uint32_t key, uint64_t to, uint32_t remote_key, unsigned flags) {
  struct ibv_sge sge = {(uintptr_t)from, bytes, key};
  check((errno = post_bytes(end, opcode, &sge, to, remote_key, flags)) == 0, "ibv_post_send");
}

static void write_entries(void) {
  while (receiver.written < receiver.posted) {
    uint64_t slot = receiver.written % RING_SLOTS;
    uint64_t count = receiver.posted - receiver.written;
    count = count < RING_SLOTS - slot ? count : RING_SLOTS - slot;
    uint32_t bytes = (uint32_t)(count * sizeof(struct entry));
    unsigned flags = bytes <= INLINE_BYTES ? IBV_SEND_INLINE : 0;
    flags |= ++receiver.writes % SIGNAL_INTERVAL == 0 ? IBV_SEND_SIGNALED : 0;
    post_write(receiver.end, IBV_WR_RDMA_WRITE, &receiver.staging[slot], bytes, receiver.staging_key,
               peer.ring + slot * sizeof(struct entry), peer.ring_key, flags);
    receiver.written += count;
  }
}

static void write_entries_if_due(void) {
  if (receiver.posted - receiver.written >= receiver.entries_at_once ||
      receiver.written - receiver.done < ENOUGH_AHEAD) {
    write_entries();
  }
}

static void receive_ahead(void) {
  while (receiver.posted - receiver.done < DEPTH) {
    struct ibv_recv_wr wr = {.wr_id = receiver.posted};
    struct ibv_recv_wr *bad;
    check((errno = ibv_post_recv(receiver.end.qp, &wr, &bad)) == 0, "ibv_post_recv");
    atomic_store_explicit(&receiver.staging[receiver.posted % RING_SLOTS].sequence, receiver.posted + 1,
                          memory_order_relaxed);
    receiver.posted++;
    write_entries_if_due();
  }
}

static bool send_message(uint32_t bytes) {
  const struct entry *entry = &sender.ring[sender.posted % RING_SLOTS];
  if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != sender.posted + 1) {
    return false;
  }
  post_write(sender.end, IBV_WR_RDMA_WRITE_WITH_IMM, sender.data, bytes, sender.key, entry->address, entry->remote_key,
             IBV_SEND_SIGNALED);
  sender.posted++;
  return true;
}

static void poll(struct end end) {
  struct ibv_wc completions[BATCH];
  int count = ibv_poll_cq(end.cq, BATCH, completions);
  for (int i = 0; i < count; i++) {
    errno = EIO;
    check(completions[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(completions[i].status));
    sender.done += completions[i].opcode == IBV_WC_RDMA_WRITE && end.qp == sender.end.qp;
    receiver.done += completions[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  }
  write_entries_if_due();
}

static void send_and_wait(uint32_t bytes) {
  unsigned idle = 0;
  while (!send_message(bytes)) {
    count_idle(&idle, false);
  }
}

static void receive_one(uint64_t message) {
  unsigned idle = 0;
  while (receiver.done <= message) {
    poll(receiver.end);
    count_idle(&idle, false);
  }
}

static void finish_send(void) {
  unsigned idle = 0;
  while (sender.done < sender.posted) {
    poll(sender.end);
    count_idle(&idle, false);
  }
}

static void latency(uint32_t bytes, uint64_t messages) {
  double *halves = calloc(messages, sizeof *halves);
  check(halves != NULL, "allocating memory");
  for (uint64_t i = 0; i < messages; i++) {
    int64_t start = now_ns();
    if (rank == 0) {
      send_and_wait(bytes);
      receive_ahead();
      receive_one(i);
    } else {
      receive_one(i);
      send_and_wait(bytes);
      receive_ahead();
    }
    finish_send();
    halves[i] = (double)(now_ns() - start) / 2e3;
  }
  if (rank == 0) {
    qsort(halves, messages, sizeof *halves, compare_doubles);
    printf("{\"bytes\": %u, \"iterations\": %llu, \"min_us\": %.3f, \"median_us\": %.3f}\n", bytes,
           (unsigned long long)messages, halves[0], halves[messages / 2]);
  }
  free(halves);
}

static void bandwidth(uint32_t bytes, uint64_t messages) {
  unsigned idle = 0;
  int64_t start = now_ns();
  while (rank == 0 ? sender.done < messages : receiver.done < messages) {
    uint64_t before = sender.posted + sender.done + receiver.done;
    if (rank == 0) {
      if (sender.posted < messages && sender.posted - sender.done < DEPTH) {
        (void)send_message(bytes);
      }
      poll(sender.end);
    } else {
      poll(receiver.end);
      receive_ahead();
    }
    if (sender.posted + sender.done + receiver.done == before) {
      bool sleeps = receiver_sleeps && rank == 1;
      count_idle(&idle, !sleeps);
      if (sleeps) {
        usleep(SLEEP_US);
      }
    }
  }
  if (rank == 0) {
    printf("{\"bytes\": %u, \"messages\": %llu, \"mb_per_second\": %.2f}\n", bytes, (unsigned long long)messages,
           (double)bytes * (double)messages / ((double)(now_ns() - start) / 1e9) / (1 << 20));
  }
}

int main(int argc, char **argv) {
  if (argc < 8 || argc > 9) {
    fprintf(stderr,
            "usage: verbs-ping-pong DEVICE GID-INDEX RANK RENDEZVOUS-DIRECTORY latency|bandwidth|bandwidth-asleep "
                    "BYTES MESSAGES [ENTRIES-AT-ONCE]\n");
    return 2;
  }
  rank = argv[3][0] == '1';
  long bytes = atol(argv[6]);
  long messages = atol(argv[7]);
  receiver.entries_at_once = argc == 9 ? (uint64_t)atol(argv[8]) : 4;
  deadline = now() + DEADLINE_SECONDS;
  errno = EINVAL;
  check(bytes >= 0 && bytes <= MAX_BYTES && messages > 0 && receiver.entries_at_once > 0, "reading the arguments");
  rendezvous = rendezvous_open(argv[4], rank, deadline);
  if (rendezvous == NULL) {
    return 1;
  }
  open_device(argv[1]);
  connect_ends(atoi(argv[2]));
  bool measures_latency = strcmp(argv[5], "latency") == 0;
  receiver_sleeps = strcmp(argv[5], "bandwidth-asleep") == 0;
  check(rendezvous_barrier(rendezvous, "connected", 2, deadline), "the rendezvous");
  if (rank == 1 || measures_latency) {
    receive_ahead();
  }
  check(rendezvous_barrier(rendezvous, "begin", 2, deadline), "the rendezvous");
  (measures_latency ? latency : bandwidth)((uint32_t)bytes, (uint64_t)messages);
  bool ok = fflush(stdout) == 0 && rendezvous_barrier(rendezvous, "done", 2, deadline) &&
            rendezvous_leave(rendezvous, 2, deadline);
  rendezvous_close(rendezvous);
  return ok ? 0 : 1;
}
