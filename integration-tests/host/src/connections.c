#include "connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { TAG_OF_ALL = 4711 };

static bool check(const struct rank *rank, int result, const char *call, const struct channel *channel) {
  return result == NCCL_SUCCESS || fail(rank->number, "%s on channel %d returned %d (%s)", call,
                                        (int)(channel - rank->channels), result, result_name(result));
}

static void key_of(char key[64], int rank, int channel) {
  snprintf(key, 64, "handle.%d.%d", rank, channel);
}

static bool listen_on(struct rank *rank, struct channel *channel, int number, int devices) {
  char key[64];
  const struct options *options = rank->options;
  channel->device = options->device >= 0 ? options->device : number % devices;
  if (!check(rank, net_listen(rank->net, rank->ctx, channel->device, channel->handle, &channel->listen_comm), "listen",
             channel)) {
    return false;
  }
  if (channel->listen_comm == NULL) {
    return fail(rank->number, "listen on channel %d succeeded without a comm", number);
  }
  if (rank->rendezvous == NULL) {
    memcpy(channel->next_handle, channel->handle, sizeof channel->handle);
    channel->has_next_handle = true;
    return true;
  }
  key_of(key, rank->number, number);
  return rendezvous_put(rank->rendezvous, key, channel->handle, sizeof channel->handle);
}

/* One round over a channel. Returns whether there was no failure. */
static bool advance(struct rank *rank, struct channel *channel, int number) {
  if (!channel->has_next_handle) {
    char key[64];
    key_of(key, (rank->number + 1) % rank->options->ranks, number);
    int got = rendezvous_get(rank->rendezvous, key, channel->next_handle, sizeof channel->next_handle);
    if (got < 0) {
      return false;
    }
    channel->has_next_handle = got == 1;
  }
  if (channel->has_next_handle && channel->send_comm == NULL &&
      !check(rank,
             net_connect(rank->net, rank->ctx, channel->device, channel->next_handle, &channel->send_comm),
             "connect", channel)) {
    return false;
  }
  if (channel->recv_comm == NULL) {
    if (!check(rank, net_accept(rank->net, channel->listen_comm, &channel->recv_comm), "accept", channel)) {
      return false;
    }
    if (channel->recv_comm != NULL) { /* at once, as NCCL does */
      void *listen_comm = channel->listen_comm;
      channel->listen_comm = NULL;
      return check(rank, net_close_listen(rank->net, listen_comm), "closeListen", channel);
    }
  }
  return true;
}

static bool connect_all(struct rank *rank) {
  double deadline = now() + rank->options->timeout_seconds;
  unsigned idle = 0;
  for (;;) {
    int open = 0;
    for (int c = 0; c < rank->options->channels; c++) {
      struct channel *channel = &rank->channels[c];
      if (channel->send_comm == NULL || channel->recv_comm == NULL) {
        open++;
        if (!advance(rank, channel, c)) {
          return false;
        }
        if (now() > deadline) {
          return fail(rank->number, "timeout after %d s: channel %d: %s, %s", rank->options->timeout_seconds, c,
                      !channel->has_next_handle     ? "the next rank has not left its handle"
                      : channel->send_comm == NULL ? "connect has not finished"
                                                   : "connect has finished",
                      channel->recv_comm == NULL ? "accept has not finished" : "accept has finished");
        }
      }
    }
    if (open == 0) {
      return true;
    }
    if (is_failing()) {
      return false;
    }
    idle_wait(&idle);
  }
}

static bool register_slots(struct rank *rank, struct channel *channel) {
  size_t bytes = DEPTH * rank->slot_bytes;
  void *memory[2];
  for (int i = 0; i < 2; i++) {
    if (posix_memalign(&memory[i], 4096, bytes) != 0) {
      return fail(rank->number, "no memory for %zu bytes", bytes);
    }
    memset(memory[i], 0x77, bytes);
  }
  channel->send_buffer = memory[0];
  channel->recv_buffer = memory[1];
  return check(rank,
               net_reg_mr(rank->net, channel->send_comm, channel->send_buffer, bytes, NCCL_PTR_HOST,
                          &channel->send_mhandle),
               "regMr", channel) &&
         check(rank,
               net_reg_mr(rank->net, channel->recv_comm, channel->recv_buffer, bytes, NCCL_PTR_HOST,
                          &channel->recv_mhandle),
               "regMr", channel);
}

bool connect_channels(struct rank *rank, size_t slot_bytes) {
  int devices = 0;
  int result = net_devices(rank->net, &devices);
  if (result != NCCL_SUCCESS || devices < 1) {
    return fail(rank->number, "devices returned %d (%s) and %d devices", result, result_name(result), devices);
  }
  rank->slot_bytes = (slot_bytes + 63) & ~63UL;
  for (int c = 0; c < rank->options->channels; c++) {
    if (!listen_on(rank, &rank->channels[c], c, devices)) {
      return false;
    }
  }
  if (!connect_all(rank)) {
    return false;
  }
  for (int c = 0; c < rank->options->channels; c++) {
    if (!register_slots(rank, &rank->channels[c])) {
      return false;
    }
  }
  return true;
}

/* In NCCL's order: all memory of a connection, then its comm; NULLs included, as NCCL does after failures. */
bool close_channels(struct rank *rank) {
  bool ok = true;
  for (int c = 0; c < rank->options->channels; c++) {
    struct channel *channel = &rank->channels[c];
    if (channel->send_comm != NULL) {
      ok &= check(rank, net_dereg_mr(rank->net, channel->send_comm, channel->send_mhandle), "deregMr", channel);
    }
    ok &= check(rank, net_close_send(rank->net, channel->send_comm), "closeSend", channel);
    if (channel->recv_comm != NULL) {
      ok &= check(rank, net_dereg_mr(rank->net, channel->recv_comm, channel->recv_mhandle), "deregMr", channel);
    }
    ok &= check(rank, net_close_recv(rank->net, channel->recv_comm), "closeRecv", channel);
    free(channel->send_buffer);
    free(channel->recv_buffer);
    *channel = (struct channel){.device = channel->device};
  }
  return ok;
}

int test_oldest(struct rank *rank, struct flow *flow, size_t *size) {
  if (flow->done == flow->posted) {
    return 0;
  }
  int done = -1;
  int sizes[64] = {0};
  int result = net_test(rank->net, flow->requests[flow->done % DEPTH], &done, sizes);
  if (result != NCCL_SUCCESS || done < 0 || done > 1) {
    fail(rank->number, "test of message %zu returned %d (%s), done %d", flow->done, result, result_name(result), done);
    return -1;
  }
  *size = (size_t)sizes[0];
  flow->done += (size_t)done;
  return done;
}

static int posted(struct rank *rank, struct flow *flow, const char *call, int result, void *request) {
  if (result != NCCL_SUCCESS) {
    fail(rank->number, "%s of message %zu returned %d (%s)", call, flow->posted, result, result_name(result));
    return -1;
  }
  if (request == NULL) {
    return 0;
  }
  flow->requests[flow->posted++ % DEPTH] = request;
  return 1;
}

int post_send(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t size) {
  void *request = (void *)0xdead0; /* NCCL leaves an old pointer there */
  int result =
      net_isend(rank->net, channel->send_comm, data, size, TAG_OF_ALL, channel->send_mhandle, &request);
  return posted(rank, flow, "isend", result, request);
}

int post_recv(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t capacity) {
  void *request = NULL;
  int tag = TAG_OF_ALL;
  int result =
      net_irecv(rank->net, channel->recv_comm, 1, &data, &capacity, &tag, &channel->recv_mhandle, &request);
  return posted(rank, flow, "irecv", result, request);
}
