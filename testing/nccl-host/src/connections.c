#include "connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "profiler.h"
#include "trace.h"

static bool check(const struct rank *rank, int result, const char *call, const struct channel *channel) {
  return result == NCCL_SUCCESS || fail(rank->number, "%s on channel %d returned %d (%s)", call,
                                        (int)(channel - rank->channels), result, result_name(result));
}

static void key_of(char key[64], int communicator, int rank, int channel) {
  snprintf(key, 64, "handle.%d.%d.%d", communicator, rank, channel);
}

static int distance_of(const struct rank *rank, int channel) {
  int others = rank->options->ranks - 1;
  return rank->options->test == TEST_ALL_TO_ALL && others > 0 ? 1 + channel % others : 1;
}

int sender_on(const struct rank *rank, int channel) {
  return (rank->number + rank->options->ranks - distance_of(rank, channel)) % rank->options->ranks;
}

static int receiver_on(const struct rank *rank, int channel) {
  return (rank->number + distance_of(rank, channel)) % rank->options->ranks;
}

/* NCCL asks for the device again for each end of each connection. */
static bool look_at_device(struct rank *rank, struct channel *channel) {
  struct net_properties properties;
  int result = net_get_properties(rank->net, channel->device, &properties);
  channel->host_only = result == NCCL_SUCCESS && (properties.pointer_support & NCCL_PTR_DMABUF) == 0;
  return check(rank, result, "getProperties", channel);
}

static bool listen_on(struct rank *rank, struct channel *channel, int number) {
  char key[64];
  const struct options *options = rank->options;
  channel->device = options->device >= 0 ? options->device : number % rank->devices;
  if (!look_at_device(rank, channel) ||
      !check(rank, net_listen(rank->net, rank->ctx, channel->device, channel->handle, &channel->listen_comm), "listen",
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
  key_of(key, rank->communicator, rank->number, number);
  return rendezvous_put(rank->rendezvous, key, channel->handle, sizeof channel->handle);
}

/* The sizes of a connection's buffers: LL, LL128 and Simple. */
static void sizes_of(const struct rank *rank, size_t sizes[BUFFERS]) {
  sizes[0] = LL_BYTES;
  sizes[1] = LL128_BYTES;
  sizes[2] = DEPTH * rank->slot_bytes;
}

static bool allocate(struct rank *rank, size_t bytes, bool of_gpu, struct gpu_memory *gpu, char **memory) {
  void *block = NULL;
  if (of_gpu) {
    bool ok = gpu_allocate(rank->number, gpu, bytes);
    *memory = gpu->host;
    return ok;
  }
  bool ok = posix_memalign(&block, 4096, bytes) == 0;
  *memory = block;
  return ok || fail(rank->number, "no memory for %zu bytes", bytes);
}

/* As NCCL does with a GPU's memory: the descriptor is closed as soon as the plugin has seen it. */
static int lend(const struct rank *rank, void *comm, const struct gpu_memory *gpu, size_t offset, size_t size,
                void **mhandle) {
  int fd = gpu_lend(gpu);
  int result = net_reg_mr_dma_buf(rank->net, comm, gpu->device + offset, size, NCCL_PTR_CUDA, offset, fd, mhandle);
  close(fd);
  return result;
}

/* One block of memory per end, registered in parts, as NCCL does as soon as it has the comm. */
static bool register_buffers(struct rank *rank, struct channel *channel, void *comm, bool sends) {
  struct gpu_memory *gpu = sends ? &channel->send_gpu : &channel->recv_gpu;
  char **memory = sends ? &channel->send_memory : &channel->recv_memory;
  void **mhandles = sends ? channel->send_mhandles : channel->recv_mhandles;
  size_t sizes[BUFFERS];
  sizes_of(rank, sizes);
  bool offered = !rank->options->gpu_if_offered || !channel->host_only;
  bool of_gpu = offered && (sends ? rank->options->send_gpu : rank->options->recv_gpu);
  if (!allocate(rank, sizes[0] + sizes[1] + sizes[2], of_gpu, gpu, memory)) {
    return false;
  }
  char *slots = *memory + sizes[0] + sizes[1];
  memset(slots, 0x77, sizes[2]);
  *(sends ? &channel->send_buffer : &channel->recv_buffer) = slots;
  size_t offset = 0;
  for (int i = 0; i < BUFFERS; i++) {
    int result = gpu->host != NULL
                     ? lend(rank, comm, gpu, offset, sizes[i], &mhandles[i])
                     : net_reg_mr(rank->net, comm, *memory + offset, sizes[i], NCCL_PTR_HOST, &mhandles[i]);
    if (!check(rank, result, gpu->host != NULL ? "regMrDmaBuf" : "regMr", channel)) {
      return false;
    }
    offset += sizes[i];
  }
  return true;
}

/* By the address that the plugin knows it by. */
static void *as_registered(const struct gpu_memory *gpu, const char *memory, void *data) {
  return gpu->host == NULL ? data : gpu->device + ((char *)data - memory);
}

static void release(struct gpu_memory *gpu, char *memory) {
  if (gpu->host == NULL) {
    free(memory);
  }
  gpu_free(gpu);
}

/* One round over a channel. Returns whether there was no failure. */
static bool advance(struct rank *rank, struct channel *channel, int number) {
  if (!channel->has_next_handle) {
    char key[64];
    key_of(key, rank->communicator, receiver_on(rank, number), number);
    int got = rendezvous_get(rank->rendezvous, key, channel->next_handle, sizeof channel->next_handle);
    if (got < 0) {
      return false;
    }
    channel->has_next_handle = got == 1;
  }
  if (channel->has_next_handle && channel->send_comm == NULL) {
    int result = net_connect(rank->net, rank->ctx, channel->device, channel->next_handle, &channel->send_comm);
    if (!check(rank, result, "connect", channel) ||
        (channel->send_comm != NULL && !register_buffers(rank, channel, channel->send_comm, true))) {
      return false;
    }
  }
  if (channel->recv_comm == NULL) {
    if (!check(rank, net_accept(rank->net, channel->listen_comm, &channel->recv_comm), "accept", channel)) {
      return false;
    }
    if (channel->recv_comm != NULL) { /* at once, as NCCL does */
      void *listen_comm = channel->listen_comm;
      channel->listen_comm = NULL;
      return check(rank, net_close_listen(rank->net, listen_comm), "closeListen", channel) &&
             register_buffers(rank, channel, channel->recv_comm, false);
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

/* NCCL gathers all ranks' addresses once each has initialised its network, before any of them connects. */
static bool come_together(struct rank *rank) {
  char name[32];
  const struct options *options = rank->options;
  snprintf(name, sizeof name, "initialised.%d", rank->communicator);
  return rank->rendezvous == NULL ||
         rendezvous_barrier(rank->rendezvous, name, options->ranks, now() + options->timeout_seconds);
}

bool connect_channels(struct rank *rank, size_t slot_bytes) {
  int channels = rank->options->channels;
  rank->slot_bytes = (slot_bytes + 63) & ~63UL;
  for (int c = 0; c < channels; c++) { /* what receives, then what sends */
    if (!listen_on(rank, &rank->channels[c], c)) {
      return false;
    }
  }
  for (int c = 0; c < channels; c++) {
    if (!look_at_device(rank, &rank->channels[c])) {
      return false;
    }
  }
  trace_ordered(false); /* until all messages have been exchanged */
  return come_together(rank) && connect_all(rank);
}

static bool deregister_buffers(struct rank *rank, struct channel *channel, void *comm, void *mhandles[BUFFERS]) {
  bool ok = true;
  for (int i = 0; comm != NULL && i < BUFFERS; i++) {
    ok &= check(rank, net_dereg_mr(rank->net, comm, mhandles[i]), "deregMr", channel);
  }
  return ok;
}

/*
 * In NCCL's order: connections as they were made, those that receive first; all memory of one, then its comm; NULLs
 * included, as NCCL does after failures.
 */
bool close_channels(struct rank *rank) {
  bool ok = true;
  for (int c = 0; c < rank->options->channels; c++) {
    struct channel *channel = &rank->channels[c];
    ok &= deregister_buffers(rank, channel, channel->recv_comm, channel->recv_mhandles);
    ok &= check(rank, net_close_recv(rank->net, channel->recv_comm), "closeRecv", channel);
    release(&channel->recv_gpu, channel->recv_memory);
  }
  for (int c = 0; c < rank->options->channels; c++) {
    struct channel *channel = &rank->channels[c];
    ok &= deregister_buffers(rank, channel, channel->send_comm, channel->send_mhandles);
    ok &= check(rank, net_close_send(rank->net, channel->send_comm), "closeSend", channel);
    release(&channel->send_gpu, channel->send_memory);
    *channel = (struct channel){.device = channel->device};
  }
  return ok;
}

/* What has come to a GPU's memory is there once it is flushed. Returns as test_oldest. */
static int begin_flush(struct rank *rank, struct flow *flow, int size) {
  struct channel *channel = flow->flushes;
  void *data = flow->data[flow->done % DEPTH];
  flow->flushed = size;
  int result = net_iflush(rank->net, channel->recv_comm, 1, &data, &size, &channel->recv_mhandles[BUFFERS - 1],
                          &flow->flush);
  if (result != NCCL_SUCCESS) {
    fail(rank->number, "iflush of message %zu returned %d (%s)", flow->done, result, result_name(result));
    return -1;
  }
  return flow->flush == NULL;
}

int test_oldest(struct rank *rank, struct flow *flow, size_t *size) {
  if (flow->done == flow->posted) {
    return 0;
  }
  int done = -1;
  int sizes[64] = {0};
  bool flushing = flow->flush != NULL;
  void *request = flushing ? flow->flush : flow->requests[flow->done % DEPTH];
  int result = net_test(rank->net, request, &done, flushing ? NULL : sizes);
  if (result != NCCL_SUCCESS || done < 0 || done > 1) {
    fail(rank->number, "test of %smessage %zu returned %d (%s), done %d", flushing ? "the flush of " : "", flow->done,
         result, result_name(result), done);
    return -1;
  }
  if (flushing && done) {
    flow->flush = NULL;
    sizes[0] = flow->flushed;
  } else if (done && flow->flushes != NULL && sizes[0] > 0) {
    done = begin_flush(rank, flow, sizes[0]);
    if (done < 0) {
      return -1;
    }
  }
  *size = (size_t)sizes[0];
  if (done) {
    profile_step_done(flow, flow->done);
  }
  flow->done += (size_t)done;
  return done;
}

static int posted(struct rank *rank, struct flow *flow, const char *call, int result) {
  if (result != NCCL_SUCCESS) {
    fail(rank->number, "%s of message %zu returned %d (%s)", call, flow->posted, result, result_name(result));
    return -1;
  }
  if (flow->requests[flow->posted % DEPTH] == NULL) {
    return 0;
  }
  profile_step_posted(flow, flow->posted);
  flow->posted++;
  return 1;
}

int post_send(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t size) {
  void **request = &flow->requests[flow->posted % DEPTH]; /* with the pointer of an earlier message */
  profile_step_ready(flow);
  net_event_parent = profile_parent(flow);
  data = as_registered(&channel->send_gpu, channel->send_memory, data);
  int result = net_isend(rank->net, channel->send_comm, data, size, rank->number,
                         channel->send_mhandles[BUFFERS - 1], request);
  return posted(rank, flow, "isend", result);
}

int post_recv(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t capacity) {
  void **request = &flow->requests[flow->posted % DEPTH];
  int tag = sender_on(rank, (int)(channel - rank->channels));
  *request = NULL;
  data = as_registered(&channel->recv_gpu, channel->recv_memory, data);
  flow->flushes = channel->recv_gpu.host != NULL ? channel : NULL;
  flow->data[flow->posted % DEPTH] = data;
  profile_step_begin(flow);
  net_event_parent = profile_parent(flow);
  int result = net_irecv(rank->net, channel->recv_comm, 1, &data, &capacity, &tag,
                         &channel->recv_mhandles[BUFFERS - 1], request);
  return posted(rank, flow, "irecv", result);
}
