/*
 * Two runs, each a process, whose rounds alternate: what the machine does in the meantime meets both alike. One byte
 * goes to and fro through two FIFOs, and who has it measures.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "host.h"

/* Both ways, so that opening waits for nobody. */
static int open_fifo(const char *folder, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (mkfifo(path, 0600) != 0 && errno != EEXIST) {
    fail(0, "cannot make the FIFO %s: %s", path, strerror(errno));
    return -1;
  }
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    fail(0, "cannot open the FIFO %s: %s", path, strerror(errno));
  }
  return descriptor;
}

bool token_open(struct token *token, const struct options *options) {
  token->from = open_fifo(options->token, options->begins ? "to-first" : "to-second");
  token->to = open_fifo(options->token, options->begins ? "to-second" : "to-first");
  /* the first round needs no leave */
  return token->from >= 0 && token->to >= 0 && (!options->begins || write(token->from, "t", 1) == 1);
}

bool token_await(const struct token *token, int timeout_seconds) {
  struct pollfd readable = {.fd = token->from, .events = POLLIN};
  char byte;
  int ready = poll(&readable, 1, timeout_seconds * 1000);
  if (ready == 0) {
    return fail(0, "the other run did not pass the token within %d s", timeout_seconds);
  }
  return (ready == 1 && read(token->from, &byte, 1) == 1) || fail(0, "cannot take the token: %s", strerror(errno));
}

bool token_pass(const struct token *token) {
  return write(token->to, "t", 1) == 1 || fail(0, "cannot pass the token: %s", strerror(errno));
}

void token_close(struct token *token) {
  close(token->from);
  close(token->to);
}
