/*
 * Signals between the host program and the JVM.
 *
 * HotSpot works with SIGSEGV, SIGBUS, SIGFPE and SIGILL: implicit null checks and safepoints of compiled code are such
 * signals. A handler that the host installs before the JVM starts is chained to by the JVM. One installed after
 * (python's faulthandler.enable(), for example) would take a harmless null check for a crash. So the guard puts itself
 * in front: the JVM is asked first, and what is not the JVM's goes to the host's handler. Where the host has none, a
 * crash of its own ends it as it would without a JVM, which would print a report to stdout and abort.
 */
#ifndef TRIGON_HOST_SIGNALS_H
#define TRIGON_HOST_SIGNALS_H

/* Blocks what the host may handle, so that it never arrives on a thread of the JVM; the JVM unblocks its own. */
void block_signals_of_host(void);

/* Before a JVM of our own is created: remembers what it would take from the host for good. */
void keep_signals_of_host(void);

/* After that: SIGUSR2 and SIGPIPE are the host's again. `libjvm`: its path, or NULL if the JVM was not created. */
void give_signals_back(const char *libjvm);

/*
 * Once, after a JVM of our own was created: remembers its handlers, puts the guard in front, and starts the thread that
 * looks for handlers of the host's from then on.
 */
void begin_to_guard(void *libjvm);

/*
 * Puts the guard back in front if the host has installed handlers of its own since. Any thread; not in a forked child.
 */
void guard_signals(void);

#endif
