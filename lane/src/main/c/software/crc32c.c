/* CRC32C, by the processor's instruction where it has one: as fast as the JVM's. */
#include <pthread.h>
#include <string.h>

#include "wire.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

static uint32_t table[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_instruction;

static void prepare(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) {
      value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0);
    }
    table[i] = value;
  }
#if defined(__x86_64__)
  has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__aarch64__)
  has_instruction = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

#if defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define OF_8(value, word) (uint32_t) __builtin_ia32_crc32di(value, word)
#define OF_1(value, byte) __builtin_ia32_crc32qi(value, byte)
#elif defined(__aarch64__)
#define WITH_INSTRUCTION __attribute__((target("+crc")))
#define OF_8(value, word) __builtin_aarch64_crc32cx(value, word)
#define OF_1(value, byte) __builtin_aarch64_crc32cb(value, byte)
#endif

#ifdef WITH_INSTRUCTION
WITH_INSTRUCTION static uint32_t by_instruction(uint32_t value, const unsigned char *at, uint64_t count) {
  for (; count >= 8; count -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    value = OF_8(value, word);
  }
  for (; count > 0; count--) {
    value = OF_1(value, *at++);
  }
  return value;
}
#endif

uint32_t crc32c(uint32_t value, const void *bytes, uint64_t count) {
  const unsigned char *at = bytes;
  (void)pthread_once(&once, prepare);
  value = ~value;
#ifdef WITH_INSTRUCTION
  if (has_instruction) {
    return ~by_instruction(value, at, count);
  }
#endif
  for (; count > 0; count--) {
    value = (value >> 8) ^ table[(value ^ *at++) & 0xFF];
  }
  return ~value;
}
