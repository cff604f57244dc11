#!/usr/bin/env bash
# build.sh - makes the distribution for the other processor, dist/target/trigon-ARCH, from the same jars as this
# machine's, which has to be there. Its C is compiled by a cross compiler, its runtime linked from that processor's JDK.
# usage: build.sh aarch64|x86_64
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
. "$here/platforms.sh"
. "$project/.mvn/find-jdk.sh"
arch=$(platform "${1:-}")
own=$project/dist/target/trigon
distribution=$project/dist/target/trigon-$arch
trigon_find_jdk

command -v "$arch-linux-gnu-gcc" >/dev/null || {
  echo "trigon: no $arch-linux-gnu-gcc, which compiles for $arch. On Debian or Ubuntu, as root:" \
    "apt-get install gcc-${arch/_/-}-linux-gnu libc6-dev-$(debian_name "$arch")-cross" >&2
  exit 1
}
"$here/fetch.sh" "$arch"

compile() { # SOURCES BUILD
  local log=$2.log
  mkdir -p "$2"
  echo "trigon: compiling $1 for $arch" >&2
  cmake -S "$project/$1" -B "$2" "-DCMAKE_TOOLCHAIN_FILE=$here/toolchain.cmake" "-DTRIGON_ARCH=$arch" \
    "-DJAVA_HOME=$JAVA_HOME" >"$log" 2>&1 && cmake --build "$2" >>"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
}
compile lane "$project/lane/target/native-$arch"
compile native-entry "$project/native-entry/target/native-$arch"
compile testing/nccl-host "$project/testing/nccl-host/target/native-$arch"
compile dist/src/main/training "$project/dist/target/training/native-$arch"

mkdir -p "$distribution"
# a cache belongs to the jars that it was trained with
rm -rf "$distribution/jars" "$distribution/tools" "$distribution"/lib/*.aot*
cp -a "$own/jars" "$own/tools" "$distribution"
"$project/dist/src/main/sh/assemble.sh" "$distribution" "$JAVA_HOME" "$project" "$arch"
"$JAVA_HOME/bin/java" -cp "$distribution/jars/*" "$project/dist/src/main/java/trigon/dist/BillOfMaterials.java" \
  "$distribution" "$project/dist/target/jars.json" "$project/.cross/$arch/jdk"
echo "trigon: made $distribution" >&2
