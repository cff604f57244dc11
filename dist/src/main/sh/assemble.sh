#!/bin/sh
# Puts the distribution together, but for the jars, which Maven copies.
# usage: assemble.sh DISTRIBUTION JAVA_HOME MODULES PROJECT
set -eu
distribution=$1 java_home=$2 modules=$3 project=$4

mkdir -p "$distribution/lib" "$distribution/bin" "$distribution/libexec"

# What the JVM says goes to stderr from its first word: these options are read before JAVA_TOOL_OPTIONS, Trigon's after.
options="-XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr"

# The runtime depends on nothing but the JDK and these lists: linked again only when one of them changes.
stamp="$(cat "$java_home/release") $modules $options"
if [ "$(cat "$distribution/runtime/.made-from" 2>/dev/null || :)" != "$stamp" ]; then
  rm -rf "$distribution/runtime"
  "$java_home/bin/jlink" --add-modules "$modules" --output "$distribution/runtime" \
    --strip-debug --no-header-files --no-man-pages --generate-cds-archive "--add-options=$options"
  printf '%s\n' "$stamp" >"$distribution/runtime/.made-from"
fi

# replaced, not overwritten: a running job may have the old one mapped
install_file() { # MODE FROM TO
  cp "$2" "$3.new"
  chmod "$1" "$3.new"
  mv "$3.new" "$3"
}
install_file 755 "$project/native-entry/target/native/libnccl-net-trigon.so" "$distribution/lib/libnccl-net-trigon.so"
install_file 755 "$project/native-host/target/native/nccl-host" "$distribution/libexec/nccl-host"
install_file 755 "$project/native-host/target/native/libnccl-net-traced.so" \
  "$distribution/libexec/libnccl-net-traced.so"
install_file 755 "$project/dist/src/main/sh/trigon" "$distribution/bin/trigon"

# The AOT cache: classes loaded, linked and profiled by a run of the distribution itself, over software links on the
# loopback interface, and over the instant device as if it was an NIC's, if that has been built. Made again when a jar,
# the library, the device or the runtime has changed.
work=$project/dist/target/training
instant=$project/native-host/target/native/instant
set -- # with a driver's name in sysfs, by which ibv_post_send is called as on an NIC; where namespaces may be made
if [ -e "$instant/libibverbs.so.1" ]; then
  if "$project/native-host/instant-device/fake-sysfs.sh" instant true 2>/dev/null; then
    set -- "$project/native-host/instant-device/fake-sysfs.sh" instant
  else
    echo "assemble.sh: no namespaces here: calls over RDMA are learnt less well, and a process's first messages take" \
      "longer" >&2
  fi
else
  echo "assemble.sh: no libibverbs-dev was there: calls over RDMA are not learnt, and a process's first messages take" \
    "longer" >&2
fi
learnt_from="$stamp $# $({
  cat "$instant/libibverbs.so.1" 2>/dev/null || :
  cd "$distribution" && cat jars/*.jar lib/libnccl-net-trigon.so
} | sha256sum)"
if ! [ -e "$distribution/lib/trigon.aot.binding" ] ||
  [ "$(cat "$work/learnt-from" 2>/dev/null || :)" != "$learnt_from" ]; then
  mkdir -p "$work"
  cmake -S "$project/dist/src/main/training" -B "$work/build" -DJAVA_HOME="$java_home" >"$work/build.log" 2>&1 &&
    cmake --build "$work/build" >>"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
  cat >"$work/trigon.yaml" <<END
version: 1
nodes:
  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}
END
  rm -rf "$work/rendezvous" "$work/rendezvous-short" "$work/rendezvous-long"
  for jar in "$distribution"/jars/trigon-*.jar; do
    "$java_home/bin/jar" tf "$jar"
  done | sed -n '/-info\.class$/d; /\/generated\//d; s|/|.|g; s/\.class$//p' >"$work/classes"
  env -u JAVA_TOOL_OPTIONS -u _JAVA_OPTIONS -u TRIGON_LINKS -u TRIGON_HOME -u TRIGON_LOG NCCL_DEBUG=INFO \
    "LD_LIBRARY_PATH=$instant${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" INSTANTVERBS_DRIVER=mlx5_core "$@" \
    "$work/build/train" "$distribution" "$work/trigon.yaml" "$work/rendezvous" "$work/classes" \
    >"$work/train.log" 2>&1 </dev/null || {
    echo "assemble.sh: the training run for the AOT cache failed; the end of $work/train.log:" >&2
    tail -n 25 "$work/train.log" >&2
    exit 1
  }
  printf '%s\n' "$learnt_from" >"$work/learnt-from"
fi
