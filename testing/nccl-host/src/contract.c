/*
 * What a plugin must bear: the NULLs, stale values, retries and restarts that NCCL's core produces, and misuse, which
 * must be an error and not a crash. One process, connected to itself. Prints a line per check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "transfers.h"

enum { BUFFER = 1 << 16, TAG = 7 };

static const struct options *options;
static struct net net;
static int failed;

static void expect(bool right, const char *what) {
  fprintf(stderr, "%s - %s\n", right ? "ok" : "FAILED", what);
  failed += !right;
}

/* A comm pair of this process to itself. */
struct pair {
  void *ctx;
  void *listen_comm;
  void *send_comm;
  void *recv_comm;
  void *send_mhandle;
  void *recv_mhandle;
  char *source;
  char *target;
};

static bool connect_pair(struct pair *pair) {
  char handle[NCCL_NET_HANDLE_BYTES] = {0};
  if (net_listen(&net, pair->ctx, 0, handle, &pair->listen_comm) != NCCL_SUCCESS || pair->listen_comm == NULL) {
    return false;
  }
  double deadline = now() + options->timeout_seconds;
  unsigned idle = 0;
  while (pair->send_comm == NULL || pair->recv_comm == NULL) {
    if ((pair->send_comm == NULL &&
         net_connect(&net, pair->ctx, 0, handle, &pair->send_comm) != NCCL_SUCCESS) ||
        (pair->recv_comm == NULL && net_accept(&net, pair->listen_comm, &pair->recv_comm) != NCCL_SUCCESS)) {
      return false;
    }
    if (now() > deadline) {
      return fail(0, "timeout: connect %s, accept %s", pair->send_comm ? "done" : "not done",
                  pair->recv_comm ? "done" : "not done");
    }
    idle_wait(&idle);
  }
  pair->source = calloc(1, BUFFER);
  pair->target = calloc(1, BUFFER);
  return pair->source != NULL && pair->target != NULL &&
         net_close_listen(&net, pair->listen_comm) == NCCL_SUCCESS &&
         net_reg_mr(&net, pair->send_comm, pair->source, BUFFER, NCCL_PTR_HOST, &pair->send_mhandle) == NCCL_SUCCESS &&
         net_reg_mr(&net, pair->recv_comm, pair->target, BUFFER, NCCL_PTR_HOST, &pair->recv_mhandle) == NCCL_SUCCESS;
}

static void close_pair(struct pair *pair) {
  int results = net_dereg_mr(&net, pair->send_comm, pair->send_mhandle);
  results |= net_dereg_mr(&net, pair->recv_comm, pair->recv_mhandle);
  results |= net_close_send(&net, pair->send_comm);
  results |= net_close_recv(&net, pair->recv_comm);
  expect(results == NCCL_SUCCESS, "memory and comms close");
  free(pair->source);
  free(pair->target);
}

static int receive(struct pair *pair, size_t capacity, void *hint, void **request) {
  void *data = pair->target;
  int tag = TAG;
  *request = hint;
  return net_irecv(&net, pair->recv_comm, 1, &data, &capacity, &tag, &pair->recv_mhandle, request);
}

/* Tests until done. Returns the result; the size is -1 unless done. */
static int finish(void *request, int *size) {
  double deadline = now() + options->timeout_seconds;
  unsigned idle = 0;
  *size = -1;
  for (;;) {
    int done = -1;
    int bytes = -1;
    int result = net_test(&net, request, &done, &bytes);
    if (result != NCCL_SUCCESS || done == 1) {
      *size = result == NCCL_SUCCESS ? bytes : -1;
      return result;
    }
    if (done != 0 || now() > deadline) {
      fail(0, "test: done is %d after %d s", done, options->timeout_seconds);
      return -1;
    }
    idle_wait(&idle);
  }
}

/* Posts until there is a request or a failure. */
static int send_when_possible(struct pair *pair, size_t bytes, void **request) {
  double deadline = now() + options->timeout_seconds;
  unsigned idle = 0;
  int result;
  do {
    *request = (void *)0xdead0;
    result = net_isend(&net, pair->send_comm, pair->source, bytes, TAG, pair->send_mhandle, request);
    idle_wait(&idle);
  } while (result == NCCL_SUCCESS && *request == NULL && now() < deadline);
  return result;
}

/* Nobody would ask again for a receive that is done too early, and so nobody would hear that the peer is gone. */
static bool waits(void *request) {
  int done = -1;
  int bytes;
  return net_test(&net, request, &done, &bytes) == NCCL_SUCCESS && done == 0;
}

static bool moves(struct pair *pair, size_t bytes, void *hint) {
  void *sent = NULL;
  void *received = NULL;
  int sent_bytes;
  int received_bytes;
  for (size_t i = 0; i < bytes; i++) {
    pair->source[i] = (char)(i * 13 + bytes);
  }
  memset(pair->target, 0x11, BUFFER);
  return receive(pair, BUFFER, hint, &received) == NCCL_SUCCESS && received != NULL && received != hint &&
         waits(received) && send_when_possible(pair, bytes, &sent) == NCCL_SUCCESS && sent != NULL &&
         finish(sent, &sent_bytes) == NCCL_SUCCESS && finish(received, &received_bytes) == NCCL_SUCCESS &&
         received_bytes == (int)bytes && memcmp(pair->source, pair->target, bytes) == 0;
}

static void check_before_init(void) {
  int count = -1;
  void *request = (void *)0x1230;
  int done = -1;
  expect(net_devices(&net, &count) != NCCL_SUCCESS, "devices before init is an error");
  expect(net_test(&net, request, &done, NULL) != NCCL_SUCCESS && done == 0, "test before init is an error");
}

static void check_properties(void) {
  int count = 0;
  _Alignas(8) unsigned char once[128];
  _Alignas(8) unsigned char twice[128];
  size_t bytes = 0;
  struct net_properties p = {0};
  expect(net_devices(&net, &count) == NCCL_SUCCESS && count > 0, "there are devices");
  expect(net_devices(&net, NULL) != NCCL_SUCCESS, "devices(NULL) is an error");
  expect(net.v12->getProperties(0, NULL) != NCCL_SUCCESS, "getProperties(0, NULL) is an error");
  expect(net_get_properties(&net, -1, &p) != NCCL_SUCCESS && net_get_properties(&net, count, &p) != NCCL_SUCCESS,
         "properties of a device that is not there are an error");
  for (int dev = 0; dev < count; dev++) {
    bool same = net_raw_properties(&net, dev, 0xa5, once, &bytes) == NCCL_SUCCESS &&
                net_raw_properties(&net, dev, 0x5a, twice, &bytes) == NCCL_SUCCESS && memcmp(once, twice, bytes) == 0;
    expect(same, "getProperties writes every byte, and the same twice");
    expect(net_get_properties(&net, dev, &p) == NCCL_SUCCESS && p.name != NULL && p.name[0] != '\0',
           "the device has a name");
    expect(p.device_type == NCCL_NET_DEVICE_HOST && (p.pointer_support & NCCL_PTR_HOST), "it takes host memory");
    expect(p.max_receives >= 1 && p.max_comms >= 1 && p.speed > 0, "it has speed, comms and receives");
    expect(p.virtual_devices == 1 && p.first_virtual_device == dev, "it is not a fused device");
    expect(p.max_p2p_bytes > 0 && p.max_p2p_bytes <= 1UL << 40, "its longest message is in NCCL's bounds");
    expect(p.max_collective_bytes > 0 && p.max_collective_bytes <= 1UL << 40, "so is that of collectives");
    expect(p.max_multi_request == 1 && p.rail == -1 && p.plane == -1, "no multi-requests, no rail, no plane");
  }
}

static void check_nulls(struct pair *pair) {
  char handle[NCCL_NET_HANDLE_BYTES] = {0};
  void *comm = (void *)0x5550;
  void *mhandle = (void *)0x5550;
  void *request = (void *)0x5550;
  int done = 0;
  expect(net_close_send(&net, NULL) == 0 && net_close_recv(&net, NULL) == 0 && net_close_listen(&net, NULL) == 0,
         "closing NULL succeeds");
  expect(net_dereg_mr(&net, pair->send_comm, NULL) == NCCL_SUCCESS, "deregMr of NULL succeeds");
  expect(net_listen(&net, pair->ctx, 0, handle, NULL) != 0 && net_listen(&net, pair->ctx, 0, NULL, &comm) != 0,
         "listen with a NULL pointer is an error");
  expect(net_connect(&net, pair->ctx, 0, handle, NULL) != 0 && net_connect(&net, pair->ctx, 0, NULL, &comm) != 0,
         "connect with a NULL pointer is an error");
  comm = (void *)0x5550;
  expect(net_accept(&net, NULL, &comm) != 0 && comm == NULL && net_accept(&net, (void *)0x10, NULL) != 0,
         "accept with a NULL pointer is an error");
  expect(net_reg_mr(&net, pair->send_comm, pair->source, BUFFER, NCCL_PTR_HOST, NULL) != 0,
         "regMr to NULL is an error");
  expect(net_reg_mr(&net, NULL, pair->source, BUFFER, NCCL_PTR_HOST, &mhandle) != 0 && mhandle == NULL,
         "regMr on a NULL comm is an error");
  expect(net_isend(&net, pair->send_comm, pair->source, 8, TAG, pair->send_mhandle, NULL) != 0,
         "isend without room for the request is an error");
  expect(net_isend(&net, NULL, pair->source, 8, TAG, pair->send_mhandle, &request) != 0 && request == NULL,
         "isend on a NULL comm is an error");
  request = (void *)0x5550;
  expect(net_isend(&net, pair->send_comm, NULL, 8, TAG, pair->send_mhandle, &request) != 0 && request == NULL,
         "isend of NULL is an error");
  expect(net_test(&net, pair, NULL, NULL) != 0, "test without room for done is an error");
  expect(net_test(&net, NULL, &done, NULL) != 0 && done == 0, "test of NULL is an error");
  expect(net_iflush(&net, pair->recv_comm, 1, NULL, NULL, NULL, &request) != 0 && request == NULL,
         "iflush of NULL is an error");
}

static void check_counts(struct pair *pair) {
  void *data[2] = {pair->target, pair->target};
  void *mhandles[2] = {pair->recv_mhandle, pair->recv_mhandle};
  size_t sizes[2] = {8, 8};
  int tags[2] = {TAG, TAG};
  struct net_properties p = {0};
  net_get_properties(&net, 0, &p);
  void *request = NCCL_NET_OPTIONAL_COMPLETION;
  expect(net_irecv(&net, pair->recv_comm, 0, data, sizes, tags, mhandles, &request) != 0 && request == NULL,
         "irecv of no buffer is an error");
  if (p.max_receives == 1) {
    request = NCCL_NET_OPTIONAL_COMPLETION;
    expect(net_irecv(&net, pair->recv_comm, 2, data, sizes, tags, mhandles, &request) != 0 && request == NULL,
           "irecv of more buffers than maxRecvs is an error");
  }
}

static void check_transfers(struct pair *pair) {
  expect(moves(pair, BUFFER, NULL), "a message arrives");
  expect(moves(pair, 0, NULL), "a message of 0 bytes arrives");
  expect(moves(pair, 4097, NULL), "one of an odd size arrives");
  expect(moves(pair, 512, (void *)0xabcdef0), "a stale request pointer in irecv is overwritten");
  expect(moves(pair, 512, NCCL_NET_OPTIONAL_COMPLETION),
         "a receive with optional completion is done when its message has come");
  expect(moves(pair, 512, NULL), "a message after it arrives");
}

static void check_oversize(struct pair *pair) {
  void *request = (void *)0x5550;
  int result = net_isend(&net, pair->send_comm, pair->source, (1UL << 30) + 1, TAG, pair->send_mhandle, &request);
  expect(result != NCCL_SUCCESS && request == NULL, "isend of more than 1 GiB is an error");
  /* beyond the registered memory, or more than was expected: an error somewhere, not a crash and no data */
  void *received;
  void *sent;
  int bytes;
  memset(pair->target, 0x11, BUFFER);
  int posted = receive(pair, 64, NULL, &received);
  int sending = send_when_possible(pair, 4096, &sent);
  int at_sender = sending == NCCL_SUCCESS && sent != NULL ? finish(sent, &bytes) : sending;
  int at_receiver = posted != NCCL_SUCCESS          ? posted
                    : at_sender == NCCL_SUCCESS ? finish(received, &bytes)
                                                : NCCL_SUCCESS;
  expect(at_sender != NCCL_SUCCESS || at_receiver != NCCL_SUCCESS,
         "a message longer than its receive is an error at one side");
  bool clean = true;
  for (int i = 64; i < BUFFER; i++) {
    clean &= pair->target[i] == 0x11;
  }
  expect(clean, "and nothing is written behind the receive");
}

static void check_stale(void *ctx) {
  struct pair pair = {.ctx = ctx};
  void *request = NULL;
  int done = -1;
  int bytes;
  if (!connect_pair(&pair)) {
    expect(false, "a second pair connects");
    return;
  }
  expect(receive(&pair, 64, NULL, &request) == NCCL_SUCCESS && request != NULL, "a receive waits");
  void *waiting = request;
  expect(net_test(&net, waiting, &done, NULL) == NCCL_SUCCESS && done == 0, "test without sizes says: not done");
  void *sent = NULL;
  expect(send_when_possible(&pair, 8, &sent) == NCCL_SUCCESS && finish(sent, &bytes) == NCCL_SUCCESS &&
             finish(waiting, &bytes) == NCCL_SUCCESS && bytes == 8,
         "it ends when the message comes");
  done = -1;
  expect(net_test(&net, waiting, &done, NULL) != NCCL_SUCCESS && done == 0, "test of a finished request is an error");
  done = -1;
  expect(net_test(&net, (void *)1, &done, NULL) != NCCL_SUCCESS && done == 0, "test of no request is an error");
  expect(net_dereg_mr(&net, pair.send_comm, pair.send_mhandle) == 0 &&
             net_dereg_mr(&net, pair.send_comm, pair.send_mhandle) == 0,
         "deregMr twice succeeds");
  receive(&pair, 64, NULL, &waiting);
  void *comm = pair.recv_comm;
  close_pair(&pair);
  expect(net_close_send(&net, pair.send_comm) == 0 && net_close_recv(&net, comm) == 0, "closing twice succeeds");
  done = -1;
  expect(net_test(&net, waiting, &done, NULL) != NCCL_SUCCESS && done == 0, "test after the close is an error");
  request = (void *)0x5550;
  char data[8] = {0};
  expect(net_isend(&net, pair.send_comm, data, 8, TAG, pair.send_mhandle, &request) != 0 && request == NULL,
         "isend after the close is an error");
  comm = (void *)0x5550;
  expect(net_accept(&net, pair.listen_comm, &comm) != 0 && comm == NULL, "accept after the close is an error");
}

static void check_foreign_handle(void *ctx) {
  char handle[NCCL_NET_HANDLE_BYTES];
  void *comm = (void *)0x5550;
  memset(handle, 0xee, sizeof handle);
  expect(net_connect(&net, ctx, 0, handle, &comm) != NCCL_SUCCESS && comm == NULL,
         "connect to a handle of another plugin is an error");
}

/* What NCCL does for one communicator. */
static bool live_once(bool thorough) {
  struct pair pair = {0};
  int result = net_init(&net, &pair.ctx, 1);
  expect(result == NCCL_SUCCESS, "init");
  if (result != NCCL_SUCCESS) {
    return false;
  }
  bool connected = connect_pair(&pair);
  expect(connected, "a pair connects");
  if (connected) {
    expect(moves(&pair, 1000, NULL), "it moves a message");
    if (thorough) {
      check_nulls(&pair);
      check_counts(&pair);
      check_transfers(&pair);
      check_stale(pair.ctx);
      check_foreign_handle(pair.ctx);
      check_properties();
      check_oversize(&pair);
    }
    close_pair(&pair);
  }
  /* left half-open, as after an abort: finalize takes it */
  char handle[NCCL_NET_HANDLE_BYTES] = {0};
  void *listener = NULL;
  void *none = NULL;
  net_listen(&net, pair.ctx, 0, handle, &listener);
  net_connect(&net, pair.ctx, 0, handle, &none);
  expect(net_finalize(&net, pair.ctx) == NCCL_SUCCESS, "finalize");
  return connected;
}

int run_contract(const struct options *given) {
  options = given;
  thread_rank = 0;
  for (int life = 0; life < 3; life++) {
    if (!net_open(&net, options->plugin, options->api)) {
      return 1;
    }
    if (life == 0) {
      check_before_init();
    }
    bool lived = live_once(life == 0);
    net_close(&net);
    expect(lived, life == 0 ? "init to dlclose" : "init to dlclose again, after dlclose and dlopen");
    if (!lived) {
      break;
    }
  }
  fprintf(stderr, "%d checks failed\n", failed);
  return failed;
}
