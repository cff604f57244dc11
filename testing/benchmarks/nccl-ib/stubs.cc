// What the sources of NCCL's transport name of CUDA and of NCCL's core. None of it is called while data move.
#include <cuda_runtime.h>

#include <mutex>

#include "debug.h"
#include "env.h"
#include "nccl.h"

extern "C" {
cudaError_t cudaGetDevice(int *) { return cudaErrorNoDevice; }
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int) { return cudaErrorNoDevice; }
cudaError_t cudaDeviceGetPCIBusId(char *, int, int) { return cudaErrorNoDevice; }
const char *cudaGetErrorString(cudaError_t) { return "there is no CUDA"; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void **, void *, unsigned) { return cudaErrorNoDevice; }
cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaErrorNoDevice; }
cudaError_t cudaHostUnregister(void *) { return cudaErrorNoDevice; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) { return cudaErrorNoDevice; }
}

// as when NCCL starts: its settings are read from the environment
ncclResult_t ncclInitEnv() {
  static std::once_flag once;
  static ncclResult_t result = ncclSuccess;
  std::call_once(once, [] { result = ncclEnvPluginInit(); });
  return result;
}

int ncclParamSetCpuStackSize() {
  return 1;
}
