#include "lanes.h"

#include "events.h"

struct lane *_Atomic lanes[LANES];
struct lane_memory *_Atomic lane_memories[LANES];
struct net_events *_Atomic net_events[LANES];
_Atomic(nccl_profiler_callback) net_profiler;
