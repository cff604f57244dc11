#!/usr/bin/env bash
# Makes a network plugin of NCCL's own InfiniBand transport, as it is, so that the benchmarks can measure it beside
# Trigon:
#   testing/benchmarks/nccl-ib/build.sh NCCL-SOURCE OUT.so
#   ./trigon benchmarks instant --plugin OUT.so
# NCCL-SOURCE: a checkout of NCCL, left as it is; 2.30.7 is known to work. Needs g++, and the headers of CUDA
# (CUDA_HOME), nothing of CUDA at run time. What NCCL's sources want of CUDA is in stubs.cc: buffers of the host are all
# that the benchmarks have.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] || { sed -n '2,/^set/{/^set/d; s/^# *//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
source=$(cd -- "$1" && pwd)
out=$2
cuda=$(realpath -m -- "${CUDA_HOME:-/usr/local/cuda}/include")
[ -r "$source/src/transport/net_ib/p2p.cc" ] || {
  echo "build.sh: no NCCL with src/transport/net_ib/p2p.cc in $source" >&2
  exit 2
}
[ -r "$cuda/cuda_runtime.h" ] || { echo "build.sh: no $cuda/cuda_runtime.h: set CUDA_HOME" >&2; exit 2; }
scratch=$(realpath -- "$(mktemp -d "${TMPDIR:-/tmp}/trigon-nccl-ib.XXXXXX")")
trap 'rm -rf "$scratch"' EXIT

version() { # PART: of version.mk
  sed -n "s/^NCCL_$1 *:= *//p" "$source/makefiles/version.mk"
}

major=$(version MAJOR) minor=$(version MINOR) patch=$(version PATCH)
sed -e "s/\${nccl:Major}/$major/g; s/\${nccl:Minor}/$minor/g; s/\${nccl:Patch}/$patch/g; s/\${nccl:Suffix}//g" \
  -e "s/\${nccl:Version}/$((major * 10000 + minor * 100 + patch))/g" "$source/src/nccl.h.in" >"$scratch/nccl.h"

# With the level of optimization and the defines of NCCL's release; CUDA's version is said to be 13.0, whichever it is.
compile() { # FILE
  g++ -std=c++17 -O3 -fPIC -fvisibility=hidden -w -DCUDA_MAJOR=13 -DCUDA_MINOR=0 -DNCCL_OS_LINUX -DPROFAPI \
    -DNCCL_GIN_PROXY_ENABLE=1 -DDOCA_VERBS_USE_CUDA_WRAPPER -DDOCA_VERBS_USE_NET_WRAPPER \
    -I"$scratch" -I"$source/src/include" -I"$source/src/include/plugin" -I"$source/src" -I"$cuda" -I"$cuda/cccl" \
    -c "$1" -o "$scratch/$(echo "${1#"$source"}" | tr / _).o"
}

cd -- "$source/src"
for file in transport/net_ib/{common,connect,gdr,init,p2p,p2p_resiliency,p2p_resiliency_recovery,reg}.cc \
  misc/{ibvwrap,ibvsymbols,mlx5dvsymbols,mlx5dvwrap,socket,param,utils}.cc debug.cc os/linux.cc \
  param/{param,param_registry}.cc plugin/{env,plugin_open}.cc plugin/env/{default_env,env_v1,env_v2}.cc; do
  compile "$source/src/$file"
done
compile "$here/plugin.cc"
compile "$here/stubs.cc"
echo '{ global: ncclNetPlugin_v12; local: *; };' >"$scratch/exports.map"
cd -- "$OLDPWD"
g++ -shared -o "$out" "$scratch"/*.o -Wl,--version-script="$scratch/exports.map" -Wl,-z,defs -lpthread -ldl -lrt
ls -l "$out"
