/* What each test's processes do; the argument is a socket to the other one. */
#ifndef DEVICE_TESTS_H
#define DEVICE_TESTS_H

#include "end.h"
#include <stdatomic.h>
#include <sys/types.h>

typedef void (*Role)(int socket);

typedef struct Test {
  const char *name;
  Role first, second;
  void (*meanwhile)(pid_t first, pid_t second);  /* NULL: nothing happens to them */
} Test;

extern unsigned seed;

/* What a process has done so far; shared with the one that kills it, which waits for a count instead of a time. */
extern _Atomic unsigned long *progress;

/* Two more queue pairs of the end's device, connected to each other. */
void connect_to_self(const End *like, End *x, End *y);

/* They still work. */
void check_unharmed(End *x, End *y);

/* Runs simverbs-ctl on the test's fabric. */
void ctl(const char *command);

void order_writer(int socket);
void order_checker(int socket);
void relaxed_checker(int socket);
void exchange_active(int socket);
void exchange_passive(int socket);
void refusals_active(int socket);
void refusals_passive(int socket);
void reconnect_active(int socket);
void reconnect_passive(int socket);
void killed_sender(int socket);
void sender_survivor(int socket);
void killed_target(int socket);
void target_survivor(int socket);
void kill_first(pid_t first, pid_t second);
void kill_second(pid_t first, pid_t second);
void fenced_sender(int socket);
void fenced_target(int socket);
void flushed_target(int socket);
void stop_first(pid_t first, pid_t second);
void patient_sender(int socket);
void stopped_target(int socket);
void stop_second(pid_t first, pid_t second);
void killed_connecting(int socket);
void connecting_survivor(int socket);
void broken_active(int socket);
void broken_passive(int socket);
void threads_active(int socket);
void threads_passive(int socket);
void forking(int socket);
void bystander(int socket);
void stalled_active(int socket);
void stalled_passive(int socket);
void still_active(int socket);
void still_passive(int socket);
void lossy_active(int socket);
void lossy_passive(int socket);
void modelled_active(int socket);
void modelled_passive(int socket);
void cut_active(int socket);
void cut_passive(int socket);
void long_packets_active(int socket);
void long_packets_passive(int socket);
void hold_active(int socket);
void hold_passive(int socket);
void named_kill_active(int socket);
void named_kill_passive(int socket);
void events_active(int socket);
void events_passive(int socket);
void rings_active(int socket);
void rings_passive(int socket);
void overrun_active(int socket);
void overrun_passive(int socket);
void namespaces_first(int socket);
void namespaces_second(int socket);
void instant(int socket);

#endif
