// NCCL's own InfiniBand transport under the name by which a network plugin is found: the same functions, nothing in
// between.
#include "nccl.h"
#include "net.h"

extern "C" __attribute__((visibility("default"))) ncclNet_v12_t ncclNetPlugin_v12;
ncclNet_v12_t ncclNetPlugin_v12;

__attribute__((constructor)) static void take_over() {
  ncclNetPlugin_v12 = ncclNetIb;
}
