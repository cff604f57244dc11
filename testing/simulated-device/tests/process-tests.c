/* Several threads of a process, and its children. */
#include "device-tests.h"

#include <pthread.h>
#include <sys/wait.h>

enum { THREADS = 4, MESSAGES = 2000, PART = 100000 };

typedef struct Worker { End e; pthread_t thread; int index; } Worker;

/* Both ends do the same: each thread has its queue pair, completion queues and part of the memory. */
static void *work(void *argument) {
  Worker *w = argument;
  size_t at = (size_t)w->index * PART;

  for (unsigned n = 1; n <= MESSAGES; n++) {
    size_t len = (n * 7919u) % 20000;
    end_receive(&w->e, n, 0, 0);
    memset(w->e.memory + at, (int)n, len);
    size_t to = at + (1 + n % 2) * (PART / 3);  /* the other end may be a message ahead */
    end_write_immediate(&w->e, n, at, to, len, n);
    expect_success(w->e.receives, n);
    for (size_t i = 0; i < len; i++)
      CHECK(w->e.memory[to + i] == (uint8_t)n, "byte %zu of message %u of thread %d", i, n, w->index);
    expect_success(w->e.sends, n);
  }
  return NULL;
}

static void use_threads(int socket) {
  static Worker workers[THREADS];
  End e;

  end_open(&e, "one");
  for (int i = 0; i < THREADS; i++) {
    Worker *w = &workers[i];
    w->index = i;
    w->e = e;
    w->e.sends = ibv_create_cq(e.context, DEPTH, NULL, NULL, 0);
    w->e.receives = ibv_create_cq(e.context, DEPTH, NULL, NULL, 0);
    end_another(&w->e, &w->e);
    end_connect(&w->e, socket);
  }
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]), "a thread");
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  meet(socket);
}

void threads_active(int socket) { use_threads(socket); }
void threads_passive(int socket) { use_threads(socket); }

/* A child has no device, and takes nothing from its parent. */
void forking(int socket) {
  End e;
  int status;

  end_open(&e, "one");
  end_connect(&e, socket);
  pid_t child = fork();
  if (!child) {
    struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
    struct ibv_wc wc;
    _exit(ibv_modify_qp(e.qp, &a, IBV_QP_STATE) != EIO || ibv_poll_cq(e.sends, 1, &wc) >= 0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
  end_write(&e, 1, 0, 0, 64, IBV_SEND_SIGNALED);
  expect_success(e.sends, 1);
  meet(socket);
}

void bystander(int socket) {
  End e;

  end_open(&e, "one");
  end_connect(&e, socket);
  meet(socket);
}
