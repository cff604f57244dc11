#include "loop.h"

#include <string.h>

#include "host.h"

enum { TAG = 3, DEADLINE_SECONDS = 100 };

static bool begin(struct loop *loop, void **ctx) {
  int devices = 0;
  int result = net_begin(loop->net, ctx, 0x10, &devices);
  return (result == NCCL_SUCCESS && devices > 0) ||
         fail(0, "init returned %d (%s), with %d devices", result, result_name(result), devices);
}

static bool waits(double deadline, unsigned *idle, const char *what) {
  if (now() > deadline) {
    return fail(0, "timeout: %s not done after %d s", what, DEADLINE_SECONDS);
  }
  idle_wait(idle);
  return true;
}

bool loop_open(struct loop *loop, struct net *net) {
  char handle[NCCL_NET_HANDLE_BYTES] = {0};
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  *loop = (struct loop){.net = net};
  if (!begin(loop, &loop->ctx) || !begin(loop, &loop->recv_ctx)) {
    return false;
  }
  int result = net_listen(net, loop->recv_ctx, 0, handle, &loop->listen_comm);
  while (result == NCCL_SUCCESS && (loop->send_comm == NULL || loop->recv_comm == NULL)) {
    if (loop->send_comm == NULL) {
      result = net_connect(net, loop->ctx, 0, handle, &loop->send_comm);
    }
    if (result == NCCL_SUCCESS && loop->recv_comm == NULL) {
      result = net_accept(net, loop->listen_comm, &loop->recv_comm);
    }
    if (!waits(deadline, &idle, "connect and accept")) {
      return false;
    }
  }
  if (result == NCCL_SUCCESS) {
    result = net_reg_mr(net, loop->send_comm, loop->source, LOOP_BYTES, NCCL_PTR_HOST, &loop->send_mhandle);
  }
  if (result == NCCL_SUCCESS) {
    result = net_reg_mr(net, loop->recv_comm, loop->target, LOOP_BYTES, NCCL_PTR_HOST, &loop->recv_mhandle);
  }
  return result == NCCL_SUCCESS || fail(0, "no connection: %d (%s)", result, result_name(result));
}

static bool finish(const struct loop *loop, void *request, const char *what, double deadline) {
  unsigned idle = 0;
  for (;;) {
    int done = 0;
    int size = -1;
    int result = net_test(loop->net, request, &done, &size);
    if (result != NCCL_SUCCESS) {
      return fail(0, "test of %s returned %d (%s)", what, result, result_name(result));
    }
    if (done) {
      return size == LOOP_BYTES || fail(0, "%s of %d bytes instead of %d", what, size, LOOP_BYTES);
    }
    if (!waits(deadline, &idle, what)) {
      return false;
    }
  }
}

bool loop_move(struct loop *loop) {
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  void *data = loop->target;
  size_t capacity = LOOP_BYTES;
  int tag = TAG;
  void *received = NULL;
  void *sent = NULL;
  memset(loop->source, (int)(loop->messages % 251) + 1, LOOP_BYTES);
  memset(loop->target, 0, LOOP_BYTES);
  int result = net_irecv(loop->net, loop->recv_comm, 1, &data, &capacity, &tag, &loop->recv_mhandle, &received);
  while (result == NCCL_SUCCESS && sent == NULL) {
    result = net_isend(loop->net, loop->send_comm, loop->source, LOOP_BYTES, TAG, loop->send_mhandle, &sent);
    if (!waits(deadline, &idle, "isend")) {
      return false;
    }
  }
  if (result != NCCL_SUCCESS) {
    return fail(0, "irecv or isend returned %d (%s)", result, result_name(result));
  }
  if (!finish(loop, sent, "a send", deadline) || !finish(loop, received, "a receive", deadline)) {
    return false;
  }
  loop->messages++;
  return memcmp(loop->source, loop->target, LOOP_BYTES) == 0 || fail(0, "message %u is wrong", loop->messages);
}

bool loop_close(struct loop *loop) {
  struct net *net = loop->net;
  int result = net_dereg_mr(net, loop->send_comm, loop->send_mhandle);
  result |= net_dereg_mr(net, loop->recv_comm, loop->recv_mhandle);
  result |= net_close_send(net, loop->send_comm);
  result |= net_close_recv(net, loop->recv_comm);
  result |= net_close_listen(net, loop->listen_comm);
  result |= net_finalize(net, loop->ctx);
  result |= net_finalize(net, loop->recv_ctx);
  return result == NCCL_SUCCESS || fail(0, "a close failed");
}
