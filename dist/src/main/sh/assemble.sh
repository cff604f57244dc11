#!/bin/sh
# Puts the distribution together, but for the jars, which Maven copies.
# usage: assemble.sh DISTRIBUTION JAVA_HOME MODULES PROJECT
set -eu
distribution=$1 java_home=$2 modules=$3 project=$4

mkdir -p "$distribution/lib" "$distribution/bin" "$distribution/libexec"

# The runtime depends on nothing but the JDK and the list of modules: linked again only when one of them changes.
stamp="$(cat "$java_home/release") $modules"
if [ "$(cat "$distribution/runtime/.made-from" 2>/dev/null || :)" != "$stamp" ]; then
  rm -rf "$distribution/runtime"
  "$java_home/bin/jlink" --add-modules "$modules" --output "$distribution/runtime" \
    --strip-debug --no-header-files --no-man-pages --generate-cds-archive
  printf '%s\n' "$stamp" >"$distribution/runtime/.made-from"
fi

# replaced, not overwritten: a running job may have the old one mapped
install_file() { # MODE FROM TO
  cp "$2" "$3.new"
  chmod "$1" "$3.new"
  mv "$3.new" "$3"
}
install_file 755 "$project/native-entry/target/native/libnccl-net-trigon.so" "$distribution/lib/libnccl-net-trigon.so"
install_file 755 "$project/native-entry/target/host/nccl-host" "$distribution/libexec/nccl-host"
install_file 755 "$project/native-entry/target/host/libnccl-net-traced.so" "$distribution/libexec/libnccl-net-traced.so"
install_file 755 "$project/dist/src/main/sh/trigon" "$distribution/bin/trigon"
