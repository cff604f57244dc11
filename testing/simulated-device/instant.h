/*
 * The kind of devices that are within one process, which talks to itself, and whose work requests cost one memcpy.
 *
 * A work request is carried out inside ibv_post_send, on the caller's thread, as a copy into the memory of the
 * destination queue pair; its completions are in the CQs before the call returns. What remains when a transport runs
 * over it is that transport's own cost. What a NIC refuses is refused here, too: a transport that is fast only on a
 * sloppy device has not been measured.
 *
 * Each queue pair has a lock of its own for what it sends, under which the peer is looked up and written to; the
 * engine's is taken before it, by who changes queue pairs and by who retries what waits for a receive. A queue pair
 * that is connected to itself goes on with the port down, and no fault of its own comes to it.
 */
#ifndef INSTANT_H
#define INSTANT_H

#include "simulated-verbs.h"

enum { FIRST_QPN = 0x11 };  /* 0 and 1 are special on a real port */

/* Reads from the environment which faults come by themselves, the first time. */
void read_faults(void);

extern _Atomic uint32_t instant_made;  /* queue pairs so far */
extern bool faults;  /* whether any does */

/* Brings about the faults that are due, with so many more sends carried out; no lock is held. */
void plant_faults(unsigned sends);

/* Has a queue pair fail that is ready to send, and not to itself. The engine is held. Returns whether it is one. */
bool fail_if_sending(Qp *qp);

#endif
