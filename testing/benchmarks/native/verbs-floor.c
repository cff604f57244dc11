/*
 * verbs-floor: what single operations of a verbs library cost, between queue pairs of one process, on one thread, to
 * compare one machine with another. What whole messages cost without any transport on top, floor.c asks. Meant for the
 * instant device; prints one JSON object.
 * usage: verbs-floor [BYTES,...]
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs-ends.h"

enum {
  MAX_SIZES = 16,
  MAX_BYTES = 1 << 24,
  PAGE_BYTES = 4096,
  BATCH_OPERATIONS = 2000,
  BATCH_BYTES = 1 << 22,
  BATCHES = 301,
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static int gid_index;
static int printed;

/* Of this thread on a processor: not what others on the machine take. */
static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(int bad, const char *what) {
  if (bad) {
    fprintf(stderr, "verbs-floor: %s failed\n", what);
    exit(1);
  }
}

static void check_done(const char *failed) {
  check(failed != NULL, failed);
}

static struct end new_end(uint32_t sends, uint32_t receives, uint32_t inline_bytes) {
  struct end end;
  check_done(open_end(&end, pd, sends, receives, inline_bytes));
  return end;
}

static void connect_to(struct end end, struct end peer) {
  struct route route = {.number = peer.qp->qp_num, .own_gid_index = gid_index, .mtu = IBV_MTU_1024};
  check(ibv_query_gid(ctx, 1, gid_index, &route.gid), "ibv_query_gid");
  check_done(connect_end(end, &route));
}

/* So many that a batch takes well less than a scheduler's slice. */
static int batch_of(uint32_t bytes) {
  int most = (int)(BATCH_BYTES / bytes);
  return most < BATCH_OPERATIONS ? most : BATCH_OPERATIONS;
}

static void print_median(const char *operation, uint32_t bytes, double *values) {
  qsort(values, BATCHES, sizeof *values, compare_doubles);
  printf("%s\n  {\"operation\": \"%s\", \"bytes\": %u, \"unit\": \"ns\", \"median\": %.2f, \"min\": %.2f}",
         printed++ > 0 ? "," : "", operation, bytes, values[BATCHES / 2], values[0]);
}

static void expect_completion(struct ibv_cq *cq, const char *what) {
  struct ibv_wc wc;
  check(ibv_poll_cq(cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS, what);
}

static void post_write(struct end end, enum ibv_wr_opcode opcode, const struct ibv_sge *from, uint64_t to,
                       uint32_t remote_key, unsigned flags) {
  check(post_bytes(end, opcode, from, to, remote_key, flags), "ibv_post_send");
}

static void post_receive(struct ibv_qp *qp, struct ibv_sge *into) {
  struct ibv_recv_wr wr = {.sg_list = into, .num_sge = into != NULL};
  struct ibv_recv_wr *bad;
  check(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static void one_operation(const char *name, enum ibv_wr_opcode opcode, struct end a, struct end b, struct ibv_mr *from,
                          struct ibv_mr *to, uint32_t bytes) {
  static double values[BATCHES];
  struct ibv_sge source = {(uintptr_t)from->addr, bytes, from->lkey};
  struct ibv_sge destination = {(uintptr_t)to->addr, bytes, to->lkey};
  int count = batch_of(bytes);
  for (int batch = -BATCHES; batch < BATCHES; batch++) { /* the first half warms up */
    double start = now_ns();
    for (int i = 0; i < count; i++) {
      if (opcode != IBV_WR_RDMA_WRITE) {
        post_receive(b.qp, opcode == IBV_WR_SEND ? &destination : NULL);
      }
      post_write(a, opcode, &source, destination.addr, to->rkey, IBV_SEND_SIGNALED);
      expect_completion(a.cq, "the send");
      if (opcode != IBV_WR_RDMA_WRITE) {
        expect_completion(b.cq, "the receive");
      }
    }
    if (batch >= 0) {
      values[batch] = (now_ns() - start) / count;
    }
  }
  print_median(name, bytes, values);
}

static void empty_poll(struct end end) {
  static double values[BATCHES];
  struct ibv_wc wc;
  for (int batch = -BATCHES; batch < BATCHES; batch++) {
    double start = now_ns();
    for (int i = 0; i < BATCH_OPERATIONS; i++) {
      check(ibv_poll_cq(end.cq, 1, &wc), "an empty poll");
    }
    if (batch >= 0) {
      values[batch] = (now_ns() - start) / BATCH_OPERATIONS;
    }
  }
  print_median("empty_poll", 0, values);
}

/* Numbers separated by commas; returns how many. */
static int numbers(const char *text, long max, long values[MAX_SIZES]) {
  int count = 0;
  while (*text != '\0') {
    char *end;
    values[count] = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || values[count] < 1 || values[count] > max ||
        count == MAX_SIZES - 1) {
      fprintf(stderr, "verbs-floor: %s: needs up to %d numbers from 1 to %ld, separated by commas\n", text,
              MAX_SIZES - 1, max);
      exit(2);
    }
    count++;
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}

static struct ibv_mr *new_buffer(size_t bytes) {
  void *buffer = aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1));
  check(buffer == NULL, "allocating memory");
  memset(buffer, 1, bytes);
  struct ibv_mr *region = ibv_reg_mr(pd, buffer, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  check(region == NULL, "ibv_reg_mr");
  return region;
}

int main(int argc, char **argv) {
  long sizes[MAX_SIZES];
  int size_count = numbers(argc > 1 ? argv[1] : "8,1024,65536", MAX_BYTES, sizes);
  long longest = 1;
  for (int i = 0; i < size_count; i++) {
    longest = sizes[i] > longest ? sizes[i] : longest;
  }
  struct ibv_device **list = ibv_get_device_list(NULL);
  struct ibv_port_attr port;
  check(list == NULL || list[0] == NULL || (ctx = ibv_open_device(list[0])) == NULL, "opening a device");
  check(ibv_query_port(ctx, 1, &port), "ibv_query_port");
  gid_index = port.gid_tbl_len - 1;
  pd = ibv_alloc_pd(ctx);
  check(pd == NULL, "ibv_alloc_pd");
  struct ibv_mr *from = new_buffer((size_t)longest);
  struct ibv_mr *to = new_buffer((size_t)longest);
  struct end a = new_end(64, 64, 0);
  struct end b = new_end(64, 64, 0);
  connect_to(a, b);
  connect_to(b, a);
  printf("{\"benchmark\": \"verbs-floor\", \"results\": [");
  for (int i = 0; i < size_count; i++) {
    one_operation("write_with_immediate", IBV_WR_RDMA_WRITE_WITH_IMM, a, b, from, to, (uint32_t)sizes[i]);
    one_operation("send", IBV_WR_SEND, a, b, from, to, (uint32_t)sizes[i]);
    one_operation("write", IBV_WR_RDMA_WRITE, a, b, from, to, (uint32_t)sizes[i]);
  }
  empty_poll(a);
  printf("]}\n");
  return 0;
}
