#include "rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

enum { MAX_KEY = 63 };

/* A request on the wire, and the value that comes back: bytes is 0 where there is none yet. */
struct message {
  uint8_t put;
  uint8_t bytes;
  char key[MAX_KEY + 1];
  uint8_t value[RENDEZVOUS_MAX_VALUE];
};

struct rendezvous {
  int rank;
  int socket; /* -1: the directory */
  char directory[PATH_MAX - MAX_KEY - 32];
};

/* ---- the store that rank 0 serves ---- */

struct entry {
  struct entry *next;
  struct message message;
};

static struct entry *entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static bool transfer(int socket, void *data, size_t bytes, bool sending) {
  for (size_t at = 0; at < bytes;) {
    ssize_t moved = sending ? send(socket, (char *)data + at, bytes - at, MSG_NOSIGNAL)
                            : recv(socket, (char *)data + at, bytes - at, 0);
    if (moved <= 0 && !(moved < 0 && errno == EINTR)) {
      return false;
    }
    at += moved > 0 ? (size_t)moved : 0;
  }
  return true;
}

static void answer(struct message *message) {
  pthread_mutex_lock(&entries_lock);
  struct entry *entry = entries;
  while (entry != NULL && strcmp(entry->message.key, message->key) != 0) {
    entry = entry->next;
  }
  if (message->put && entry == NULL && (entry = malloc(sizeof *entry)) != NULL) {
    *entry = (struct entry){entries, *message};
    entries = entry;
  } else if (!message->put) {
    message->bytes = 0;
    if (entry != NULL) {
      *message = entry->message;
    }
  }
  pthread_mutex_unlock(&entries_lock);
}

static void *serve_client(void *argument) {
  int client = (int)(intptr_t)argument;
  struct message message;
  while (transfer(client, &message, sizeof message, false)) {
    message.key[MAX_KEY] = '\0';
    answer(&message);
    if (!transfer(client, &message, sizeof message, true)) {
      break;
    }
  }
  close(client);
  return NULL;
}

static void start_detached(void *(*run)(void *), int socket) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, (void *)(intptr_t)socket) == 0) {
    pthread_detach(thread);
  }
}

static void *serve(void *argument) {
  int listener = (int)(intptr_t)argument;
  for (;;) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client >= 0) {
      start_detached(serve_client, client);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return NULL;
    }
  }
}

static bool listen_at(const struct addrinfo *address) {
  int on = 1;
  int listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, address->ai_addr, address->ai_addrlen) != 0 || listen(listener, 128) != 0) {
    close(listener);
    return fail(0, "cannot listen at the rendezvous: %s", strerror(errno));
  }
  start_detached(serve, listener);
  return true;
}

static int connect_to(const struct addrinfo *address, double deadline) {
  unsigned idle = 0;
  int on = 1;
  while (now() < deadline && !is_failing()) {
    int peer = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(peer, address->ai_addr, address->ai_addrlen) == 0) {
      setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return peer;
    }
    close(peer);
    idle_wait(&idle);
  }
  return -1;
}

static bool open_store(struct rendezvous *rendezvous, const char *where, double deadline) {
  char host[256];
  const char *colon = strrchr(where, ':');
  snprintf(host, sizeof host, "%.*s", (int)(colon - where), where);
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *address = NULL;
  int error = getaddrinfo(host, colon + 1, &hints, &address);
  if (error != 0) {
    return fail(rendezvous->rank, "rendezvous %s: %s", where, gai_strerror(error));
  }
  bool ok = rendezvous->rank != 0 || listen_at(address);
  rendezvous->socket = ok ? connect_to(address, deadline) : -1;
  freeaddrinfo(address);
  return !ok ? false : rendezvous->socket >= 0 || fail(rendezvous->rank, "nobody serves the rendezvous %s", where);
}

/* ---- both kinds ---- */

struct rendezvous *rendezvous_open(const char *where, int rank, double deadline) {
  struct rendezvous *rendezvous = calloc(1, sizeof *rendezvous);
  if (rendezvous == NULL) {
    fail(rank, "no memory");
    return NULL;
  }
  rendezvous->rank = rank;
  rendezvous->socket = -1;
  bool ok;
  if (strchr(where, '/') == NULL && strchr(where, ':') != NULL) {
    ok = open_store(rendezvous, where, deadline);
  } else {
    snprintf(rendezvous->directory, sizeof rendezvous->directory, "%s", where);
    ok = mkdir(where, 0777) == 0 || errno == EEXIST || fail(rank, "rendezvous %s: %s", where, strerror(errno));
  }
  if (!ok) {
    free(rendezvous);
    return NULL;
  }
  return rendezvous;
}

void rendezvous_close(struct rendezvous *rendezvous) {
  if (rendezvous->socket >= 0) {
    close(rendezvous->socket);
  }
  free(rendezvous);
}

static bool ask(struct rendezvous *rendezvous, struct message *message, const char *key) {
  snprintf(message->key, sizeof message->key, "%s", key);
  return (transfer(rendezvous->socket, message, sizeof *message, true) &&
          transfer(rendezvous->socket, message, sizeof *message, false)) ||
         fail(rendezvous->rank, "lost the rendezvous: rank 0 has ended");
}

bool rendezvous_put(struct rendezvous *rendezvous, const char *key, const void *value, size_t bytes) {
  if (rendezvous->socket >= 0) {
    struct message message = {.put = 1, .bytes = (uint8_t)bytes};
    memcpy(message.value, value, bytes);
    return ask(rendezvous, &message, key);
  }
  char path[PATH_MAX];
  char hidden[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", rendezvous->directory, key);
  snprintf(hidden, sizeof hidden, "%s/.%s.%d", rendezvous->directory, key, rendezvous->rank);
  int file = open(hidden, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  bool ok = file >= 0 && write(file, value, bytes) == (ssize_t)bytes;
  ok = file >= 0 && close(file) == 0 && ok;
  return (ok && rename(hidden, path) == 0) || fail(rendezvous->rank, "cannot write %s: %s", path, strerror(errno));
}

int rendezvous_get(struct rendezvous *rendezvous, const char *key, void *value, size_t bytes) {
  if (rendezvous->socket >= 0) {
    struct message message = {.put = 0};
    if (!ask(rendezvous, &message, key)) {
      return -1;
    }
    memcpy(value, message.value, message.bytes == 0 ? 0 : bytes);
    return message.bytes != 0;
  }
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", rendezvous->directory, key);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT) {
      return 0;
    }
    fail(rendezvous->rank, "cannot read %s: %s", path, strerror(errno));
    return -1;
  }
  ssize_t got = read(file, value, bytes);
  close(file);
  if (got != (ssize_t)bytes) {
    fail(rendezvous->rank, "%s is cut off", path);
    return -1;
  }
  return 1;
}

static bool come_to(struct rendezvous *rendezvous, const char *name) {
  char key[MAX_KEY + 1];
  char there = 1;
  snprintf(key, sizeof key, "barrier.%s.%d", name, rendezvous->rank);
  return rendezvous_put(rendezvous, key, &there, 1);
}

static bool wait_for_all(struct rendezvous *rendezvous, const char *name, int ranks, double deadline) {
  char key[MAX_KEY + 1];
  char there;
  unsigned idle = 0;
  for (int rank = 0; rank < ranks;) {
    snprintf(key, sizeof key, "barrier.%s.%d", name, rank);
    int got = rendezvous_get(rendezvous, key, &there, 1);
    if (got < 0 || is_failing()) {
      return false;
    }
    if (got == 1) {
      rank++;
    } else if (now() > deadline) {
      return fail(rendezvous->rank, "timeout: rank %d has not come to %s", rank, name);
    } else {
      idle_wait(&idle);
    }
  }
  return true;
}

bool rendezvous_barrier(struct rendezvous *rendezvous, const char *name, int ranks, double deadline) {
  return come_to(rendezvous, name) && wait_for_all(rendezvous, name, ranks, deadline);
}

bool rendezvous_leave(struct rendezvous *rendezvous, int ranks, double deadline) {
  return come_to(rendezvous, "end") &&
         (rendezvous->rank != 0 || wait_for_all(rendezvous, "end", ranks, deadline));
}
