#include "requests.h"

#include "events.h"

struct request_row *_Atomic request_table[TABLE_ROWS];
struct net_events *_Atomic net_events[TABLE_ROWS];
_Atomic(nccl_profiler_callback) net_profiler;
