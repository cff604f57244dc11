/* State of a process, as the tuner finds it; set by a test. */
#ifndef TRIGON_TUNER_STAND_IN_H
#define TRIGON_TUNER_STAND_IN_H

#include <stdbool.h>

/* Choice of a policy for every collective; an algorithm below 0 and 0 channels: it leaves them. */
struct fixed_policy {
  int algorithm;
  int protocol;
  int channels;
};

struct process_state {
  bool is_net_taken;  /* NCCL has called getProperties of the net plugin */
  bool is_tuning_off; /* the setting tuning */
  bool has_policy;
  struct fixed_policy policy;
};

/* Exported by the module under test. */
typedef void (*set_process_function)(struct process_state state);

#endif
