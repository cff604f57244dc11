#include "channels.h"

#include <stdlib.h>

#include "nccl_tuner_abi.h"

/* What a rank sends to its neighbour in one step, up to which one channel is fastest, and below which two are. */
enum { MOST_FOR_ONE = 128 << 10, TOO_MUCH_FOR_TWO = 2 << 20 };

/* NCCL's names for the least number, the older ones too. */
static bool is_least_number_set(void) {
  static const char *const names[] = {"NCCL_MIN_CTAS", "NCCL_MIN_NCHANNELS", "NCCL_MIN_NRINGS"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (getenv(names[i]) != NULL) {
      return true;
    }
  }
  return false;
}

bool chooses_channels(size_t ranks, size_t nodes) {
  return ranks > 1 && ranks == nodes && !is_least_number_set();
}

/* A broadcast and a reduction pass all of it on, the others a rank's part in each step. */
int channels_for(size_t ranks, int coll, size_t bytes) {
  const bool passes_all = coll == NCCL_TUNER_BROADCAST || coll == NCCL_TUNER_REDUCE;
  const size_t step = passes_all ? bytes : bytes / ranks;
  if (step <= MOST_FOR_ONE) {
    return 1;
  }
  return step < TOO_MUCH_FOR_TWO ? 2 : 0;
}
