/*
 * Tests of the device alone: device-tests [NAME]... runs all, or those. Each has two processes, which are forked
 * before either opens a device, and a fabric of its own. SIMVERBS_TEST_SEED repeats a run.
 */
#include "device-tests.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum { DEADLINE_S = 120 };

unsigned seed;
_Atomic unsigned long *progress;
const char *ctl_program;

static const Test tests[] = { { "orders-writes", order_writer, order_checker, NULL },
  { "reorders-where-it-may", order_writer, relaxed_checker, NULL },
  { "exchanges-at-random", exchange_active, exchange_passive, NULL },
  { "refuses", refusals_active, refusals_passive, NULL },
  { "reconnects", reconnect_active, reconnect_passive, NULL },
  { "keeps-rings-apart", rings_active, rings_passive, NULL },
  { "survives-a-killed-sender", killed_sender, sender_survivor, kill_first },
  { "survives-a-killed-target", target_survivor, killed_target, kill_second },
  { "writes-nothing-after-a-fence", fenced_sender, fenced_target, stop_first },
  { "writes-nothing-after-a-flush", fenced_sender, flushed_target, stop_first },
  { "survives-kills-at-connecting", killed_connecting, connecting_survivor, kill_first },
  { "waits-for-a-stopped-target", patient_sender, stopped_target, stop_second },
  { "serves-many-threads", threads_active, threads_passive, NULL },
  { "has-no-verbs-in-a-child", forking, bystander, NULL },
  { "breaks-between-execution-and-acknowledgement", broken_active, broken_passive, NULL },
  { "moves-messages-while-calls-stall", stalled_active, stalled_passive, NULL },
  { "takes-writes-for-a-program-that-stands-still", still_active, still_passive, NULL },
  { "loses-and-retries", lossy_active, lossy_passive, NULL },
  { "takes-the-time-of-a-model", modelled_active, modelled_passive, NULL },
  { "times-out-when-cut", cut_active, cut_passive, NULL },
  { "loses-long-packets", long_packets_active, long_packets_passive, NULL },
  { "lands-late-writes", hold_active, hold_passive, NULL },
  { "kills-at-named-points", named_kill_active, named_kill_passive, NULL },
  { "raises-events", events_active, events_passive, NULL },
  { "follows-interfaces", namespaces_first, namespaces_second, NULL },
  { "overruns", overrun_active, overrun_passive, NULL },
  { "is-instant", instant, instant, NULL },
};

void ctl(const char *command) {
  char line[512];

  snprintf(line, sizeof line, "%s \"$SIMVERBS_FABRIC\" %s", ctl_program, command);
  CHECK(system(line) == 0, "%s", line);
}

/* A process of the test: its node, its device, and its deadline. */
static pid_t start(const Role role, const char *node, const char *address, int socket, int other) {
  pid_t pid = fork();
  char devices[64];

  if (pid)
    return pid;
  close(other);
  alarm(DEADLINE_S);
  snprintf(devices, sizeof devices, "one=%s/24", address);
  setenv("SIMVERBS_NODE", node, 1);
  setenv("SIMVERBS_DEVICES", devices, 1);
  srand(seed);
  role(socket);
  _exit(0);
}

static bool ended_well(pid_t pid, bool killed) {
  int status;

  while (waitpid(pid, &status, 0) < 0)
    CHECK(errno == EINTR, "%s", strerror(errno));
  if (killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return true;
  if (WIFSIGNALED(status))
    fprintf(stderr, "a process ended by signal %d%s\n", WTERMSIG(status),
      WTERMSIG(status) == SIGALRM ? ", its deadline" : "");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run(const Test *t) {
  char fabric[64], locks[72];
  int pair[2];

  snprintf(fabric, sizeof fabric, "/dev/shm/simverbs-test-%d", getpid());
  snprintf(locks, sizeof locks, "%s.locks", fabric);
  setenv("SIMVERBS_FABRIC", fabric, 1);
  atomic_store(progress, 0);
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "%s", strerror(errno));
  pid_t first = start(t->first, "a", "10.9.0.1", pair[0], pair[1]);
  pid_t second = start(t->second, "b", "10.9.0.2", pair[1], pair[0]);
  close(pair[0]);
  close(pair[1]);
  bool first_dies = t->first == killed_sender || t->first == killed_connecting, second_dies = t->second == killed_target
    || t->second == named_kill_passive;
  alarm(2 * DEADLINE_S);
  if (t->meanwhile)
    t->meanwhile(first, second);
  bool well = ended_well(first, first_dies);
  well &= ended_well(second, second_dies);
  unlink(fabric);
  unlink(locks);
  return well;
}

static bool wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name))
      return true;
  return argc == 1;
}

int main(int argc, char **argv) {
  const char *given = getenv("SIMVERBS_TEST_SEED");
  int failed = 0;

  seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
  ctl_program = getenv("SIMVERBS_CTL");
  CHECK(ctl_program, "SIMVERBS_CTL has to name simverbs-ctl");
  progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(progress != MAP_FAILED, "%s", strerror(errno));
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (!wanted(tests[i].name, argc, argv))
      continue;
    bool well = run(&tests[i]);
    printf("%s - %s (seed %u)\n", well ? "ok" : "not ok", tests[i].name, seed);
    fflush(stdout);
    failed += !well;
  }
  return failed != 0;
}
