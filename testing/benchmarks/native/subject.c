/* Plugins and connections. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#include "bench.h"
#include "host.h"

char *send_buffer;
char *receive_buffer;
size_t buffer_bytes;

static int newest_api(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return fail(0, "dlopen: %s", dlerror());
  }
  for (int api = 12; api >= 8; api--) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", api);
    if (dlsym(library, symbol) != NULL) {
      return api; /* stays loaded: a library may not bear to be closed and opened */
    }
  }
  return fail(0, "%s exports no ncclNetPlugin_v8 to v12", path);
}

static bool is_device(const struct subject *subject, const char *name) {
  struct net_properties properties;
  return net_get_properties(&subject->net, subject->device, &properties) == NCCL_SUCCESS && properties.name != NULL &&
         __builtin_strcmp(properties.name, name) == 0;
}

bool subject_open(struct subject *subject, const struct options *options, const char *path) {
  *subject = (struct subject){.path = path, .first_result = true};
  int most = 0;
  for (int i = 0; i < options->comm_count_count; i++) {
    most = options->comm_counts[i] > most ? options->comm_counts[i] : most;
  }
  subject->pairs = calloc((size_t)most, sizeof *subject->pairs);
  if (is_harness(path)) {
    subject->net = (struct net){.api = 12, .v12 = harness_plugin()};
  } else {
    int api = newest_api(path);
    if (api == 0 || !net_open(&subject->net, path, api)) {
      return false;
    }
  }
  int64_t start = now_ns();
  int result = net_init(&subject->net, &subject->ctx, 0x62656e6368);
  subject->init_seconds = (double)(now_ns() - start) / 1e9;
  int devices = 0;
  if (result != NCCL_SUCCESS || net_devices(&subject->net, &devices) != NCCL_SUCCESS || devices < 1) {
    return fail(0, "%s: init returned %d (%s), %d devices", path, result, result_name(result), devices);
  }
  while (options->device != NULL && !is_harness(path) && subject->device < devices &&
         !is_device(subject, options->device)) {
    subject->device++;
  }
  subject->device = subject->device < devices ? subject->device : 0;
  return true;
}

bool subject_close(struct subject *subject) {
  bool ok = subject_shrink(subject, 0);
  int result = net_finalize(&subject->net, subject->ctx);
  free(subject->pairs);
  return ok && (result == NCCL_SUCCESS || fail(0, "%s: finalize returned %d", subject->path, result));
}

bool connect_pair(struct subject *subject, const struct options *options, struct pair *pair) {
  _Alignas(8) char handle[128] = {0};
  void *listen_comm = NULL;
  unsigned idle = 0;
  int64_t deadline = now_ns() + options->timeout_seconds * 1000000000LL;
  *pair = (struct pair){0};
  int result = net_listen(&subject->net, subject->ctx, subject->device, handle, &listen_comm);
  while (result == NCCL_SUCCESS && (pair->send_comm == NULL || pair->receive_comm == NULL)) {
    if (pair->send_comm == NULL) {
      result = net_connect(&subject->net, subject->ctx, subject->device, handle, &pair->send_comm);
    }
    if (result == NCCL_SUCCESS && pair->receive_comm == NULL) {
      result = net_accept(&subject->net, listen_comm, &pair->receive_comm);
    }
    if (++idle > 16) {
      sched_yield();
    }
    if (idle % 1024 == 0 && now_ns() > deadline) {
      return fail(0, "%s: no connection after %d s: connect %s, accept %s", subject->path, options->timeout_seconds,
                  pair->send_comm != NULL ? "done" : "not done", pair->receive_comm != NULL ? "done" : "not done");
    }
  }
  if (result == NCCL_SUCCESS) {
    result = net_close_listen(&subject->net, listen_comm);
  }
  return result == NCCL_SUCCESS ||
         fail(0, "%s: connecting returned %d (%s)", subject->path, result, result_name(result));
}

bool close_pair(struct subject *subject, struct pair *pair) {
  int result = net_dereg_mr(&subject->net, pair->send_comm, pair->send_memory);
  result = result != NCCL_SUCCESS ? result : net_dereg_mr(&subject->net, pair->receive_comm, pair->receive_memory);
  result = result != NCCL_SUCCESS ? result : net_close_send(&subject->net, pair->send_comm);
  result = result != NCCL_SUCCESS ? result : net_close_recv(&subject->net, pair->receive_comm);
  *pair = (struct pair){0};
  return result == NCCL_SUCCESS || fail(0, "%s: closing returned %d (%s)", subject->path, result, result_name(result));
}

bool subject_grow(struct subject *subject, const struct options *options, int pairs) {
  while (subject->pair_count < pairs) {
    struct pair *pair = &subject->pairs[subject->pair_count];
    if (!connect_pair(subject, options, pair)) {
      return false;
    }
    subject->pair_count++;
    int result = net_reg_mr(&subject->net, pair->send_comm, send_buffer, buffer_bytes, 1, &pair->send_memory);
    if (result == NCCL_SUCCESS) {
      result =
          net_reg_mr(&subject->net, pair->receive_comm, receive_buffer, buffer_bytes, 1, &pair->receive_memory);
    }
    if (result != NCCL_SUCCESS) {
      return fail(0, "%s: regMr returned %d (%s)", subject->path, result, result_name(result));
    }
  }
  return true;
}

bool subject_shrink(struct subject *subject, int pairs) {
  bool ok = true;
  while (subject->pair_count > pairs) {
    ok = close_pair(subject, &subject->pairs[--subject->pair_count]) && ok;
  }
  return ok;
}
