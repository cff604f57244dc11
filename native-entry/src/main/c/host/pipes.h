/*
 * SIGPIPE stays the host's: with its default, a host ends where it writes to a pipe that nobody reads, and may count on
 * that. Nothing that Trigon writes may raise it. The JVM would have it handled, and by that ignored, in the whole
 * process.
 */
#ifndef TRIGON_HOST_PIPES_H
#define TRIGON_HOST_PIPES_H

#include <signal.h>
#include <stdbool.h>

/*
 * Leads what the JVM's libraries write, on any thread, to functions that raise no SIGPIPE: sockets by MSG_NOSIGNAL,
 * with no other system call than before. `libjvm`: the path of a JVM that was created. False: not possible here.
 */
bool write_without_sigpipe(const char *libjvm);

/* What this thread had before; for end_without_sigpipe. */
struct sigpipe_state {
  sigset_t mask;
  bool was_pending;
};

/* Between the two, what this thread writes raises no SIGPIPE: for files of the host, such as standard error. */
struct sigpipe_state begin_without_sigpipe(void);
void end_without_sigpipe(const struct sigpipe_state *before);

#endif
