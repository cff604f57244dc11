/* Lines into NCCL's log. NCCL's logger is printf-like: text never becomes its format. Any thread. */
#ifndef TRIGON_HOST_LOG_H
#define TRIGON_HOST_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl_net_abi.h"

enum { LOG_LINE_BYTES = 1024 }; /* NCCL cuts longer lines itself */

/* NCCL's logger as of the last init; NULL keeps the one before. */
void set_nccl_log(nccl_logger log);

/*
 * True if that logger is in RCCL, AMD's library with NCCL's interfaces, which then has loaded this one. RCCL that is
 * linked into a program is not told from NCCL.
 */
bool is_log_of_rccl(void);

/*
 * Called by Java, too: a line as it stands, with the level and subsystems of nccl_net_abi.h. Returns 0 if there is no
 * logger at the moment, and the line is still the caller's.
 */
int32_t log_line(int32_t level, int64_t subsystems, const char *text);

/* Formats a line, behind Trigon's name. */
__attribute__((format(printf, 2, 3))) void log_text(int level, const char *format, ...);

#endif
