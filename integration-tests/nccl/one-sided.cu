/*
 * One rank of a test of NCCL's one-sided communication: kernels put data and signals into the other ranks' memory, and
 * every element is looked at. From NCCL 2.30.7 on the host's calls are tried, too.
 *
 *   one-sided RANK RANKS ID_FILE MAX_BYTES
 *
 * Prints a JSON object a line: {"test": ..., "wrong": N, ...}. The exit status is 0 if nothing was wrong.
 */
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CUDA(call) check_cuda((call), #call)
#define NCCL(call) check_nccl((call), #call)

static int rank, ranks;
static long all_wrong;

static void check_cuda(cudaError_t result, const char *call) {
  if (result != cudaSuccess) {
    fprintf(stderr, "rank %d: %s: %s\n", rank, call, cudaGetErrorString(result));
    exit(1);
  }
}

static void check_nccl(ncclResult_t result, const char *call) {
  if (result != ncclSuccess) {
    fprintf(stderr, "rank %d: %s: %s: %s\n", rank, call, ncclGetErrorString(result), ncclGetLastError(NULL));
    exit(1);
  }
}

static void wrong(const char *test, long elements, const char *rest) {
  all_wrong += elements;
  printf("{\"test\": \"%s\", \"wrong\": %ld%s}\n", test, elements, rest);
  fflush(stdout);
}

/* What rank "from" sends to rank "to" in a round, at place i: differs in each. */
__host__ __device__ static uint32_t element(int from, int to, int round, size_t i) {
  uint32_t x = (uint32_t)i * 2654435761u + from * 97u + to * 193u + round * 389u;
  return x ^ x >> 15;
}

__global__ void fill(uint32_t *data, size_t each, int own, int number, int round) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < each * number; i += gridDim.x * blockDim.x) {
    data[i] = element(own, i / each, round, i % each);
  }
}

__global__ void count_wrong(const uint32_t *data, size_t each, int own, int number, int round,
                            unsigned long long *found) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < each * number; i += gridDim.x * blockDim.x) {
    int from = i / each;
    if (from != own && data[i] != element(from, own, round, i % each)) {
      atomicAdd(found, 1ull);
    }
  }
}

/* An all-to-all: a thread for each peer puts, signals, and waits for the peer's signal. */
__global__ void exchange(ncclWindow_t from, ncclWindow_t to, size_t bytes, uint64_t signals, ncclDevComm comm) {
  ncclGin gin(comm, 0);
  ncclTeam world = ncclTeamWorld(comm);
  int peer = threadIdx.x;
  if (peer < world.nRanks && peer != world.rank) {
    gin.put(world, peer, to, world.rank * bytes, from, peer * bytes, bytes,
            ncclGin_SignalInc{(ncclGinSignal_t)world.rank});
    gin.waitSignal(ncclCoopThread(), peer, signals);
  }
  __syncthreads();
  gin.flush(ncclCoopCta());
}

/* Many puts, then one signal: whoever sees it has all of them. */
__global__ void many_puts(ncclWindow_t from, ncclWindow_t to, size_t bytes, int pieces, ncclGinSignal_t signal,
                          uint64_t signals, ncclDevComm comm) {
  ncclGin gin(comm, 0);
  ncclTeam world = ncclTeamWorld(comm);
  int peer = (world.rank + 1) % world.nRanks;
  if (threadIdx.x == 0) {
    for (int i = 0; i < pieces; i++) {
      gin.put(world, peer, to, world.rank * bytes * pieces + i * bytes, from, peer * bytes * pieces + i * bytes, bytes);
    }
    gin.signal(world, peer, ncclGin_SignalInc{signal});
    gin.waitSignal(ncclCoopThread(), signal, signals);
    gin.flush(ncclCoopThread());
  }
}

/* Every thread of every rank adds to one word of rank 0. */
__global__ void add_signals(int each, ncclGinSignal_t signal, uint64_t in_all, ncclDevComm comm) {
  ncclGin gin(comm, 0);
  ncclTeam world = ncclTeamWorld(comm);
  if (world.rank != 0) {
    for (int i = 0; i < each; i++) {
      gin.signal(world, 0, ncclGin_SignalAdd{signal, 1 + (uint64_t)threadIdx.x});
    }
  } else if (threadIdx.x == 0) {
    gin.waitSignal(ncclCoopThread(), signal, in_all);
  }
  __syncthreads();
  gin.flush(ncclCoopCta());
}

__global__ void read_signal(ncclGinSignal_t signal, uint64_t *value, ncclDevComm comm) {
  *value = ncclGin(comm, 0).readSignal(signal);
}

/* There and back between ranks 0 and 1; nanoseconds of the rounds after the first ones. */
__global__ void ping_pong(ncclWindow_t from, ncclWindow_t to, size_t bytes, int first, int rounds,
                          ncclGinSignal_t signal, uint64_t before, long long *nanoseconds, ncclDevComm comm) {
  ncclGin gin(comm, 0);
  ncclTeam world = ncclTeamWorld(comm);
  long long start = 0, now;
  for (int i = 0; i < first + rounds; i++) {
    if (i == first) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    }
    if (world.rank == 0) {
      gin.put(world, 1, to, 0, from, 0, bytes, ncclGin_SignalInc{signal});
    }
    gin.waitSignal(ncclCoopThread(), signal, before + i + 1);
    if (world.rank == 1) {
      gin.put(world, 0, to, 0, from, 0, bytes, ncclGin_SignalInc{signal});
    }
  }
  gin.flush(ncclCoopThread());
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *nanoseconds = now - start;
}

/* Puts one way without waiting in between, then one signal back. */
__global__ void stream_puts(ncclWindow_t from, ncclWindow_t to, size_t bytes, int puts, ncclGinSignal_t signal,
                            uint64_t before, long long *nanoseconds, ncclDevComm comm) {
  ncclGin gin(comm, 0);
  ncclTeam world = ncclTeamWorld(comm);
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  if (world.rank == 0) {
    for (int i = 0; i < puts; i++) {
      gin.put(world, 1, to, (i % 4) * bytes, from, (i % 4) * bytes, bytes, ncclGin_SignalInc{signal});
    }
    gin.waitSignal(ncclCoopThread(), signal, before + 1);
  } else if (world.rank == 1) {
    gin.waitSignal(ncclCoopThread(), signal, before + puts);
    gin.signal(world, 0, ncclGin_SignalInc{signal});
  }
  gin.flush(ncclCoopThread());
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *nanoseconds = now - start;
}

struct job {
  ncclComm_t comm;
  ncclDevComm device;
  cudaStream_t stream;
  uint32_t *from, *to;
  ncclWindow_t from_window, to_window;
  unsigned long long *found;
  uint64_t *value;
  float *barrier;
  size_t max_bytes;
};

enum { SIGNAL_MANY = 16, SIGNAL_SUM, SIGNAL_PING, SIGNAL_STREAM, SIGNALS };

/* Until all ranks are here. */
static void all_here(struct job *j) {
  NCCL(ncclAllReduce(j->barrier, j->barrier, 1, ncclFloat, ncclSum, j->comm, j->stream));
  CUDA(cudaStreamSynchronize(j->stream));
}

static long verify(struct job *j, size_t each, int number, int round) {
  unsigned long long found = 0;
  CUDA(cudaMemsetAsync(j->found, 0, sizeof found, j->stream));
  count_wrong<<<64, 256, 0, j->stream>>>(j->to, each, rank, number, round, j->found);
  CUDA(cudaMemcpyAsync(&found, j->found, sizeof found, cudaMemcpyDeviceToHost, j->stream));
  CUDA(cudaStreamSynchronize(j->stream));
  return found;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void test_exchange(struct job *j) {
  int round = 0;
  for (size_t bytes = 8; bytes <= j->max_bytes; bytes *= 8) {
    long bad = 0;
    double own = 0, of_nccl = 0;
    const int rounds = 20;
    for (int i = 0; i < rounds; i++) {
      fill<<<64, 256, 0, j->stream>>>(j->from, bytes / 4, rank, ranks, ++round);
      CUDA(cudaMemsetAsync(j->to, 0xff, bytes * ranks, j->stream));
      all_here(j);
      double start = seconds();
      exchange<<<1, 32, 0, j->stream>>>(j->from_window, j->to_window, bytes, round, j->device);
      CUDA(cudaStreamSynchronize(j->stream));
      own += i == 0 ? 0 : seconds() - start;
      bad += verify(j, bytes / 4, ranks, round);
      CUDA(cudaMemsetAsync(j->to, 0xff, bytes * ranks, j->stream));
      all_here(j);
      start = seconds();
      NCCL(ncclAlltoAll(j->from, j->to, bytes / 4, ncclInt32, j->comm, j->stream));
      CUDA(cudaStreamSynchronize(j->stream));
      of_nccl += i == 0 ? 0 : seconds() - start;
      bad += verify(j, bytes / 4, ranks, round);
    }
    char rest[160];
    snprintf(rest, sizeof rest, ", \"bytes\": %zu, \"us\": %.1f, \"us_of_ncclAlltoAll\": %.1f", bytes,
             own / (rounds - 1) * 1e6, of_nccl / (rounds - 1) * 1e6);
    wrong("all-to-all", bad, rest);
  }
}

static void test_many_puts(struct job *j) {
  const int pieces = 1000, rounds = 5;
  const size_t bytes = 512;
  long bad = 0;
  for (int round = 1; round <= rounds; round++) {
    fill<<<64, 256, 0, j->stream>>>(j->from, bytes * pieces / 4, rank, ranks, 1000 + round);
    CUDA(cudaMemsetAsync(j->to, 0xff, bytes * pieces * ranks, j->stream));
    all_here(j);
    many_puts<<<1, 32, 0, j->stream>>>(j->from_window, j->to_window, bytes, pieces, SIGNAL_MANY, round, j->device);
    CUDA(cudaStreamSynchronize(j->stream));
    /* from the rank before alone */
    int before = (rank + ranks - 1) % ranks;
    size_t each = bytes * pieces / 4;
    uint32_t *copy = (uint32_t *)malloc(each * 4);
    CUDA(cudaMemcpy(copy, j->to + before * each, each * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < each; i++) {
      bad += copy[i] != element(before, rank, 1000 + round, i);
    }
    free(copy);
    all_here(j);
  }
  wrong("a signal after 1000 puts", bad, "");
}

static void test_signals(struct job *j) {
  const int threads = 64, each = 200;
  uint64_t in_all = (uint64_t)(ranks - 1) * each * threads * (threads + 1) / 2, value = 0;
  all_here(j);
  add_signals<<<1, threads, 0, j->stream>>>(each, SIGNAL_SUM, in_all, j->device);
  CUDA(cudaStreamSynchronize(j->stream));
  all_here(j); /* whatever is too much has come as well */
  read_signal<<<1, 1, 0, j->stream>>>(SIGNAL_SUM, j->value, j->device);
  CUDA(cudaMemcpyAsync(&value, j->value, sizeof value, cudaMemcpyDeviceToHost, j->stream));
  CUDA(cudaStreamSynchronize(j->stream));
  char rest[80];
  snprintf(rest, sizeof rest, ", \"signals\": %d", (ranks - 1) * each * threads);
  wrong("additions to one word", rank == 0 && value != in_all, rest);
}

static void test_times(struct job *j) {
  static const size_t sizes[] = {8, 4096, 65536, 1 << 20, 16 << 20};
  uint64_t pings = 0, streamed = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t bytes = sizes[i];
    if (bytes * 4 > j->max_bytes * ranks) {
      break;
    }
    /* the JVM compiles meanwhile */
    int first = bytes < (1 << 20) ? 3000 : 100, rounds = bytes < (1 << 20) ? 1000 : 100;
    int puts = bytes < (1 << 20) ? 1000 : 100;
    long long times[2] = {0, 0};
    all_here(j);
    if (rank < 2) {
      ping_pong<<<1, 1, 0, j->stream>>>(j->from_window, j->to_window, bytes, first, rounds, SIGNAL_PING, pings,
                                       (long long *)j->value, j->device);
      CUDA(cudaMemcpyAsync(&times[0], j->value, 8, cudaMemcpyDeviceToHost, j->stream));
      CUDA(cudaStreamSynchronize(j->stream));
    }
    pings += first + rounds;
    all_here(j);
    if (rank < 2) {
      stream_puts<<<1, 1, 0, j->stream>>>(j->from_window, j->to_window, bytes, puts, SIGNAL_STREAM, streamed,
                                         (long long *)j->value, j->device);
      CUDA(cudaMemcpyAsync(&times[1], j->value, 8, cudaMemcpyDeviceToHost, j->stream));
      CUDA(cudaStreamSynchronize(j->stream));
    }
    streamed += rank == 0 ? 1 : puts;
    char rest[160];
    snprintf(rest, sizeof rest, ", \"bytes\": %zu, \"one_way_us\": %.1f, \"GB_per_s\": %.2f", bytes,
             times[0] / 2e3 / rounds, times[1] == 0 ? 0. : (double)bytes * puts / times[1]);
    wrong("times of put with signal", 0, rest);
  }
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 7)
static void test_host_calls(struct job *j) {
  for (size_t bytes = 8; bytes <= j->max_bytes; bytes *= 64) {
    long bad = 0;
    double took = 0;
    const int rounds = 20;
    int peer = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < rounds; i++) {
      fill<<<64, 256, 0, j->stream>>>(j->from, bytes / 4, rank, ranks, 5000 + i);
      CUDA(cudaMemsetAsync(j->to, 0xff, bytes * ranks, j->stream));
      all_here(j);
      double start = seconds();
      ncclWaitSignalDesc_t one = {};
      one.opCnt = 1;
      one.peer = before;
      NCCL(ncclPutSignal(j->from + peer * (bytes / 4), bytes, ncclInt8, peer, j->to_window, rank * bytes, 0, 0, 0,
                         j->comm, j->stream));
      NCCL(ncclWaitSignal(1, &one, j->comm, j->stream));
      CUDA(cudaStreamSynchronize(j->stream));
      took += i == 0 ? 0 : seconds() - start;
      uint32_t *copy = (uint32_t *)malloc(bytes);
      CUDA(cudaMemcpy(copy, j->to + before * (bytes / 4), bytes, cudaMemcpyDeviceToHost));
      for (size_t k = 0; k < bytes / 4; k++) {
        bad += copy[k] != element(before, rank, 5000 + i, k);
      }
      free(copy);
      all_here(j);
    }
    char rest[120];
    snprintf(rest, sizeof rest, ", \"bytes\": %zu, \"us\": %.1f", bytes, took / (rounds - 1) * 1e6);
    wrong("ncclPutSignal", bad, rest);
  }
}
#endif

static ncclUniqueId the_id(const char *file) {
  ncclUniqueId id;
  char temporary[4096];
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    snprintf(temporary, sizeof temporary, "%s.new", file);
    FILE *out = fopen(temporary, "wb");
    if (out == NULL || fwrite(&id, sizeof id, 1, out) != 1 || fclose(out) != 0 || rename(temporary, file) != 0) {
      perror(file);
      exit(1);
    }
    return id;
  }
  for (int i = 0; i < 600; i++) {
    FILE *in = fopen(file, "rb");
    if (in != NULL) {
      size_t read = fread(&id, sizeof id, 1, in);
      fclose(in);
      if (read == 1) {
        return id;
      }
    }
    usleep(100000);
  }
  fprintf(stderr, "rank %d: no %s\n", rank, file);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: one-sided RANK RANKS ID_FILE MAX_BYTES\n");
    return 2;
  }
  struct job j = {};
  int version = 0;
  rank = atoi(argv[1]);
  ranks = atoi(argv[2]);
  j.max_bytes = strtoull(argv[4], NULL, 10);
  size_t window = j.max_bytes * ranks;
  CUDA(cudaSetDevice(0));
  NCCL(ncclGetVersion(&version));
  NCCL(ncclCommInitRank(&j.comm, ranks, the_id(argv[3]), rank));
  CUDA(cudaStreamCreateWithFlags(&j.stream, cudaStreamNonBlocking));
  CUDA(cudaMalloc(&j.found, 8));
  CUDA(cudaMalloc(&j.value, 8));
  CUDA(cudaMalloc(&j.barrier, 4));
  NCCL(ncclMemAlloc((void **)&j.from, window));
  NCCL(ncclMemAlloc((void **)&j.to, window));
  NCCL(ncclCommWindowRegister(j.comm, j.from, window, &j.from_window, NCCL_WIN_COLL_SYMMETRIC));
  NCCL(ncclCommWindowRegister(j.comm, j.to, window, &j.to_window, NCCL_WIN_COLL_SYMMETRIC));
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
  ncclDevCommRequirements wanted = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  wanted.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
#else
  ncclDevCommRequirements wanted = {};
  wanted.ginForceEnable = true;
#endif
  wanted.ginContextCount = 1;
  wanted.ginSignalCount = SIGNALS;
  NCCL(ncclDevCommCreate(j.comm, &wanted, &j.device));
  printf("{\"test\": \"set-up\", \"wrong\": 0, \"nccl\": %d}\n", version);
  fflush(stdout);
  test_exchange(&j);
  test_many_puts(&j);
  test_signals(&j);
  test_times(&j);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 7)
  test_host_calls(&j);
#endif
  all_here(&j);
  NCCL(ncclDevCommDestroy(j.comm, &j.device));
  NCCL(ncclCommWindowDeregister(j.comm, j.from_window));
  NCCL(ncclCommWindowDeregister(j.comm, j.to_window));
  NCCL(ncclMemFree(j.from));
  NCCL(ncclMemFree(j.to));
  NCCL(ncclCommDestroy(j.comm));
  return all_wrong == 0 ? 0 : 1;
}
