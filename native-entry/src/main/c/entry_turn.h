/*
 * One start at a time in a process, also where it has loaded this library twice, from two paths: a JVM that another copy is
 * about to make must be whole before it is used. Copies share no variable, but the process's own file in /proc. Part of
 * entry.c.
 */
#ifndef TRIGON_ENTRY_TURN_H
#define TRIGON_ENTRY_TURN_H

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TURN_SECONDS = 60, TURN_PAUSE_MS = 5 };

/* Waits for this copy's turn. Returns what give_turn takes; -1 where there is no such file, or the deadline is over. */
static int take_turn(void) {
  const struct timespec pause = {.tv_nsec = TURN_PAUSE_MS * 1000000L};
  int turn = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  for (int waited = 0; turn >= 0 && flock(turn, LOCK_EX | LOCK_NB) != 0; waited += TURN_PAUSE_MS) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || waited > TURN_SECONDS * 1000) {
      (void)close(turn);
      return -1;
    }
    (void)nanosleep(&pause, NULL);
  }
  return turn;
}

static void give_turn(int turn) {
  if (turn >= 0) {
    (void)flock(turn, LOCK_UN); /* a child forked meanwhile has the descriptor too */
    (void)close(turn);
  }
}

#endif
