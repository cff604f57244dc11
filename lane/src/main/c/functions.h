/* The lane functions that Java calls; trigon.transport.request.LaneFunctions has the same order. */
#ifndef TRIGON_LANE_FUNCTIONS_H
#define TRIGON_LANE_FUNCTIONS_H

#include "lane.h"

struct lane_functions {
  int64_t (*isend)(struct lane *lane, uint64_t address, uint32_t size, uint32_t key, int32_t tag, uint64_t memory);
  int64_t (*irecv)(struct lane *lane, uint64_t address, uint32_t size, uint32_t key, int32_t tag, uint64_t memory);
  int64_t (*repeat)(struct lane *lane, uint64_t sequence, uint32_t key);
  int64_t (*confirmed)(struct lane *lane);
  int64_t (*take)(struct lane *lane, const struct completion *completion);
  int64_t (*settle)(struct lane *lane);
  int64_t (*thread)(void);
  int64_t (*flush_post)(struct flush_device *device, uint64_t address, uint32_t key);
  int64_t (*flush_owe)(struct flush_device *device, struct flush *flush);
  int64_t (*flush_finish)(struct flush_device *device);
  int64_t (*flush_poll)(struct flush_device *device);
};

extern const struct lane_functions lane_functions;

#endif
