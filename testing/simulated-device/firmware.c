/* Calls that a device's firmware carries out: a rule may have them take their time, or there is no device any more. */
#include "simulated-verbs.h"

enum { LOOK_US = 1000 };

static bool is_of(const Rule *r, int port) {
  return !strcmp(r->from_node, "*") || (!strncmp(r->from_node, fabric.ports[port].node, NAME_SIZE)
    && (!strcmp(r->from_device, "*") || !strncmp(r->from_device, fabric.ports[port].name, NAME_SIZE)));
}

/* How long the device has to be waited for, in ns; 0 without a rule. */
static uint64_t stall_of(int port) {
  for (int i = 0; i < RULES; i++) {
    const Rule *r = &fabric.rules[i];
    if (atomic_load_explicit(&r->serial, memory_order_acquire) && r->action == RULE_STALL && is_of(r, port)
        && (!r->until || now_ns() < r->until))
      return r->least;
  }
  return 0;
}

int await_firmware(struct ibv_context *c) {
  int port = kind == &simulated ? device_ports[context_of(c)->device->index] : NO_PORT;
  uint64_t begin = now_ns();

  if (forked)
    return EIO;
  while (port != NO_PORT && !context_of(c)->removed && now_ns() - begin < stall_of(port))  /* no longer than the rule */
    usleep(LOOK_US);
  return context_of(c)->removed ? EIO : 0;
}

int opening_fails(int port) {
  for (int i = 0; i < RULES; i++)
    if (atomic_load_explicit(&fabric.rules[i].serial, memory_order_acquire) && fabric.rules[i].action == RULE_OPEN
        && is_of(&fabric.rules[i], port)) {
      const Rule *r = strike(1ull << i, RULE_OPEN);
      if (r)
        return (int)r->least;
    }
  return 0;
}
