#include "failing-verbs.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "loop.h"

enum { TAG = 5, DEADLINE_SECONDS = 100, MESSAGES_BEFORE = 3 };

static const char device_that_fails[] = "one";

/* ---- the device's own controls ---- */

struct controls {
  int (*queue_pairs)(const char *device, uint32_t *numbers, int most);
  int (*fail_polls)(uint32_t queue_pair, int result);
  int (*fail_queue_pair)(uint32_t queue_pair);
  int (*fail_device)(const char *device);
};

static bool find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL || fail(0, "no %s: not the simulated libibverbs", name);
}

/* The library that the plugin has loaded; it goes by its soname. */
static bool find_controls(struct controls *controls) {
  void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  return (library != NULL || fail(0, "the plugin has loaded no libibverbs.so.1")) &&
         find(library, "simverbs_queue_pairs", &controls->queue_pairs) &&
         find(library, "simverbs_fail_polls", &controls->fail_polls) &&
         find(library, "simverbs_fail_queue_pair", &controls->fail_queue_pair) &&
         find(library, "simverbs_fail_device", &controls->fail_device);
}

static bool cause_failure(const struct controls *controls, const char *what, const char *end) {
  uint32_t ends[5] = {0}; /* of two connections; the connecting side creates its queue pair first */
  if (strcmp(what, "device") == 0) {
    return controls->fail_device(device_that_fails) == 0 || fail(0, "no device %s", device_that_fails);
  }
  if (controls->queue_pairs(device_that_fails, ends, 5) != 4) {
    return fail(0, "device %s has not exactly the queue pairs of two connections", device_that_fails);
  }
  uint32_t number = ends[strcmp(end, "sender") == 0 ? 0 : 1];
  fprintf(stderr, "the %s of 0x%x fails\n", what, number);
  return (strcmp(what, "poll") == 0 ? controls->fail_polls(number, -5) : controls->fail_queue_pair(number)) == 0 ||
         fail(0, "no queue pair 0x%x", number);
}

/* ---- both ends, asked in turns as NCCL asks them ---- */

struct end {
  const char *name;
  void *request;
  int error; /* of the first call that failed, or success */
};

struct ends {
  struct loop *loop;
  struct end sender;
  struct end receiver;
  double since; /* of the failure */
  unsigned sent;
  unsigned received;
};

static void note(struct ends *ends, struct end *end, const char *call, int result) {
  if (result != NCCL_SUCCESS && end->error == NCCL_SUCCESS) {
    end->error = result;
    fprintf(stderr, "%s: %s returned %d (%s) after %.1f s\n", end->name, call, result, result_name(result),
            now() - ends->since);
  }
}

static int send_once(struct ends *ends, void **request) {
  struct loop *loop = ends->loop;
  return net_isend(loop->net, loop->send_comm, loop->source, LOOP_BYTES, TAG, loop->send_mhandle, request);
}

static int receive_once(struct ends *ends, void **request) {
  struct loop *loop = ends->loop;
  void *data = loop->target;
  size_t capacity = LOOP_BYTES;
  int tag = TAG;
  return net_irecv(loop->net, loop->recv_comm, 1, &data, &capacity, &tag, &loop->recv_mhandle, request);
}

/* One step of an end: a request if it has none, else a look at it. */
static bool step(struct ends *ends, struct end *end) {
  bool sends = end == &ends->sender;
  if (end->error != NCCL_SUCCESS) {
    return true;
  }
  if (end->request == NULL) {
    note(ends, end, sends ? "isend" : "irecv",
         sends ? send_once(ends, &end->request) : receive_once(ends, &end->request));
    return true;
  }
  int done = 0;
  int size = -1;
  note(ends, end, "test", net_test(ends->loop->net, end->request, &done, &size));
  if (end->error != NCCL_SUCCESS || !done) {
    return true;
  }
  end->request = NULL;
  (*(sends ? &ends->sent : &ends->received))++;
  return (size == LOOP_BYTES && (sends || memcmp(ends->loop->source, ends->loop->target, LOOP_BYTES) == 0)) ||
         fail(0, "a %s of %d bytes is done that is not right", sends ? "send" : "receive", size);
}

static bool until_both_fail(struct ends *ends) {
  unsigned idle = 0;
  while (ends->sender.error == NCCL_SUCCESS || ends->receiver.error == NCCL_SUCCESS) {
    if (!step(ends, &ends->sender) || !step(ends, &ends->receiver)) {
      return false;
    }
    if (now() - ends->since > DEADLINE_SECONDS) {
      return fail(0, "timeout: no error within %d s at the %s", DEADLINE_SECONDS,
                  ends->sender.error == NCCL_SUCCESS ? "sender" : "receiver");
    }
    idle_wait(&idle);
  }
  return ends->received <= ends->sent + 1 || fail(0, "%u received of %u sent", ends->received, ends->sent);
}

/* What has failed once is not taken for well again. */
static bool errors_stay(struct ends *ends) {
  void *request = NULL;
  int done = 0;
  bool stay = send_once(ends, &request) == ends->sender.error && request == NULL &&
              receive_once(ends, &request) == ends->receiver.error && request == NULL;
  if (ends->sender.request != NULL) {
    stay &= net_test(ends->loop->net, ends->sender.request, &done, NULL) == ends->sender.error && !done;
  }
  if (ends->receiver.request != NULL) {
    stay &= net_test(ends->loop->net, ends->receiver.request, &done, NULL) == ends->receiver.error && !done;
  }
  return stay || fail(0, "a call after the failure returned something else");
}

static bool moves(struct loop *loop, const char *which) {
  bool moved = loop_move(loop) && loop_move(loop);
  fprintf(stderr, "%s connection %s\n", which, moved ? "moves data" : "does not move data");
  return moved;
}

/* Over the same device, or, if that has failed as a whole, over the next one that leads there. */
static bool can_connect_anew(struct net *net) {
  static struct loop anew;
  bool moved = loop_open(&anew, net) && moves(&anew, "a new");
  return loop_close(&anew) && moved;
}

static bool both_ends_fail(struct ends *ends, double since) {
  ends->since = since;
  return until_both_fail(ends) && errors_stay(ends);
}

int fail_under_connection(struct net *net, const char *how) {
  static struct loop first;
  static struct loop second;
  first.net = second.net = net;
  struct ends failing = {.loop = &first, .sender = {.name = "sender"}, .receiver = {.name = "receiver"}};
  struct ends beside = {.loop = &second, .sender = {.name = "other sender"}, .receiver = {.name = "other receiver"}};
  struct controls controls;
  char what[16] = "";
  char end[16] = "";
  if (sscanf(how, "%15[^:]:%15s", what, end) != 2) {
    return fail(0, "%s is no failure", how) ? 0 : 1;
  }
  bool ok = loop_open(&first, net) && loop_open(&second, net) && find_controls(&controls);
  for (int i = 0; ok && i < MESSAGES_BEFORE; i++) {
    ok = loop_move(&first) && loop_move(&second);
  }
  /* a receive is under way, and the sender knows of it */
  ok = ok && receive_once(&failing, &failing.receiver.request) == NCCL_SUCCESS && failing.receiver.request != NULL;
  ok = ok && cause_failure(&controls, what, end);
  double since = now();
  ok = ok && both_ends_fail(&failing, since);
  ok = ok && (strcmp(what, "device") == 0 ? both_ends_fail(&beside, since) : moves(&second, "the other"));
  ok = ok && can_connect_anew(net);
  bool closed = loop_close(&first);
  closed &= loop_close(&second);
  return ok && closed ? 0 : 1;
}
