/* What is killed or stopped at any instruction leaves the other end's memory, and its other queue pairs, alone. */
#include "device-tests.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { TARGET = 64 * 1024, GUARD = 0xee, STOPS = 40, AHEAD = 12, PATIENCE = 3000 };

void connect_to_self(const End *like, End *x, End *y) {
  union ibv_gid gid;

  end_another(x, like);
  end_another(y, like);
  CHECK(!ibv_query_gid(like->context, 1, like->gid_index, &gid), "no GID");
  x->peer = (Peer){ y->qp->qp_num, like->mr->rkey, (uintptr_t)like->memory, gid };
  y->peer = (Peer){ x->qp->qp_num, like->mr->rkey, (uintptr_t)like->memory, gid };
  end_to_init(x);
  end_to_init(y);
  CHECK(!end_to_rtr(x) && !end_to_rtr(y), "loopback");
  end_to_rts(x);
  end_to_rts(y);
}

void check_unharmed(End *x, End *y) {
  uint8_t *from = x->memory + 2 * TARGET, *to = x->memory + 4 * TARGET;

  for (int n = 0; n < 20; n++) {
    memset(from, n, TARGET);
    end_receive(y, 5, 0, 0);
    end_write_immediate(x, 6, 2 * TARGET, 4 * TARGET, TARGET, 7);
    struct ibv_wc wc = next_completion(x->sends);
    while (wc.wr_id != 6)  /* completions of the connection that failed may be there */
      wc = next_completion(x->sends);
    CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
    wc = next_completion(x->receives);
    CHECK(wc.wr_id == 5 && wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
    CHECK(!memcmp(from, to, TARGET), "the other connection's bytes");
  }
}

/* The k-th write of TARGET bytes has that value, so the memory is a prefix of one and the rest of the one before. */
static void check_prefix(const uint8_t *memory, size_t len) {
  size_t i = 0;

  while (i < len && memory[i] == memory[0])
    i++;
  for (size_t k = i; k < len; k++)
    CHECK(memory[k] == (uint8_t)(memory[0] - 1), "byte %zu is %u after a prefix of %zu bytes of %u", k, memory[k], i,
      memory[0]);
}

static void check_guard(const End *e, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    CHECK(e->memory[i] == GUARD, "byte %zu beyond the target was written", i);
}

/* Writes until it fails, or is killed. */
static enum ibv_wc_status write_on(End *e) {
  for (unsigned n = 1;; n++) {
    memset(e->memory, (int)n, TARGET);
    end_write(e, n, 0, 0, TARGET, IBV_SEND_SIGNALED);
    struct ibv_wc wc = next_completion(e->sends);
    if (wc.status != IBV_WC_SUCCESS)
      return wc.status;
    atomic_fetch_add(progress, 1);
  }
}

static void wait_for_progress(void) {
  unsigned long goal = 1 + (unsigned long)rand() % 300;

  while (atomic_load(progress) < goal)
    sched_yield();
  for (volatile int i = rand() % 200000; i; i--)  /* to be anywhere in the next message */
    ;
}

void kill_first(pid_t first, pid_t second) {
  (void)second;
  srand(seed);
  wait_for_progress();
  kill(first, SIGKILL);
}

void kill_second(pid_t first, pid_t second) {
  (void)first;
  srand(seed);
  wait_for_progress();
  kill(second, SIGKILL);
}

void killed_sender(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  write_on(&e);
  CHECK(false, "it should have been killed");
}

void sender_survivor(int socket) {
  End e, x, y;

  end_open(&e, "one");
  memset(e.memory, GUARD, MEMORY);
  memset(e.memory, 0, TARGET);
  connect_to_self(&e, &x, &y);
  end_connect(&e, socket);
  for (enum ibv_wc_status s = IBV_WC_SUCCESS; s == IBV_WC_SUCCESS;) {
    end_write(&e, 1, TARGET + 8, 8 * TARGET, 8, IBV_SEND_SIGNALED);  /* where the sender has no data */
    s = next_completion(e.sends).status;
    CHECK(s == IBV_WC_SUCCESS || s == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(s));
  }
  check_prefix(e.memory, TARGET);
  check_guard(&e, TARGET, MEMORY);
  check_unharmed(&x, &y);
}

void target_survivor(int socket) {
  End e, x, y;

  end_open(&e, "one");
  memset(e.memory, GUARD, MEMORY);
  connect_to_self(&e, &x, &y);
  end_connect(&e, socket);
  enum ibv_wc_status s = write_on(&e);
  CHECK(s == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(s));
  check_guard(&e, TARGET, MEMORY);
  check_unharmed(&x, &y);
}

void killed_target(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  while (next_completion(e.receives).status == IBV_WC_SUCCESS)
    ;
  CHECK(false, "it should have been killed");
}

/* ---------------------------------------------------------------- fences */

/* The same with many outstanding, so that the target is in the midst of them whenever it looks. */
static enum ibv_wc_status stream_on(End *e) {
  memset(e->memory, 1, TARGET);
  for (int n = 0; n < AHEAD; n++)
    end_write(e, 1, 0, 0, TARGET, IBV_SEND_SIGNALED);
  for (;;) {
    struct ibv_wc wc = next_completion(e->sends);
    if (wc.status != IBV_WC_SUCCESS)
      return wc.status;
    end_write(e, 1, 0, 0, TARGET, IBV_SEND_SIGNALED);
  }
}

void fenced_sender(int socket) {
  End e;

  end_open(&e, "one");
  for (int n = 0; n < STOPS; n++) {
    end_move(&e, IBV_QPS_RESET);
    end_connect(&e, socket);
    enum ibv_wc_status s = stream_on(&e);
    CHECK(s == IBV_WC_RETRY_EXC_ERR || s == IBV_WC_REM_ACCESS_ERR, "%s", ibv_wc_status_str(s));
    meet(socket);
  }
}

static void fence(End *e, int kind) {
  if (kind == 0) {
    end_move(e, IBV_QPS_ERR);
  } else if (kind == 1) {
    end_move(e, IBV_QPS_RESET);
  } else if (kind == 2) {
    CHECK(!ibv_dereg_mr(e->mr), "deregister");
  } else {
    struct ibv_qp *old = e->qp;
    end_another(e, e);
    CHECK(!ibv_destroy_qp(old), "destroy");
  }
}

/* Whatever the fence is, the memory belongs to the program when the call has returned. */
void fenced_target(int socket) {
  End e;

  end_open(&e, "one");
  for (int n = 0; n < STOPS; n++) {
    end_move(&e, IBV_QPS_RESET);
    end_connect(&e, socket);
    while (*(volatile uint8_t *)e.memory == GUARD || *(volatile uint8_t *)e.memory == 0)
      sched_yield();
    int kind = rand() % 4;
    fence(&e, kind);
    memset(e.memory, GUARD, MEMORY);
    meet(socket);  /* the sender has failed, so nothing of its is under way any more */
    check_guard(&e, 0, MEMORY);
    if (kind == 2)
      CHECK((e.mr = ibv_reg_mr(e.pd, e.memory, MEMORY, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)), "register");
  }
}

/* ERR by itself is no fence then; the flush of a receive is. */
void flushed_target(int socket) {
  End e;

  setenv("SIMVERBS_FENCE", "flush", 1);
  end_open(&e, "one");
  for (int n = 0; n < STOPS; n++) {
    end_move(&e, IBV_QPS_RESET);
    end_connect(&e, socket);
    while (*(volatile uint8_t *)e.memory == GUARD || *(volatile uint8_t *)e.memory == 0)
      sched_yield();
    end_move(&e, IBV_QPS_ERR);
    end_receive(&e, 9, 0, 0);
    struct ibv_wc wc = next_completion(e.receives);
    CHECK(wc.wr_id == 9 && wc.status == IBV_WC_WR_FLUSH_ERR, "%s", ibv_wc_status_str(wc.status));
    memset(e.memory, GUARD, MEMORY);
    meet(socket);
    check_guard(&e, 0, MEMORY);
  }
}

/* Stops the sender anywhere, again and again, until both are through. */
void stop_first(pid_t first, pid_t second) {
  siginfo_t info = { .si_pid = 0 };

  while (!waitid(P_PID, (id_t)second, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == 0) {
    kill(first, SIGSTOP);
    for (volatile int i = rand() % 3000000; i; i--)
      ;
    kill(first, SIGCONT);
    sched_yield();
  }
  kill(first, SIGCONT);
}

/* ---------------------------------------------------------------- stops and connections */

/* A target that is stopped for much longer than the timers take is no failure. */
void patient_sender(int socket) {
  End e;

  end_open(&e, "one");
  e.timeout = 1;
  e.retries = 0;
  end_connect(&e, socket);
  for (unsigned n = 1; n <= PATIENCE; n++) {
    end_write(&e, n, 0, 0, TARGET, IBV_SEND_SIGNALED);
    expect_success(e.sends, n);
    atomic_fetch_add(progress, 1);
  }
  meet(socket);
}

void stopped_target(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
}

void stop_second(pid_t first, pid_t second) {
  (void)first;
  srand(seed);
  for (int n = 0; n < 5; n++) {
    unsigned long goal = atomic_load(progress) + 10;
    while (atomic_load(progress) < goal && atomic_load(progress) < PATIENCE)
      sched_yield();
    kill(second, SIGSTOP);
    usleep(50000);  /* a thousand times the sender's timer, which must not run */
    kill(second, SIGCONT);
  }
}

/* Makes and connects queue pairs until it is killed. */
void killed_connecting(int socket) {
  End e, x, y;

  (void)socket;
  end_open(&e, "one");
  for (;;) {
    connect_to_self(&e, &x, &y);
    end_write(&x, 1, 0, 4096, 100, IBV_SEND_SIGNALED);
    expect_success(e.sends, 1);
    CHECK(!ibv_destroy_qp(x.qp) && !ibv_destroy_qp(y.qp), "destroy");
    atomic_fetch_add(progress, 1);
  }
}

/* Goes on making them beside it, and after it; nothing of the killed one is left. */
void connecting_survivor(int socket) {
  End e, x, y;
  char gone;

  end_open(&e, "one");
  bool alone = false;
  for (int n = 0; n < 20 || !alone; n++) {
    connect_to_self(&e, &x, &y);
    check_unharmed(&x, &y);
    CHECK(!ibv_destroy_qp(x.qp) && !ibv_destroy_qp(y.qp), "destroy");
    alone = recv(socket, &gone, 1, MSG_DONTWAIT) == 0;
  }
  end_another(&x, &e);
  ctl("show > $SIMVERBS_FABRIC.shown; test $(grep -c 'queue pair' $SIMVERBS_FABRIC.shown) = 2"
    " && rm $SIMVERBS_FABRIC.shown");
}

/* ---------------------------------------------------------------- named points */

/* Each time another process of the node "b" would be killed, so it is the last thing this test does. */
void named_kill_active(int socket) {
  static const char *const points[] = { "stage", "execute", "ack" };
  char command[64];
  End e;

  end_open(&e, "one");
  memset(e.memory + TARGET, GUARD, MEMORY - TARGET);
  end_connect(&e, socket);
  snprintf(command, sizeof command, "kill b at %s %d", points[seed % 3], 1 + rand() % 50);
  ctl(command);
  enum ibv_wc_status s = write_on(&e);
  CHECK(s == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(s));
  check_prefix(e.memory, TARGET);
  check_guard(&e, TARGET, MEMORY);
}

void named_kill_passive(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  memset(e.memory + TARGET, GUARD, 8);
  for (uint64_t id = 0;; id++) {
    end_write(&e, id, TARGET, 8 * TARGET, 8, IBV_SEND_SIGNALED);
    struct ibv_wc wc = next_completion(e.sends);
    CHECK(wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
  }
}
