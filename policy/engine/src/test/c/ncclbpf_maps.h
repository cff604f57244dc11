/* The two maps of NCCLbpf's policies. */
#include "ncclbpf_compat.h"

enum {
    ALL = NCCL_POLICY_ACTION_SET_ALGO | NCCL_POLICY_ACTION_SET_PROTO | NCCL_POLICY_ACTION_SET_CHANNELS
        | NCCL_POLICY_ACTION_SET_AGGRESSIVENESS
};

#define TELEMETRY_MAP                                       \
    struct {                                                \
        __uint(type, BPF_MAP_TYPE_HASH);                    \
        __uint(max_entries, 64);                            \
        __type(key, struct nccl_policy_telemetry_key);      \
        __type(value, struct nccl_policy_telemetry_value);  \
    } telemetry_map SEC(".maps")

#define CONFIG_MAP                                          \
    struct {                                                \
        __uint(type, BPF_MAP_TYPE_ARRAY);                   \
        __uint(max_entries, 5);                             \
        __type(key, struct nccl_policy_config_key);         \
        __type(value, struct nccl_policy_config_value);     \
    } config_map SEC(".maps")
