/*
 * The calls into Java: the table of upcall stubs, what is done with it before NCCL's first call, and what before the calls that
 * close in an exhausted JVM. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_UPCALLS_H
#define TRIGON_ENTRY_UPCALLS_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "entry_gate.h"

/* Filled by trigon.entry.UpcallTable, in this order. All pointers and sizes are widened to 64 bits. */
struct upcalls {
  int (*open_context)(int64_t ctx_out, int64_t comm_id, int64_t config);
  int (*open_default_context)(void);
  int (*finalize)(int64_t ctx);
  int (*devices)(int64_t count_out);
  int (*get_properties)(int64_t version, int64_t dev, int64_t properties);
  int (*listen)(int64_t ctx, int64_t dev, int64_t handle, int64_t comm_out);
  int (*connect)(int64_t ctx, int64_t dev, int64_t handle, int64_t config, int64_t comm_out);
  int (*accept)(int64_t listen_comm, int64_t comm_out);
  int (*reg_mr)(int64_t comm, int64_t data, int64_t size, int64_t type, int64_t mhandle_out);
  int (*dereg_mr)(int64_t comm, int64_t mhandle);
  int (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t mhandle, int64_t request_out);
  int (*irecv)(int64_t comm, int64_t data, int64_t sizes, int64_t tags, int64_t mhandles, int64_t request);
  int (*irecv_int_sizes)(int64_t comm, int64_t data, int64_t sizes, int64_t tags, int64_t mhandles, int64_t request);
  int (*iflush)(int64_t comm, int64_t data, int64_t sizes, int64_t mhandles, int64_t request_out);
  int (*test)(int64_t request, int64_t done_out, int64_t sizes);
  int (*close_send)(int64_t comm);
  int (*close_recv)(int64_t comm);
  int (*close_listen)(int64_t comm);
  int (*make_room)(void);
};

static struct upcalls java;

/*
 * Calls every entry so often that the JDK has done for it what it does for handles that are called often. No plugin is
 * behind them yet; results and pointers go to memory of no meaning. trigon.entry.UpcallTable says why.
 */
static void practise(void) {
  static int64_t memory[512];
  const int64_t at = (int64_t)(intptr_t)memory;
  for (int call = 0; call < 128; call++) {
    (void)java.open_context(at, 0, at);
    (void)java.open_default_context();
    (void)java.finalize(0);
    (void)java.devices(at);
    (void)java.get_properties(12, 0, at);
    (void)java.listen(0, 0, at, at);
    (void)java.connect(0, 0, at, at, at);
    (void)java.accept(0, at);
    (void)java.reg_mr(0, at, 1, 0, at);
    (void)java.dereg_mr(0, 0);
    memset(memory, 0, sizeof memory);
    (void)java.isend(0, at, 0, 0, 0, at);
    (void)java.irecv(0, at, at, at, at, at);
    (void)java.irecv_int_sizes(0, at, at, at, at, at);
    (void)java.iflush(0, at, at, at, at);
    (void)java.test(1, at, at);
    (void)java.close_send(0);
    (void)java.close_recv(0);
    (void)java.close_listen(0);
    (void)java.make_room();
  }
}

/* What is closed in an exhausted JVM needs a little memory: without it, it would stay open, and go on to write to memory that
 * the host takes back. */
static inline void make_room(void) {
  static atomic_flag made = ATOMIC_FLAG_INIT;
  if (UNLIKELY(!IS_READY()) && !atomic_flag_test_and_set(&made)) {
    (void)java.make_room();
  }
}

#endif
