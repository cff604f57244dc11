/*
 * For policies that were written for NCCLbpf (arXiv 2603.11438). Include this in place of its headers (bpf_compat.h,
 * policy_context.h, policy_action.h, policy_maps.h), and leave the rest of the source as it is. Build it as any policy:
 *
 *     clang -O2 -g -target bpf -mcpu=v3 -I DIRECTORY_OF_THIS_FILE -c policy.c -o policy.o
 *
 * By the section "uprobe" Trigon knows such a program. The guide says what is otherwise here, and why: policies.md,
 * "Policies for NCCLbpf". HeaderTest compares this file with trigon.policy.program and trigon.policy.map.
 */
#ifndef NCCLBPF_COMPAT_H
#define NCCLBPF_COMPAT_H

typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef unsigned long long uint64_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef long long int64_t;

#define UINT8_MAX 0xffu
#define UINT16_MAX 0xffffu
#define UINT32_MAX 0xffffffffu
#define UINT64_MAX 0xffffffffffffffffull

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int (*name)[value]
#define __type(name, value) value *name

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_ANY 0
#define BPF_NOEXIST 1
#define BPF_EXIST 2

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, uint64_t flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;

enum nccl_policy_coll_type {
    NCCL_POLICY_COLL_BROADCAST = 0, NCCL_POLICY_COLL_REDUCE = 1, NCCL_POLICY_COLL_ALLGATHER = 2,
    NCCL_POLICY_COLL_REDUCESCATTER = 3, NCCL_POLICY_COLL_ALLREDUCE = 4
};
enum nccl_policy_algo_id {
    NCCL_POLICY_ALGO_TREE = 0, NCCL_POLICY_ALGO_RING = 1, NCCL_POLICY_ALGO_COLLNET_DIRECT = 2,
    NCCL_POLICY_ALGO_COLLNET_CHAIN = 3, NCCL_POLICY_ALGO_NVLS = 4, NCCL_POLICY_ALGO_NVLS_TREE = 5,
    NCCL_POLICY_ALGO_PAT = 6
};
enum nccl_policy_proto_id { NCCL_POLICY_PROTO_LL = 0, NCCL_POLICY_PROTO_LL128 = 1, NCCL_POLICY_PROTO_SIMPLE = 2 };

/* What the result of a policy sets. */
enum nccl_policy_action_flags {
    NCCL_POLICY_ACTION_SET_ALGO = 1, NCCL_POLICY_ACTION_SET_PROTO = 2, NCCL_POLICY_ACTION_SET_CHANNELS = 4,
    NCCL_POLICY_ACTION_SET_AGGRESSIVENESS = 8 /* NCCL has nothing of the kind: without effect */
};

struct nccl_policy_ctx {
    uint64_t n_bytes;
    uint64_t last_latency_ns; /* of telemetry_map, as measured on this rank; 0: not known */
    uint64_t avg_latency_ns;
    uint64_t rolling_p99_ns;
    uint64_t call_count;
    uint32_t coll_type;
    uint32_t num_pipe_ops;
    uint32_t reg_buff;
    uint32_t n_ranks;
    uint32_t n_nodes;
    uint32_t current_channels; /* what the policy chose last; 0: nothing yet */
    uint32_t reserved;
};

/* The result: algorithm, protocol, channels, aggressiveness and flags, a byte each from the lowest. */
static inline uint64_t nccl_policy_pack_action(uint8_t algorithm, uint8_t protocol, uint8_t channels,
                                               uint8_t aggressiveness, uint8_t flags)
{
    uint64_t action = flags;
    action = action << 8 | aggressiveness;
    action = action << 8 | channels;
    action = action << 8 | protocol;
    return action << 8 | algorithm;
}
static inline uint8_t nccl_policy_action_algo(uint64_t action) { return action; }
static inline uint8_t nccl_policy_action_proto(uint64_t action) { return action >> 8; }
static inline uint8_t nccl_policy_action_channels(uint64_t action) { return action >> 16; }
static inline uint8_t nccl_policy_action_aggressiveness(uint64_t action) { return action >> 24; }
static inline uint8_t nccl_policy_action_flags_get(uint64_t action) { return action >> 32; }

/* Of the map telemetry_map, a hash, which Trigon fills. */
struct nccl_policy_telemetry_key {
    uint32_t coll_type;
    uint32_t n_nodes;
};
struct nccl_policy_telemetry_value {
    uint64_t last_latency_ns;
    uint64_t avg_latency_ns;
    uint64_t p99_latency_ns;
    uint64_t last_n_bytes;
    uint32_t samples;
    uint32_t recommended_channels;
    uint32_t applied_samples;
};

/* Of the map config_map, an array, which has NCCLbpf's defaults. */
struct nccl_policy_config_key {
    uint32_t coll_type;
};
struct nccl_policy_config_value {
    uint64_t target_p99_ns;
    uint32_t min_channels;
    uint32_t max_channels;
    uint32_t aggressiveness_step;
};

#endif
