/*
 * Probes for debuggers and bpftrace (USDT): usdt:LIBRARY:trigon:NAME. A probe is a nop, and a note of where it is and
 * where its arguments are then, as SystemTap defined it (sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 * Who does not attach pays for the nop alone. Arguments are numbers of up to 64 bits without a sign.
 */
#ifndef TRIGON_HOST_PROBE_H
#define TRIGON_HOST_PROBE_H

#include <stdint.h>

/* clang-format off */
#define PROBE_NOTE(name, arguments) \
  "990: nop\n" \
  ".pushsection .note.stapsdt, \"?\", \"note\"\n" \
  ".balign 4\n" \
  ".4byte 992f - 991f, 994f - 993f, 3\n" \
  "991: .asciz \"stapsdt\"\n" \
  "992: .balign 4\n" \
  "993: .8byte 990b\n" \
  ".8byte _.stapsdt.base\n" \
  ".8byte 0\n" \
  ".asciz \"trigon\"\n" \
  ".asciz \"" name "\"\n" \
  ".asciz \"" arguments "\"\n" \
  "994: .balign 4\n" \
  ".popsection\n" \
  ".ifndef _.stapsdt.base\n" \
  ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
  ".weak _.stapsdt.base\n" \
  ".hidden _.stapsdt.base\n" \
  "_.stapsdt.base: .space 1\n" \
  ".size _.stapsdt.base, 1\n" \
  ".popsection\n" \
  ".endif\n"

/* In a register, or a constant. */
#define PROBE_VALUE(value) "nr"((uint64_t)(value))

#define PROBE2(name, first, second) \
  __asm__ __volatile__(PROBE_NOTE(#name, "8@%0 8@%1") : : PROBE_VALUE(first), PROBE_VALUE(second))

#define PROBE3(name, first, second, third) \
  __asm__ __volatile__(PROBE_NOTE(#name, "8@%0 8@%1 8@%2") \
                       : : PROBE_VALUE(first), PROBE_VALUE(second), PROBE_VALUE(third))

#define PROBE4(name, first, second, third, fourth) \
  __asm__ __volatile__(PROBE_NOTE(#name, "8@%0 8@%1 8@%2 8@%3") \
                       : : PROBE_VALUE(first), PROBE_VALUE(second), PROBE_VALUE(third), PROBE_VALUE(fourth))
/* clang-format on */

#endif
