/* simverbs-ctl FABRIC COMMAND - shows a fabric, and plants faults into it. */
#include "fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
  "usage: simverbs-ctl FABRIC COMMAND\n"
  "  show                        processes, ports and queue pairs\n"
  "  rules                       the rules, with how often each has struck\n"
  "  RULE [; RULE]...            adds rules\n"
  "  mend                        takes all rules away\n"
  "  port NODE/DEVICE down|init|armed|up\n"
  "  device NODE/DEVICE fail|remove|return\n";

static void show(void) {
  for (uint32_t i = 0; i < PROCESSES; i++) {
    uint64_t nonce = atomic_load(&fabric.processes[i].nonce);
    if (nonce && process_alive(i, nonce))
      printf("process %u: pid %d of node %s\n", i, fabric.processes[i].pid, fabric.processes[i].node);
  }
  for (int i = 0; i < PORTS; i++) {
    const Port *p = &fabric.ports[i];
    if (atomic_load(&p->used))
      printf("port %s/%s: link %u, forced down %u, failed %u; %llu packets, %llu bytes came in\n", p->node, p->name,
        atomic_load(&p->link_up), atomic_load(&p->forced_down), atomic_load(&p->failed),
        (unsigned long long)atomic_load(&p->packets), (unsigned long long)atomic_load(&p->bytes));
  }
  for (int i = 0; i < SLOTS; i++) {
    const Slot *s = &fabric.slots[i];
    if (atomic_load(&s->number))
      printf("queue pair 0x%x of process %u: state %u, peer 0x%x, executed %llu, acked %llu\n",
        atomic_load(&s->number), atomic_load(&s->owner), atomic_load(&s->state), atomic_load(&s->peer),
        (unsigned long long)atomic_load(&s->executed), (unsigned long long)atomic_load(&s->acked));
  }
}

static void show_rules(void) {
  static const char *const names[] = { "cut", "hold", "delay", "loss", "ack-loss", "break", "lie", "flip", "model",
    "rnr", "kill at stage", "kill at execute", "kill at ack", "qp error", "qp mute", "qp fatal", "cq overrun", "stall",
    "loss-over", "open", "stop" };

  for (int i = 0; i < RULES; i++) {
    const Rule *r = &fabric.rules[i];
    uint64_t serial = atomic_load(&r->serial);
    if (serial)
      printf("rule %llu: %s %s/%s>%s/%s, seen %llu, strikes %llu\n", (unsigned long long)serial, names[r->action],
        r->from_node, r->from_device, r->to_node, r->to_device, (unsigned long long)atomic_load(&r->seen),
        (unsigned long long)atomic_load(&r->strikes));
  }
}

/* Until all go by what was set, so that the caller may rely on it; stopped processes are not waited for long. */
static void wait_for_processes(void) {
  uint64_t generation = atomic_load(&fabric.header->generation), end = now_ns() + 5000000000u;

  for (uint32_t i = 0; i < PROCESSES; i++) {
    const Process *p = &fabric.processes[i];
    uint64_t nonce = atomic_load(&p->nonce);
    while (nonce && atomic_load(&p->generation) < generation && process_alive(i, nonce) && now_ns() < end)
      usleep(200);
  }
}

/* As ibv_query_port(3) has it; 0 if nothing forces it. */
static uint32_t port_state(const char *name) {
  return !strcmp(name, "down") ? 1 : !strcmp(name, "init") ? 2 : !strcmp(name, "armed") ? 3 : 0;
}

static int set_ports(const char *what, const char *end, const char *to) {
  const char *slash = strchr(end, '/');
  int found = 0;

  for (int i = 0; i < PORTS && slash; i++) {
    Port *p = &fabric.ports[i];
    if (!atomic_load(&p->used) || strncmp(p->node, end, (size_t)(slash - end)) || p->node[slash - end]
        || (strcmp(slash + 1, "*") && strcmp(p->name, slash + 1)))
      continue;
    found++;
    if (!strcmp(what, "port"))
      atomic_store(&p->forced_down, port_state(to));
    else
      atomic_store(&p->failed, !strcmp(to, "remove") ? PORT_REMOVED : !strcmp(to, "fail") ? PORT_FAILED : PORT_WORKS);
  }
  announce();
  wait_for_processes();
  if (!found)
    fprintf(stderr, "simverbs-ctl: there is no port %s; \"show\" lists them\n", end);
  return found ? 0 : 1;
}

int main(int argc, char **argv) {
  char text[512] = "";

  if (argc < 3) {
    fputs(usage, stderr);
    return 2;
  }
  if (fabric_open(argv[1]))
    return 1;
  if (!strcmp(argv[2], "show"))
    return show(), 0;
  if (!strcmp(argv[2], "rules"))
    return show_rules(), 0;
  if (!strcmp(argv[2], "mend"))
    return clear_rules(), wait_for_processes(), 0;
  if (argc == 5 && (!strcmp(argv[2], "port") || !strcmp(argv[2], "device")))
    return set_ports(argv[2], argv[3], argv[4]);
  for (int i = 2; i < argc; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", argv[i]);
  if (add_rules(text))
    return 1;
  wait_for_processes();
  return 0;
}
