/* Two network namespaces and a cable between them: the ports are what the interfaces are. Needs root. */
#include "device-tests.h"

#include <sched.h>
#include <sys/syscall.h>

static void shell(const char *command) { CHECK(system(command) == 0, "%s", command); }

/* A namespace without link-local addresses, which would come some seconds later and raise events of their own. */
static bool leave_namespace(int socket) {
  bool left = !unshare(CLONE_NEWNET);

  if (!left)
    fprintf(stderr, "skipped, without the right to make network namespaces: %s\n", strerror(errno));
  else
    shell("for f in all default; do echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done 2>/dev/null; true");
  unsetenv("SIMVERBS_NODE");
  setenv("SIMVERBS_DEVICES", "one=cable", 1);
  meet(socket);
  return left;
}

static void expect_event(const End *e, enum ibv_event_type type) {
  struct ibv_async_event event;

  CHECK(!ibv_get_async_event(e->context, &event), "%s", strerror(errno));
  CHECK(event.event_type == type, "event %s instead of %s", ibv_event_type_str(event.event_type),
    ibv_event_type_str(type));
  ibv_ack_async_event(&event);
}

static void write_and_receive(End *e) {
  end_receive(e, 2, 0, 0);
  end_write_immediate(e, 1, 0, 4096, 4096, 3);
  expect_success(e->sends, 1);
  expect_success(e->receives, 2);
}

static void reconnect(End *e, int socket) {
  end_move(e, IBV_QPS_RESET);
  meet(socket);
  end_connect(e, socket);
}

/* Another place of that GID in the table. */
static void find_again(End *e, const union ibv_gid *gid) {
  struct ibv_gid_entry at;

  for (int i = 0;; i = (i + 1) % 16)
    if (i != e->gid_index && !ibv_query_gid_ex(e->context, 1, (uint32_t)i, &at, 0)
        && at.gid_type == IBV_GID_TYPE_ROCE_V2 && !memcmp(at.gid.raw, gid->raw, sizeof gid->raw)) {
      e->gid_index = i;
      return;
    }
}

/* The other end, once the cable is there: its port goes down and up with this one's. */
static void far_end(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  write_and_receive(&e);
  expect_event(&e, IBV_EVENT_PORT_ERR);
  meet(socket);
  expect_event(&e, IBV_EVENT_PORT_ACTIVE);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);
  meet(socket);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);
}

void namespaces_first(int socket) {
  pid_t other;
  char command[128];
  union ibv_gid own;
  End e;

  if (!leave_namespace(socket))
    return;
  CHECK(read(socket, &other, sizeof other) == sizeof other, "the other process's number");
  snprintf(command, sizeof command, "ip link add cable type veth peer name cable netns %d", other);
  shell(command);
  shell("ip addr add 10.9.1.1/24 dev cable && ip link set cable up");
  meet(socket);
  meet(socket);
  end_open(&e, "one");
  end_connect(&e, socket);
  write_and_receive(&e);

  shell("ip link set cable down");
  expect_event(&e, IBV_EVENT_PORT_ERR);
  end_write(&e, 4, 0, 0, 8, 0);
  struct ibv_wc wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(wc.status));
  meet(socket);  /* the kernel tells the far end up to a second later, and nothing if it is up again by then */
  shell("ip link set cable up");
  expect_event(&e, IBV_EVENT_PORT_ACTIVE);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);

  shell("ip addr del 10.9.1.1/24 dev cable");
  expect_event(&e, IBV_EVENT_GID_CHANGE);
  end_write(&e, 5, 0, 0, 8, 0);
  wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(wc.status));
  shell("ip addr add 10.9.1.1/24 dev cable");
  expect_event(&e, IBV_EVENT_GID_CHANGE);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);

  CHECK(!ibv_query_gid(e.context, 1, e.gid_index, &own), "no GID");
  /* another address takes its place in the table, so what goes by that place reaches nobody */
  shell("ip addr del 10.9.1.1/24 dev cable && ip addr add 10.9.1.9/24 dev cable && ip addr add 10.9.1.1/24 dev cable");
  expect_event(&e, IBV_EVENT_GID_CHANGE);
  end_write(&e, 6, 0, 0, 8, 0);
  wc = next_completion(e.sends);
  CHECK(wc.status == IBV_WC_RETRY_EXC_ERR, "%s", ibv_wc_status_str(wc.status));
  meet(socket);
  find_again(&e, &own);
  reconnect(&e, socket);
  write_and_receive(&e);
  meet(socket);
}

void namespaces_second(int socket) {
  pid_t own = getpid();

  if (!leave_namespace(socket))
    return;
  CHECK(write(socket, &own, sizeof own) == sizeof own, "%s", strerror(errno));
  meet(socket);
  shell("ip addr add 10.9.1.2/24 dev cable && ip link set cable up");
  /* the cable has a carrier once both ends are up */
  shell("while ! ip -o link show dev cable | grep -q LOWER_UP; do :; done");
  meet(socket);
  far_end(socket);
}
