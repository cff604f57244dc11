/* The order in which many connections are used: the same for all plugins, and none that a processor foresees, as it
 * does with an ascending one, whose memory it then has before it is asked for. */
#ifndef TURNS_H
#define TURNS_H

#include <stdint.h>

static inline void shuffle(int *turns, int count) {
  uint64_t random = 20261121;
  for (int i = 0; i < count; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int at = (int)((random >> 33) % (uint64_t)(i + 1));
    turns[i] = turns[at];
    turns[at] = i;
  }
}

#endif
