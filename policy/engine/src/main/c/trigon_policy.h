/*
 * For authors of Trigon's policies. Needs no other header. Build with
 *
 *     clang -O2 -g -target bpf -mcpu=v3 -I DIRECTORY_OF_THIS_FILE -c policy.c -o policy.o
 *
 * and try it with "trigon policy verify policy.o" and "trigon policy test policy.o".
 *
 * A policy is a function in a section that says its kind:
 *
 *     SEC("tuner") int decide(struct trigon_tuner *ctx) { ... return TRIGON_APPLY; }
 *
 * HeaderTest compares this file with the tables in trigon.policy.program.
 */
#ifndef TRIGON_POLICY_H
#define TRIGON_POLICY_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define __noinline __attribute__((noinline))
#define __always_inline inline __attribute__((always_inline))

/*
 * Clang may compare one copy of a number and use another, which the verifier does not know to be the same. Put
 * barrier_var(n) between computing n and comparing it.
 */
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

/*
 * Maps:
 *     struct { __uint(type, ...); __uint(max_entries, ...); __type(key, ...); __type(value, ...); } name SEC(".maps");
 */
#define __uint(name, value) int (*name)[value]
#define __type(name, value) value *name

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6 /* one array for each group of threads */
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_MAP_TYPE_RINGBUF 27

#define BPF_ANY 0
#define BPF_NOEXIST 1
#define BPF_EXIST 2

/* What a program returns. */
#define TRIGON_APPLY 0 /* the outputs count */
#define TRIGON_PASS 1  /* decide as if there was no policy */

/* Helpers, with Linux's numbers. */
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static long (*const bpf_ringbuf_output)(void *map, const void *data, u64 size, u64 flags) = (void *)130;

/* NCCL's collectives, algorithms and protocols (ncclFunc_t, NCCL_ALGO_*, NCCL_PROTO_*). */
enum {
    NCCL_BROADCAST = 0, NCCL_REDUCE = 1, NCCL_ALL_GATHER = 2, NCCL_REDUCE_SCATTER = 3, NCCL_ALL_REDUCE = 4
};
enum {
    NCCL_TREE = 0, NCCL_RING = 1, NCCL_COLLNET_DIRECT = 2, NCCL_COLLNET_CHAIN = 3, NCCL_NVLS = 4, NCCL_NVLS_TREE = 5,
    NCCL_PAT = 6
};
enum { NCCL_LL = 0, NCCL_LL128 = 1, NCCL_SIMPLE = 2 };

/* Outputs are volatile: a compiler would write two of them at once, which the verifier takes for no field. */

/*
 * SEC("tuner"): NCCL's getCollInfo. Ranks have to decide alike. SEC("tuner/advisory") is not checked for that: ranks of
 * one node agree on its answers for powers of two bytes when the communicator begins.
 */
struct trigon_tuner {
    u64 n_bytes;
    u64 comm_id;
    u64 call_seq;      /* calls of this communicator so far */
    u32 coll_type;
    u32 n_ranks;
    u32 n_nodes;
    u32 num_pipe_ops;
    u32 rank;          /* differs between ranks */
    u32 reg_buff;      /* differs between ranks: whether the buffers are registered */
    volatile s32 algorithm;     /* output, -1 to 6; -1 leaves it to NCCL; the two go together: */
    volatile s32 protocol;      /* output, -1 to 2; -1 leaves it to NCCL; one without the other does so, too */
    volatile s32 n_channels;    /* output, 0 to 64; 0 leaves it to NCCL */
    volatile s32 avoid;         /* output, TRIGON_AVOID(...) of several: NCCL takes them only if it has no other */
};
#define TRIGON_AVOID(algorithm) (1 << (algorithm))

/* SEC("chunk"): NCCL's getChunkSize (2.30 and later), once the rest is decided. Ranks have to decide alike. */
struct trigon_chunk {
    u64 n_bytes;
    u64 comm_id;
    u64 chunk_of_nccl; /* what NCCL would take */
    u32 coll_type;
    u32 n_ranks;
    u32 n_nodes;
    u32 algorithm;
    u32 protocol;
    u32 n_channels;
    volatile s64 chunk_bytes;   /* output, 0 to 2^30; below 4096 leaves it to NCCL, which also cuts it to its buffers */
};

/*
 * SEC("profiler"): an event of NCCL's profiler ended, some 30 ms ago. The result is ignored. It does not run on NCCL's
 * threads. What is not known is 0xffffffff.
 */
enum {
    NCCL_EVENT_COLLECTIVE = 1 << 1, /* from first message to last, less than all of a tree; none without network */
    NCCL_EVENT_P2P = 1 << 2,        /* a send or receive of the application's, likewise */
    NCCL_EVENT_OPERATION = 1 << 3,  /* what one channel sends to, or receives from, a peer for one of these */
    NCCL_EVENT_STEP = 1 << 4        /* a message of an operation, from when its data are there; a receive's, from its
                                       posting, so that the wait for the peer counts */
};
enum { NCCL_SEND = 6, NCCL_RECV = 7 }; /* as coll_type of NCCL_EVENT_P2P and what is below it */
struct trigon_profiler {
    u64 n_bytes;    /* of the collective or send; of a step, how many bytes it has at most */
    u64 comm_id;    /* as the tuner has it */
    u64 sequence;   /* which one of the communicator's it is */
    u64 start_ns;
    u64 duration_ns;
    u32 event_type; /* one of NCCL_EVENT_... */
    u32 coll_type;
    u32 algorithm;
    u32 protocol;
    u32 n_channels;
    u32 channel;    /* of an operation and a step */
    u32 rank;       /* this process's in the communicator */
    u32 peer;       /* a rank; of an operation, a step and P2P */
    u32 sends;      /* of an operation and a step: 1 if it sends */
};

/* SEC("net/connect"): this process connects to a peer, to send to it. */
struct trigon_connect {
    u64 peer;                 /* the same number for the same peer */
    u64 link_mbps;            /* of the fastest link that leads to it */
    u32 links;                /* how many lead to it as directly */
    u32 rdma;                 /* whether they are RDMA links */
    u32 relayed;              /* whether only relays lead to it */
    u32 traffic_class_of_job; /* 0xffffffff: the job has set none */
    volatile s32 n_queue_pairs;        /* output, 0 to 8, of the connection in all; 0 leaves it to the settings */
    volatile s32 n_links;              /* output, 0 to 8, at most so many of them; 0 leaves it to the settings */
    volatile s32 traffic_class;        /* output, -1 to 255; -1 leaves it to the job; the settings' goes first */
    volatile s32 relay;                /* output, -1 to 1; 0: no connection rather than one through relays */
};

#endif
