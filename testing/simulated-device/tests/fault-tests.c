/* Rules: loss, cuts, late writes, events. Each asserts that its fault happened. */
#include "device-tests.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { BYTES = 100000, MANY = 60 };

static void no_rule_is_left(int socket) {
  meet(socket);
  ctl("mend");
}

static void expect_strikes(const char *action) {
  char command[96];

  snprintf(command, sizeof command, "rules | grep -q '%s .*strikes [1-9]'", action);
  ctl(command);
}

/* Messages are lost, and so are acknowledgements: all arrive, once, and in order. */
void lossy_active(int socket) {
  End e;

  end_open(&e, "one");
  e.timeout = 8;
  end_connect(&e, socket);
  ctl("'loss a>b 20 ; ack-loss a>b 20 ; delay b>a 0us..300us'");
  for (unsigned n = 1; n <= MANY; n++) {
    memset(e.memory, (int)n, BYTES);
    end_write_immediate(&e, n, 0, 0, BYTES, n);
    expect_success(e.sends, n);
    end_receive(&e, n, MEMORY - 8, 8);
    expect_success(e.receives, n);
  }
  expect_strikes("loss");
  expect_strikes("ack-loss");
  expect_strikes("delay");
  no_rule_is_left(socket);
}

static void *ask(void *end) {
  End *e = end;
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr made;

  CHECK(!ibv_query_qp(e->qp, &attributes, IBV_QP_STATE, &made), "%s", strerror(errno));
  return NULL;
}

/* Only calls wait for a firmware that is busy, and no longer than it is. */
void stalled_active(int socket) {
  End e;
  pthread_t asking;

  end_open(&e, "one");
  end_connect(&e, socket);
  ctl("'stall a 1000s'");
  CHECK(!pthread_create(&asking, NULL, ask, &e), "a thread");
  for (unsigned n = 1; n <= MANY; n++) {
    end_write(&e, n, 0, 0, BYTES, IBV_SEND_SIGNALED);
    expect_success(e.sends, n);
  }
  CHECK(pthread_tryjoin_np(asking, NULL) == EBUSY, "the call has not waited");
  ctl("mend");
  CHECK(!pthread_join(asking, NULL), "a thread");
  meet(socket);
}

void stalled_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
}

static uint8_t read_beat(End *e, uint64_t id) {
  end_read(e, id, 0, BYTES, 1);
  expect_success(e->sends, (unsigned)id);
  return e->memory[0];
}

/* The target's memory changes by WRITEs, and not by its program; which goes on when the rule is gone. */
void still_active(int socket) {
  End e;
  unsigned id = 0;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
  ctl("'stop b'");
  uint8_t beat = read_beat(&e, ++id);
  for (unsigned n = 1; n <= MANY; n++) {
    end_write(&e, ++id, 0, 0, BYTES / 2, IBV_SEND_SIGNALED);
    expect_success(e.sends, id);
    CHECK(read_beat(&e, ++id) == beat, "the program goes on");
  }
  expect_strikes("stop");
  ctl("mend");
  while (read_beat(&e, ++id) == beat)
    ;
  meet(socket);
}

static _Atomic bool beating;

static void *beat(void *end) {
  End *e = end;

  while (atomic_load(&beating)) {
    e->memory[BYTES]++;
    usleep(100);
  }
  return NULL;
}

void still_passive(int socket) {
  End e;
  pthread_t beats;

  end_open(&e, "one");
  atomic_store(&beating, true);
  CHECK(!pthread_create(&beats, NULL, beat, &e), "a thread");
  end_connect(&e, socket);
  meet(socket);
  meet(socket);
  atomic_store(&beating, false);
  CHECK(!pthread_join(beats, NULL), "a thread");
}

void lossy_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 1; n <= MANY; n++) {
    end_receive(&e, n, 0, 0);
    struct ibv_wc wc = next_completion(e.receives);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.imm_data == n, "message %u", n);
    for (size_t i = 0; i < BYTES; i++)
      CHECK(e.memory[i] == (uint8_t)n, "byte %zu of message %u", i, n);
    end_send(&e, n, 0, 8);
    expect_success(e.sends, n);
  }
  meet(socket);
}

static double seconds(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A model of 3 ms and 100 Mbit/s: what is measured is no less, and other rules strike packets that it times. */
void modelled_active(int socket) {
  End e;

  end_open(&e, "one");
  e.timeout = 8;
  end_connect(&e, socket);
  ctl("'model *>* 3ms 100M'");
  double start = seconds();
  end_write_immediate(&e, 1, 0, 0, BYTES, 1);
  expect_success(e.sends, 1);
  CHECK(seconds() - start > 0.008 + 2 * 0.003, "100000 bytes and their acknowledgement took %f s", seconds() - start);
  end_read(&e, 2, 0, 0, BYTES);
  expect_success(e.sends, 2);
  expect_strikes("model");
  ctl("'loss a>b 20'");
  for (unsigned n = 3; n <= MANY; n++) {
    end_write_immediate(&e, n, 0, 0, 8, n);
    expect_success(e.sends, n);
  }
  expect_strikes("loss");
  no_rule_is_left(socket);
}

void modelled_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  for (unsigned n = 2; n <= MANY; n++)
    end_receive(&e, n, 0, 0);
  meet(socket);
}

/* A cut is silence: the timers end it. What was lost does not come after the mending. */
void cut_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  ctl("'cut a-b'");
  memset(e.memory, 1, BYTES);
  end_write(&e, 1, 0, 0, BYTES, IBV_SEND_SIGNALED);
  end_write(&e, 2, 0, 0, BYTES, 0);
  struct ibv_wc wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 1, "%s", ibv_wc_status_str(wc.status));
  wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 2, "%s", ibv_wc_status_str(wc.status));
  no_rule_is_left(socket);
  end_move(&e, IBV_QPS_RESET);
  end_connect(&e, socket);
  end_write(&e, 3, 0, 0, 8, IBV_SEND_SIGNALED);  /* it works again */
  expect_success(e.sends, 3);
  ctl("'delay a>b 10ms'");
  end_write(&e, 4, 0, 0, 8, IBV_SEND_SIGNALED);
  expect_success(e.sends, 4);
  ctl("mend");
  ctl("'delay a>b 300ms'");  /* a pause that is longer than the timers is as bad as a cut */
  end_write(&e, 5, 0, 0, 8, IBV_SEND_SIGNALED);
  wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 5, "%s", ibv_wc_status_str(wc.status));
  ctl("mend");
  meet(socket);
}

void cut_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
  for (size_t i = 0; i < BYTES; i++)
    CHECK(e.memory[i] == 0, "byte %zu came through the cut", i);
  end_move(&e, IBV_QPS_RESET);
  end_connect(&e, socket);
  meet(socket);
}

/* Only what a path MTU lets be too long is lost, though more of it comes before and after. */
void long_packets_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  ctl("'loss-over a>b 1024'");
  memset(e.memory, 1, BYTES);
  end_write(&e, 1, 0, 0, BYTES, IBV_SEND_SIGNALED);
  expect_success(e.sends, 1);
  meet(socket);
  end_move(&e, IBV_QPS_RESET);
  e.mtu = IBV_MTU_4096;
  end_connect(&e, socket);
  memset(e.memory, 2, BYTES);
  end_write(&e, 2, 0, 0, 1024, IBV_SEND_SIGNALED);
  end_write(&e, 3, 1024, 1024, 4096, IBV_SEND_SIGNALED);
  end_write(&e, 4, 0, BYTES, 8, 0);
  expect_success(e.sends, 2);
  struct ibv_wc wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 3, "%s", ibv_wc_status_str(wc.status));
  expect_strikes("loss-over");
  no_rule_is_left(socket);
}

void long_packets_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
  CHECK(e.memory[0] == 1 && e.memory[BYTES - 1] == 1, "short packets are lost");
  end_move(&e, IBV_QPS_RESET);
  e.mtu = IBV_MTU_4096;
  end_connect(&e, socket);
  meet(socket);
  CHECK(e.memory[1023] == 2 && e.memory[1024] == 1 && e.memory[BYTES] == 0, "a long packet has come, or what follows");
}

/* The sender gives up and goes on elsewhere; then its packets land, unless the target's queue pair is fenced. */
void hold_active(int socket) {
  End e;

  end_open(&e, "one");
  for (int fenced = 0; fenced < 3; fenced++) {
    e.timeout = 8;
    end_move(&e, IBV_QPS_RESET);
    end_connect(&e, socket);
    ctl(fenced == 2 ? "'hold a>b 500ms pierce'" : "'hold a>b 500ms'");
    memset(e.memory, 1, BYTES);
    end_write(&e, 1, 0, 0, BYTES, IBV_SEND_SIGNALED);
    struct ibv_wc wc = next_completion(e.sends);
    CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(wc.status));
    expect_strikes("hold");
    struct ibv_qp *old = e.qp;
    end_another(&e, &e);
    CHECK(!ibv_destroy_qp(old), "destroy");
    no_rule_is_left(socket);
    meet(socket);
  }
}

void hold_passive(int socket) {
  End e, x, y;

  end_open(&e, "one");
  for (int fenced = 0; fenced < 3; fenced++) {
    memset(e.memory, 0, MEMORY);
    end_move(&e, IBV_QPS_RESET);
    end_connect(&e, socket);
    meet(socket);  /* the sender has given up */
    CHECK(e.memory[BYTES - 1] == 0, "it came early");
    if (fenced == 2)
      end_move(&e, IBV_QPS_ERR);  /* which a packet that pierces does not mind */
    if (fenced == 1) {
      connect_to_self(&e, &x, &y);
      end_move(&e, IBV_QPS_ERR);
      usleep(600000);  /* until after it would have landed */
      check_unharmed(&x, &y);
      CHECK(e.memory[0] == 0 && e.memory[BYTES - 1] == 0, "it came through the fence");
    } else {
      while (*(volatile uint8_t *)(e.memory + BYTES - 1) != 1)
        sched_yield();
    }
    meet(socket);
  }
}

/* What was executed and not acknowledged: the sender does not know that it is there. */
void broken_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  ctl("'break a>b executed 3 acked 1'");
  for (uint64_t id = 1; id <= 5; id++) {
    memset(e.memory + id * BYTES, (int)id, BYTES);
    end_write(&e, id, id * BYTES, id * BYTES, BYTES, IBV_SEND_SIGNALED);
  }
  expect_success(e.sends, 1);
  struct ibv_wc wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 2, "%s", ibv_wc_status_str(wc.status));
  expect_strikes("break");
  no_rule_is_left(socket);

  end_move(&e, IBV_QPS_RESET);
  e.timeout = 20;
  end_connect(&e, socket);
  ctl("'break a>b executed 9 acked 0'");
  end_write(&e, 5, 5 * BYTES, 7 * BYTES, BYTES, IBV_SEND_SIGNALED);
  meet(socket);  /* it is there */
  ctl("mend");
  expect_success(e.sends, 5);
  ctl("'lie a>b times 1'");
  end_write(&e, 6, BYTES, 6 * BYTES, BYTES, IBV_SEND_SIGNALED);
  expect_success(e.sends, 6);
  meet(socket);
  ctl("'flip a>b times 1'");
  end_write(&e, 7, BYTES, 6 * BYTES, BYTES, IBV_SEND_SIGNALED);
  expect_success(e.sends, 7);
  meet(socket);
  ctl("'qp a/one * mute times 1'");
  meet(socket);
}

void broken_passive(int socket) {
  End e;
  size_t wrong = 0;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
  for (size_t i = BYTES; i < 6 * BYTES; i++)
    CHECK(e.memory[i] == (i / BYTES <= 3 ? i / BYTES : 0), "byte %zu is %u", i, e.memory[i]);
  end_move(&e, IBV_QPS_RESET);
  end_connect(&e, socket);
  while (*(volatile uint8_t *)(e.memory + 8 * BYTES - 1) != 5)
    sched_yield();
  meet(socket);
  meet(socket);
  size_t written = 0;
  for (size_t i = 6 * BYTES; i < 7 * BYTES; i++)
    written += e.memory[i] != 0;
  CHECK(written < BYTES, "it was acknowledged and written");
  meet(socket);
  for (size_t i = 6 * BYTES; i < 7 * BYTES; i++)
    wrong += e.memory[i] != 1;
  CHECK(wrong == 1, "%zu bytes are wrong", wrong);
  meet(socket);
}

/* ---------------------------------------------------------------- events */

static void expect_state(const End *e, enum ibv_port_state state) {
  struct ibv_port_attr port;

  CHECK(!ibv_query_port(e->context, 1, &port) && port.state == state, "state %d instead of %d", port.state, state);
}

static void expect_event(const End *e, enum ibv_event_type type) {
  struct ibv_async_event event;

  CHECK(!ibv_get_async_event(e->context, &event), "%s", strerror(errno));
  CHECK(event.event_type == type, "event %s instead of %s", ibv_event_type_str(event.event_type),
    ibv_event_type_str(type));
  ibv_ack_async_event(&event);
}

void events_active(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  ctl("port a/one down");
  expect_event(&e, IBV_EVENT_PORT_ERR);
  expect_state(&e, IBV_PORT_DOWN);
  end_write(&e, 1, 0, 0, 8, IBV_SEND_SIGNALED);
  struct ibv_wc wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(wc.status));
  ctl("port a/one init");
  expect_state(&e, IBV_PORT_INIT);
  ctl("port a/one armed");
  expect_state(&e, IBV_PORT_ARMED);
  ctl("port a/one up");
  expect_event(&e, IBV_EVENT_PORT_ACTIVE);
  expect_state(&e, IBV_PORT_ACTIVE);

  end_move(&e, IBV_QPS_RESET);
  end_connect(&e, socket);
  ctl("'cq a/one * overrun'");
  expect_event(&e, IBV_EVENT_CQ_ERR);
  struct ibv_wc none;
  CHECK(ibv_poll_cq(e.sends, 1, &none) < 0, "a completion queue that has failed can be polled");
  ctl("'qp a/one * fatal times 1'");
  expect_event(&e, IBV_EVENT_QP_FATAL);
  ctl("device a/one fail");
  expect_event(&e, IBV_EVENT_DEVICE_FATAL);
  struct ibv_qp_init_attr a = { .send_cq = e.sends, .recv_cq = e.receives, .qp_type = IBV_QPT_RC };
  CHECK(!ibv_create_qp(e.pd, &a) && errno == EIO, "%s", strerror(errno));
  ctl("device a/one return");
  ctl("mend");
  end_open(&e, "one");
  end_connect(&e, socket);
  end_write(&e, 1, 0, 0, 8, IBV_SEND_SIGNALED);
  expect_success(e.sends, 1);

  ctl("'open a/one 12'");
  CHECK(!ibv_open_device(e.context->device) && errno == 12, "%s", strerror(errno));
  ctl("mend");
  ctl("device a/one remove");
  expect_event(&e, IBV_EVENT_DEVICE_FATAL);
  CHECK(!ibv_open_device(e.context->device) && errno == ENODEV, "%s", strerror(errno));
  CHECK(!ibv_alloc_pd(e.context) && errno == EIO, "%s", strerror(errno));
  CHECK(ibv_destroy_qp(e.qp) == EIO && ibv_dereg_mr(e.mr) == EIO, "what was removed is destroyed");
  CHECK(!ibv_close_device(e.context), "the context stays");
  meet(socket);
}

void events_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  end_move(&e, IBV_QPS_RESET);
  end_connect(&e, socket);
  end_another(&e, &e);
  end_connect(&e, socket);
  meet(socket);
}
