/* Each byte arrives where it should and nowhere else, in order; what is not allowed is refused. */
#include "device-tests.h"

#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 3000, ORDERED = 60000, LINE = 128, SLOT_BYTES = 100000, SLOTS_USED = 4 };

/* ---------------------------------------------------------------- order */

/* Mostly a few lines, as protocols that poll have them. */
static size_t lines_of(uint64_t round) {
  uint64_t mixed = (round + seed) * 0x9e3779b97f4a7c15ull;

  return mixed >> 60 ? (mixed >> 32) % 64 + 1 : (mixed >> 32) % 512 + 1;
}

void order_writer(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (uint64_t n = 1; n <= ORDERED; n++) {
    size_t len = lines_of(n) * LINE;
    for (size_t i = 0; i < len / 8; i++)
      ((uint64_t *)(void *)e.memory)[i] = n;
    end_write(&e, n, 0, 0, len, IBV_SEND_SIGNALED);
    expect_success(e.sends, n);
  }
  meet(socket);
}

/* Whoever sees the last word of a message sees all of it. This end does not poll, so its NIC's thread writes. */
void order_checker(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)e.memory;
  for (uint64_t n = 1; n <= ORDERED; n++) {
    size_t last = lines_of(n) * LINE / 8 - 1;
    while (atomic_load_explicit(&words[last], memory_order_acquire) < n)
      ;
    for (size_t i = 0; i < last; i++)  /* the first one at once: a memcpy may well store it last */
      CHECK(atomic_load_explicit(&words[i], memory_order_relaxed) >= n, "word %zu of %zu is older than the last one", i,
        last + 1);
  }
  meet(socket);
}

/* Where a region allows it, some message's last word is there before its first: who polls for it is found out. */
void relaxed_checker(int socket) {
  End e;
  unsigned long early = 0;

  end_open(&e, "one");
  CHECK(!ibv_dereg_mr(e.mr), "%s", strerror(errno));
  e.mr = ibv_reg_mr(e.pd, e.memory, MEMORY, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_RELAXED_ORDERING);
  CHECK(e.mr, "%s", strerror(errno));
  end_connect(&e, socket);
  _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)e.memory;
  for (uint64_t n = 1; n <= ORDERED; n++) {
    size_t last = lines_of(n) * LINE / 8 - 1;
    while (atomic_load_explicit(&words[last], memory_order_acquire) < n)
      ;
    early += atomic_load_explicit(&words[0], memory_order_relaxed) < n;
  }
  meet(socket);
  CHECK(early, "all %d messages came in order", ORDERED);
}

/* ---------------------------------------------------------------- random messages */

static uint8_t byte_of(unsigned message, size_t i) { return (uint8_t)(message * 31 + i * 7 + i / 251); }

static size_t length_of(unsigned message) {
  unsigned mixed = (message + seed) * 2654435761u;

  return mixed % 3 == 0 ? mixed / 8 % 64 : mixed / 8 % (SLOT_BYTES - 64);
}

static size_t offset_of(unsigned message) { return message % SLOTS_USED * SLOT_BYTES + (message + seed) * 7 % 61; }

static void fill(End *e, unsigned message) {
  for (size_t i = 0; i < length_of(message); i++)
    e->memory[offset_of(message) + i] = byte_of(message, i);
}

/* Message by message: a write, a write with immediate, or a send; each is answered by a send of 8 bytes. */
void exchange_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 0; n < ROUNDS; n++) {
    size_t at = offset_of(n), len = length_of(n);
    fill(&e, n);
    end_receive(&e, n, MEMORY - 64, 8);
    if (n % 3 == 2) {
      end_send(&e, n, at, len);
    } else if (n % 3 == 1) {
      end_write(&e, n, at, at, len, 0);
      end_write_immediate(&e, n, 0, 0, 0, n);
    } else {
      end_write_immediate(&e, n, at, at, len, n);
    }
    expect_success(e.sends, n);
    expect_success(e.receives, n);
    CHECK(*(uint64_t *)(void *)(e.memory + MEMORY - 64) == n, "the answer to message %u", n);
    if (n % 7 == 0) {  /* and read it back, to another place */
      size_t into = SLOTS_USED * SLOT_BYTES;
      end_read(&e, 7, into, at, len);
      end_add(&e, 8, MEMORY - 128, MEMORY - 256, 1);
      expect_success(e.sends, 7);
      expect_success(e.sends, 8);
      for (size_t i = 0; i < len; i++)
        CHECK(e.memory[into + i] == byte_of(n, i), "byte %zu of message %u, read back", i, n);
      CHECK(*(uint64_t *)(void *)(e.memory + MEMORY - 128) == n / 7, "what was there before it was added to");
    }
  }
  meet(socket);
}

void exchange_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 0; n < ROUNDS; n++) {
    size_t at = offset_of(n), len = length_of(n);
    bool sent = n % 3 == 2;
    uint8_t before = e.memory[at ? at - 1 : SLOTS_USED * SLOT_BYTES], after = e.memory[at + len];
    if (n % 5 == 0)
      sched_yield();  /* so that it often comes before its receive */
    end_receive(&e, n, sent ? at : 0, sent ? len + 1 : 0);
    struct ibv_wc wc = next_completion(e.receives);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == n, "message %u: %s", n, ibv_wc_status_str(wc.status));
    CHECK(n % 3 == 1 || wc.byte_len == len, "message %u has %u bytes, not %zu", n, wc.byte_len, len);
    CHECK(sent || wc.imm_data == n, "immediate %u instead of %u", wc.imm_data, n);
    for (size_t i = 0; i < len; i++)
      CHECK(e.memory[at + i] == byte_of(n, i), "byte %zu of message %u", i, n);
    CHECK(e.memory[at + len] == after && (!at || e.memory[at - 1] == before), "around message %u", n);
    *(uint64_t *)(void *)(e.memory + MEMORY - 64) = n;
    end_send(&e, n, MEMORY - 64, 8);
    expect_success(e.sends, n);
  }
  meet(socket);
}

/* ---------------------------------------------------------------- refusals */

static void reconnect(End *e, int socket) {
  end_move(e, IBV_QPS_RESET);
  meet(socket);
  end_connect(e, socket);
}

static void expect_failure(End *e, uint64_t id, enum ibv_wc_status status) {
  struct ibv_wc wc = next_completion(e->sends);

  CHECK(wc.wr_id == id && wc.status == status, "%s of request %llu instead of %s", ibv_wc_status_str(wc.status),
    (unsigned long long)wc.wr_id, ibv_wc_status_str(status));
}

void refusals_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  uint32_t right = e.peer.rkey;
  e.peer.rkey ^= 0x5a5a;  /* the first has the cause, the others are flushed, unsignalled ones too */
  end_receive(&e, 40, 0, 8);
  for (uint64_t id = 1; id <= 4; id++)
    end_write(&e, id, 0, 0, 64, id == 1 ? IBV_SEND_SIGNALED : 0);
  expect_failure(&e, 1, IBV_WC_REM_ACCESS_ERR);
  for (uint64_t id = 2; id <= 4; id++)
    expect_failure(&e, id, IBV_WC_WR_FLUSH_ERR);
  struct ibv_wc flushed = next_completion(e.receives);
  CHECK(flushed.wr_id == 40 && flushed.status == IBV_WC_WR_FLUSH_ERR, "the receive is flushed");
  e.peer.rkey = right;

  reconnect(&e, socket);  /* beyond the region's end nothing is written at all */
  end_write(&e, 1, 0, MEMORY - 100000, 100001, 0);
  expect_failure(&e, 1, IBV_WC_REM_ACCESS_ERR);
  meet(socket);

  reconnect(&e, socket);  /* a send longer than its receive */
  end_send(&e, 1, 0, 64);
  expect_failure(&e, 1, IBV_WC_REM_INV_REQ_ERR);

  reconnect(&e, socket);
  uint32_t key = e.mr->lkey;
  e.mr->lkey ^= 0x5a5a;
  end_write(&e, 1, 0, 0, 64, 0);
  e.mr->lkey = key;
  expect_failure(&e, 1, IBV_WC_LOC_PROT_ERR);

  reconnect(&e, socket);  /* no receive, and no patience */
  end_move(&e, IBV_QPS_RESET);
  e.rnr_retry = 0;
  reconnect(&e, socket);
  end_send(&e, 1, 0, 64);
  end_send(&e, 2, 0, 64);
  expect_failure(&e, 1, IBV_WC_RNR_RETRY_EXC_ERR);
  expect_failure(&e, 2, IBV_WC_WR_FLUSH_ERR);
  meet(socket);
}

void refusals_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  memset(e.memory, 0xee, MEMORY);
  struct ibv_async_event event;
  CHECK(!ibv_get_async_event(e.context, &event) && event.event_type == IBV_EVENT_QP_ACCESS_ERR, "event %d",
    event.event_type);
  ibv_ack_async_event(&event);

  reconnect(&e, socket);
  meet(socket);
  for (size_t i = 0; i < MEMORY; i++)
    CHECK(e.memory[i] == 0xee, "byte %zu was written", i);

  end_move(&e, IBV_QPS_RESET);
  meet(socket);
  end_to_init(&e);
  end_receive(&e, 1, 0, 63);
  end_connect(&e, socket);
  struct ibv_wc wc = next_completion(e.receives);
  CHECK(wc.status == IBV_WC_LOC_LEN_ERR, "%s", ibv_wc_status_str(wc.status));
  CHECK(e.memory[63] == 0xee, "beyond the receive");
  reconnect(&e, socket);
  reconnect(&e, socket);
  end_move(&e, IBV_QPS_RESET);
  reconnect(&e, socket);
  meet(socket);
}

/* ---------------------------------------------------------------- connections */

void reconnect_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 1; n < 200; n++) {
    memset(e.memory, (int)n, 4096);
    end_write_immediate(&e, n, 0, 0, 4096, n);
    expect_success(e.sends, n);
    meet(socket);
    reconnect(&e, socket);
  }
}

void reconnect_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 1; n < 200; n++) {
    end_receive(&e, n, 0, 0);
    expect_success(e.receives, n);
    CHECK(e.memory[0] == (uint8_t)n && e.memory[4095] == (uint8_t)n, "message %u", n);
    meet(socket);
    reconnect(&e, socket);
  }
}

/* A queue pair that has failed keeps nothing that others get: connections made meanwhile do not share a ring. */
void rings_active(int socket) {
  End failed, others[3];

  end_open(&failed, "one");
  end_connect(&failed, socket);
  end_move(&failed, IBV_QPS_ERR);
  for (int i = 0; i < 3; i++) {
    end_another(&others[i], &failed);
    end_connect(&others[i], socket);
    if (i == 0)
      end_move(&failed, IBV_QPS_RESET);
  }
  for (unsigned n = 0; n < 300; n++) {
    End *e = &others[n % 3];
    memset(e->memory, (int)n, 30000);
    end_write_immediate(e, n, 0, n % 3 * 100000, 30000, n);
    expect_success(e->sends, n);
    meet(socket);
  }
}

void rings_passive(int socket) {
  End failed, others[3];

  end_open(&failed, "one");
  end_connect(&failed, socket);
  end_move(&failed, IBV_QPS_ERR);
  for (int i = 0; i < 3; i++) {
    end_another(&others[i], &failed);
    end_connect(&others[i], socket);
    if (i == 0)
      end_move(&failed, IBV_QPS_RESET);
  }
  for (unsigned n = 0; n < 300; n++) {
    End *e = &others[n % 3];
    end_receive(e, n, 0, 0);
    struct ibv_wc wc = next_completion(e->receives);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.qp_num == e->qp->qp_num && wc.imm_data == n, "message %u", n);
    for (size_t i = 0; i < 30000; i++)
      CHECK(e->memory[n % 3 * 100000 + i] == (uint8_t)n, "byte %zu of message %u", i, n);
    meet(socket);
  }
}

/* A completion queue that nobody empties is overrun, and an event says so. */
void overrun_active(int socket) {
  End e;
  struct ibv_async_event event;

  end_open(&e, "one");
  end_connect(&e, socket);
  struct ibv_cq *small = ibv_create_cq(e.context, 4, NULL, NULL, 0);
  CHECK(small, "%s", strerror(errno));
  struct ibv_qp_init_attr a = { .send_cq = small, .recv_cq = e.receives, .qp_type = IBV_QPT_RC,
    .cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 2, .max_recv_sge = 1 } };
  CHECK((e.qp = ibv_create_qp(e.pd, &a)), "%s", strerror(errno));
  end_connect(&e, socket);
  for (uint64_t id = 0; id < 8; id++)
    end_write(&e, id, 0, 0, 8, IBV_SEND_SIGNALED);
  CHECK(!ibv_get_async_event(e.context, &event) && event.event_type == IBV_EVENT_CQ_ERR, "event %d", event.event_type);
  ibv_ack_async_event(&event);
  meet(socket);
}

void overrun_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  end_another(&e, &e);
  end_connect(&e, socket);
  meet(socket);
}

/* Each operation is over when it was posted, and nothing of the process is on a fabric. */
void instant(int socket) {
  End e, x, y;

  setenv("SIMVERBS_INSTANT", "1", 1);
  end_open(&e, "one");
  connect_to_self(&e, &x, &y);
  check_unharmed(&x, &y);
  memset(e.memory, 7, 1000);
  end_send(&x, 1, 0, 1000);
  end_write(&x, 2, 0, 2000, 1000, IBV_SEND_SIGNALED);  /* both wait for a receive, in order */
  end_receive(&y, 3, 1000, 1000);
  expect_success(y.receives, 3);
  expect_success(x.sends, 1);
  expect_success(x.sends, 2);
  CHECK(!memcmp(e.memory, e.memory + 1000, 1000) && !memcmp(e.memory, e.memory + 2000, 1000), "what was sent");
  end_read(&y, 4, 4000, 2000, 1000);
  expect_success(y.sends, 4);
  CHECK(!memcmp(e.memory, e.memory + 4000, 1000), "what was read");
  memset(e.memory + 8, 0, 8);
  end_add(&y, 5, 16, 8, 3);
  expect_success(y.sends, 5);
  CHECK(e.memory[8] == 3 && !e.memory[16], "the sum %d, and before %d", e.memory[8], e.memory[16]);
  end_receive(&y, 6, 0, 8);
  end_move(&y, IBV_QPS_ERR);
  end_write(&x, 7, 0, 8, 8, IBV_SEND_SIGNALED);
  CHECK(next_completion(y.receives).status == IBV_WC_WR_FLUSH_ERR, "a receive in ERR");
  CHECK(next_completion(x.sends).status == IBV_WC_RETRY_EXC_ERR, "a write to ERR");
  CHECK(access(getenv("SIMVERBS_FABRIC"), F_OK), "there is a fabric");
  meet(socket);
}
