/* Copies that keep, or do not keep, the order in which a NIC's writes become visible. */
#include "devices.h"

enum { WORD = sizeof(uint64_t), LINE = 128 };

/*
 * NCCL's LL protocol polls each word of 8 bytes, LL128 the last word of each 128 bytes, others the last word of a
 * message. A memcpy may store the last bytes first, and "rep movsb" promises nothing either. On x86 plain stores are
 * seen in order; elsewhere the last word of each line, and of the copy, is stored with release.
 */
static void store(uint8_t *to, uint64_t word, bool last) {
  _Atomic uint64_t *at = (_Atomic uint64_t *)(void *)to;

  if (last)
    atomic_store_explicit(at, word, memory_order_release);
  else
    atomic_store_explicit(at, word, memory_order_relaxed);
}

static void store_bytes(uint8_t *to, const uint8_t *from, size_t len) {
  for (size_t i = 0; i < len; i++)
    atomic_store_explicit((_Atomic uint8_t *)(to + i), from[i], memory_order_release);
}

/* Aligned, for its speed not to depend on what the linker puts before it. */
__attribute__((aligned(64)))
void ordered_copy(uint8_t *to, const uint8_t *from, size_t len) {
  size_t lead = -(uintptr_t)to % WORD;

  if (lead > len)
    lead = len;
  store_bytes(to, from, lead);
  size_t at = lead;
  for (; at + WORD <= len; at += WORD) {
    uint64_t word;
    memcpy(&word, from + at, sizeof word);
    store(to + at, word, ((uintptr_t)(to + at) & (LINE - 1)) == LINE - WORD || at + 2 * WORD > len);
  }
  store_bytes(to + at, from + at, len - at);
}

void relaxed_copy(uint8_t *to, const uint8_t *from, size_t len) {
  while (len) {
    size_t last = ((uintptr_t)to + len - 1) % LINE + 1;  /* bytes in the last line */
    if (last > len)
      last = len;
    len -= last;
    ordered_copy(to + len, from + len, last);
  }
}
