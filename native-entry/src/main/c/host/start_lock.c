#include "start_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_WAIT_SECONDS = 60, PAUSE_MS = 5 };

int lock_start(void) {
  const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
  int lock = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  for (int waited = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0; waited += PAUSE_MS) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || waited > LONGEST_WAIT_SECONDS * 1000) {
      (void)close(lock);
      return -1;
    }
    (void)nanosleep(&pause, NULL);
  }
  return lock;
}

void unlock_start(int lock) {
  if (lock >= 0) {
    (void)flock(lock, LOCK_UN); /* a child forked meanwhile has the descriptor too */
    (void)close(lock);
  }
}
