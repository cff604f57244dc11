/*
 * Connections of this process to itself, for programs that are odd around them: how their messages fare shows what the
 * oddity does to the plugin. One thread per loop.
 */
#ifndef HOST_LOOP_H
#define HOST_LOOP_H

#include <stdbool.h>

#include "net.h"

enum { LOOP_BYTES = 4096 };

struct loop {
  struct net *net;
  void *ctx; /* of the sender, and so a rank of its own */
  void *recv_ctx;
  void *listen_comm;
  void *send_comm;
  void *recv_comm;
  void *send_mhandle;
  void *recv_mhandle;
  unsigned messages; /* moved so far, each of them checked */
  char source[LOOP_BYTES];
  char target[LOOP_BYTES];
};

/*
 * Opens a context for each end, connects and registers. False: it has said why; whatever is open is closed by
 * loop_close.
 */
bool loop_open(struct loop *loop, struct net *net);

/* Moves a message and compares it. Waits for 20 s at most. False: it has said why. */
bool loop_move(struct loop *loop);

/* Closes all, the contexts included. */
bool loop_close(struct loop *loop);

#endif
