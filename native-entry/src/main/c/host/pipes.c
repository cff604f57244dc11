#include "pipes.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

static bool is_sigpipe_pending(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static sigset_t only_sigpipe(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

struct sigpipe_state begin_without_sigpipe(void) {
  struct sigpipe_state before = {.was_pending = is_sigpipe_pending()};
  const sigset_t pipe = only_sigpipe();
  (void)pthread_sigmask(SIG_BLOCK, &pipe, &before.mask);
  return before;
}

/* The kernel directs SIGPIPE to the thread that writes: one that is pending now is ours. errno stays as it is. */
void end_without_sigpipe(const struct sigpipe_state *before) {
  int error = errno;
  if (!before->was_pending && is_sigpipe_pending()) {
    const sigset_t pipe = only_sigpipe();
    const struct timespec at_once = {0, 0};
    (void)sigtimedwait(&pipe, NULL, &at_once);
  }
  (void)pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
  errno = error;
}

/* libnio's write: to sockets, eventfds and files. Only sockets of these can raise the signal. */
static ssize_t send_or_write(int file, const void *bytes, size_t length) {
  ssize_t sent = send(file, bytes, length, MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? write(file, bytes, length) : sent;
}

/* libnio's writev. */
static ssize_t send_or_write_all(int file, const struct iovec *buffers, int count) {
  const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)buffers, .msg_iovlen = (size_t)count};
  ssize_t sent = sendmsg(file, &message, MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? writev(file, buffers, count) : sent;
}

/* libjava's write: to standard error, which may be a pipe that nobody reads. */
static ssize_t write_masked(int file, const void *bytes, size_t length) {
  struct sigpipe_state before = begin_without_sigpipe();
  ssize_t written = write(file, bytes, length);
  end_without_sigpipe(&before);
  return written;
}

/* The JVM's library of that name. Never closed: the JVM uses it as long as the process lives. */
static void *open_library(const char *libjvm, const char *name) {
  char path[PATH_MAX];
  int folder = (int)(strlen(libjvm) - strlen("server/libjvm.so")); /* .../lib/ */
  return folder > 0 && snprintf(path, sizeof path, "%.*s%s", folder, libjvm, name) < (int)sizeof path
             ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
             : NULL;
}

bool write_without_sigpipe(const char *libjvm) {
  void *libnio = open_library(libjvm, "libnio.so");
  void *libjava = open_library(libjvm, "libjava.so");
  return libnio != NULL && libjava != NULL && replace_call(libnio, "write", (void (*)(void))send_or_write) &&
         replace_call(libnio, "writev", (void (*)(void))send_or_write_all) &&
         replace_call(libjava, "write", (void (*)(void))write_masked);
}
