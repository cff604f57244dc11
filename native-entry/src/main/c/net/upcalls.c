#include "upcalls.h"

#include <stdatomic.h>
#include <string.h>

#include "../host/java_state.h"
#include "../host/start.h"
#include "../one_sided/upcalls.h"
#include "../tuner/upcalls.h"
#include "facts.h"
#include "functions.h"
#include "software/functions.h"
#include "lanes.h"
#include "trace.h"

/* ---- before there is anything to call ---- */

static int unbound_control(int64_t call, int64_t first, int64_t second, int64_t third, int64_t fourth, int64_t fifth) {
#define NAME_OF(name) #name,
  static const char *const names[] = {CONTROL_CALLS(NAME_OF)};
#undef NAME_OF
  (void)first, (void)second, (void)third, (void)fourth, (void)fifth;
  return refuse_without_init(names[call]);
}

static int unbound_isend(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t mhandle, int64_t request_out) {
  (void)comm, (void)data, (void)size, (void)tag, (void)mhandle, (void)request_out;
  return refuse_without_init("isend");
}

static int unbound_irecv(int64_t comm, int64_t data, int64_t sizes, int64_t tags, int64_t mhandles, int64_t request) {
  (void)comm, (void)data, (void)sizes, (void)tags, (void)mhandles;
  *(void **)(intptr_t)request = NULL;
  return refuse_without_init("irecv");
}

static int unbound_test(int64_t request, int64_t done_out, int64_t sizes) {
  (void)request, (void)done_out, (void)sizes;
  return refuse_without_init("test");
}

struct net_upcalls java_net = {unbound_control, unbound_isend, unbound_irecv, unbound_test};

/* ---- how it comes to be ---- */

/* What Java fills; java_net's once all of it is there. */
static struct net_upcalls filled;

/* One of each. */
static void warm_up_control(int64_t at) {
  const int64_t lent[] = {at, 1, 0, 0};
#define WARM_UP(call, ...) (void)filled.control(CALL_##call, FIVE_OF(__VA_ARGS__, 0, 0, 0, 0, 0))
  WARM_UP(open_context, at, 0, at);
  WARM_UP(open_default_context, 0);
  WARM_UP(finalize, 0);
  WARM_UP(devices, at);
  WARM_UP(get_properties, 12, 0, at);
  WARM_UP(listen, 0, 0, at, at);
  WARM_UP(connect, 0, 0, at, at, at);
  WARM_UP(accept, 0, at);
  WARM_UP(reg_mr, 0, at, 1, 0, at);
  WARM_UP(reg_mr_dma_buf, 0, (int64_t)(intptr_t)lent, at);
  WARM_UP(dereg_mr, 0, 0);
  WARM_UP(iflush, 0, at, at, at, at);
  WARM_UP(close_send, 0);
  WARM_UP(close_recv, 0);
  WARM_UP(close_listen, 0);
  WARM_UP(make_room, 0);
#undef WARM_UP
}

/*
 * Calls every entry so often that the JDK has done for it what it does for handles that are called often, at the 128th
 * call, and has linked that, at the next. No plugin is behind them yet; results and pointers go to memory of no
 * meaning. trigon.entry.net.UpcallTable says why.
 */
static int warm_up(void) {
  enum { CALLS = 160, CONTROL_EVERY = 15 };
  static int64_t memory[512];
  const int64_t at = (int64_t)(intptr_t)memory;
  for (int call = 0; call < CALLS; call++) {
    if (call % CONTROL_EVERY == 0) {
      warm_up_control(at);
      memset(memory, 0, sizeof memory);
    }
    (void)filled.isend(0, at, 0, 0, 0, at);
    (void)filled.irecv(0, at, at, at, at, at);
    (void)filled.test(1, at, at);
  }
  return 0;
}

/* trigon.entry.net.NetBlock reads it. */
static const struct {
  const struct facts *facts;
  struct net_upcalls *upcalls;
  int64_t upcall_count;
  struct lane *_Atomic *lanes;
  struct lane_memory *_Atomic *lane_memories;
  const struct lane_functions *lane_functions;
  int (*warm_up)(void);
  struct trace_table *trace;
  int (*sample_connections)(void);
  struct policy_state *policy;
  struct one_sided_state *one_sided;
  const struct software_functions *software_functions;
} net_block = {&net_facts,   &filled,
               sizeof filled / sizeof(void *),
               lanes,
               lane_memories,
               &lane_functions,
               warm_up,
               &trace_table,
               trace_sample_connections,
               &policy_state,
               &one_sided_state,
               &software_functions};

static void use_filled(void) {
  java_net = filled;
  trace_until_exit();
}

int bind_net(nccl_logger log) {
  static struct java_side side = {.method = "bindNet", .block = &net_block, .when_bound = use_filled};
  return bind_java(&side, log);
}

void make_room(void) {
  static atomic_flag made = ATOMIC_FLAG_INIT;
  if (!is_ready() && !atomic_flag_test_and_set(&made)) {
    (void)ASK_JAVA(make_room, 0);
  }
}
