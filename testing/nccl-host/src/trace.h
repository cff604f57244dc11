/*
 * The calls that are made to the plugin, written down so that they can be compared with NCCL's.
 *
 * One line per call, with the arguments that matter; comms, contexts, memory regions and requests by number instead of
 * by address. What is asked again until there is an answer (connect, accept, isend, irecv, test) is one line. Where the
 * order depends on time alone, between connections, the lines are put in order by connection. For one rank per process,
 * and for one thread at a time.
 */
#ifndef HOST_TRACE_H
#define HOST_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "nccl_net_abi.h"

/* From now on calls are noted; without it all functions below do nothing. */
bool trace_open(const char *path, int rank, int ranks);

/* Writes all that was noted so far. False: it has said why. */
bool trace_write(void);

/* Connections are numbered from 0 again. */
void trace_communicator(int number);

/* The role that the calling thread plays: init, service or progress. */
void trace_thread(const char *role);

/* Lines that follow are kept in order, or put in order by connection. */
void trace_ordered(bool ordered);

/* A line of its own. */
__attribute__((format(printf, 1, 2))) void trace_line(const char *format, ...);

void trace_init(int api, void *ctx, uint64_t comm_id, const struct nccl_net_config *config, nccl_logger log,
                nccl_profiler_callback profiler, int result);
void trace_finalize(const void *ctx, int result);
void trace_listen(int api, const void *ctx, int dev, bool zeroed, const void *comm, int result);
void trace_connect(int api, const void *ctx, int dev, const void *handle, const void *comm, int result);
void trace_accept(const void *listen_comm, const void *comm, int result);
void trace_reg_mr(const void *comm, const void *data, size_t size, int type, const void *mhandle, int result);
void trace_dereg_mr(const void *comm, const void *mhandle, int result);
void trace_close_comm(const char *call, const void *comm, int result);

/* parent: where the profiler's event is, from API 10 on; entry: *request before the call, after: behind it. */
void trace_post(const char *call, const void *comm, int api, const void *data, size_t size, int tag,
                const void *mhandle, const void *parent, const void *entry, const void *after, int result);
void trace_test(const void *request, int done, size_t size, int result);

#endif
