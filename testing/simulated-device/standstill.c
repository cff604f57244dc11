/* A program that stands still while its devices go on, as one that is stopped does beside a NIC. */
#include "simulated-verbs.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>

enum { LOOK_US = 1000, LOOKS = 200, THREADS = 1024, TRIES = 100 };

static const Rule *_Atomic stopped_by;
static _Atomic uint64_t serial;
static _Atomic unsigned standing;

/* By the rule itself: the device's thread may wait for something that a thread which stands still has. */
static bool still(void) {
  const Rule *r = atomic_load(&stopped_by);

  return r && atomic_load(&r->serial) == atomic_load(&serial) && (!r->until || now_ns() < r->until);
}

static void stand_still(int number) {
  int before = errno;

  (void)number;
  atomic_fetch_add(&standing, 1);
  while (still())
    usleep(LOOK_US);
  atomic_fetch_sub(&standing, 1);
  errno = before;
}

/* Threads that block the signal, as C ones of libraries do, are not waited for long. */
static void stop_others(int number) {
  static pid_t threads[THREADS];
  pid_t self_tid = (pid_t)syscall(SYS_gettid);
  DIR *tasks = opendir("/proc/self/task");
  unsigned count = 0;

  for (const struct dirent *d; tasks && (d = readdir(tasks)) && count < THREADS;)
    if ((threads[count] = (pid_t)atoi(d->d_name)) > 0 && threads[count] != self_tid)
      count++;
  if (tasks)
    closedir(tasks);  /* before anybody stands still who may have a lock of malloc's */
  for (unsigned i = 0; i < count; i++)
    syscall(SYS_tgkill, getpid(), threads[i], number);
  for (int i = 0; i < LOOKS && atomic_load(&standing) < count; i++)
    usleep(LOOK_US);
}

static bool is_free(Lock *l) {
  if (atomic_flag_test_and_set(&l->held))
    return false;
  unlock(l);
  return true;
}

static bool all_free(void) {
  bool all = is_free(&world) && is_free(&dma_bufs);

  for (int i = 0; i < SLOTS && all; i++) {
    Qp *qp = atomic_load(&qps[i]);
    all = !qp || (is_free(&((Cq *)qp->ibv.send_cq)->lock) && is_free(&((Cq *)qp->ibv.recv_cq)->lock));
  }
  return all;
}

static void go_on(void) {
  atomic_store(&stopped_by, NULL);
  while (atomic_load(&standing))
    usleep(LOOK_US);
}

/* The engine is held, so nobody else has it. If one that stands still has another lock, it is tried again. */
static void stop(const Rule *r) {
  struct sigaction act = { .sa_handler = stand_still, .sa_flags = SA_RESTART };
  int number = SIGRTMAX - 1;

  sigaction(number, &act, NULL);
  for (int i = 0; i < TRIES; i++) {
    atomic_store(&serial, atomic_load(&r->serial));
    atomic_store(&stopped_by, r);
    stop_others(number);
    if (all_free())
      return;
    go_on();
  }
}

void stop_program(void) {
  for (int i = 0; i < RULES; i++) {
    const Rule *r = &fabric.rules[i];
    uint64_t now = atomic_load_explicit(&r->serial, memory_order_acquire);
    if (now && r->action == RULE_STOP && (!strcmp(r->from_node, "*")
        || !strncmp(r->from_node, fabric.processes[self].node, NAME_SIZE))
        && now != atomic_load(&serial) && strike(1ull << i, RULE_STOP))
      stop(r);
  }
}
