#!/bin/sh
# Puts the distribution together, but for the jars, which are there already.
# usage: assemble.sh DISTRIBUTION JAVA_HOME PROJECT [ARCH]
#   ARCH   another processor than this machine's: its JDK is what dist/cross/fetch.sh brought, and there is no AOT
#          cache, which only a run of the distribution can make
# WITHOUT_AOT_CACHE=yes: for who does not look at it
set -eu
distribution=$1 java_home=$2 project=$3 arch=${4:-}
. "$project/dist/src/main/sh/build-time.sh"

say() { echo "trigon: $*" >&2; }

# java.logging: Netty; java.naming, java.xml: Logback; jdk.unsupported: Netty; jdk.jfr: queue pair events;
# jdk.management: thread and memory figures; java.management: the same; jdk.net: TCP keepalive
modules=java.base,java.logging,java.management,java.naming,java.xml,jdk.jfr,jdk.management,jdk.net,jdk.unsupported

# What the JVM says goes to stderr from its first word: these options are read before JAVA_TOOL_OPTIONS, Trigon's after.
options="-XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr"

if [ -z "$arch" ]; then
  native=native strip=strip target_jdk=$java_home
  set -- --strip-debug
else
  native=native-$arch strip=$arch-linux-gnu-strip target_jdk=$project/.cross/$arch/jdk
  set -- --strip-java-debug-attributes --module-path "$target_jdk/jmods"
fi
mkdir -p "$distribution/lib" "$distribution/bin" "$distribution/libexec/training"

# The runtime depends on nothing but the JDK and these lists: linked again only when one of them changes. It has no
# archives of the JDK's classes (CDS): the AOT cache has what is loaded of them.
made_from="$(cat "$target_jdk/release") $modules $options $1" # and not where the modules are
if [ "$(cat "$distribution/runtime/.made-from" 2>/dev/null || :)" != "$made_from" ]; then
  say "linking the Java runtime"
  rm -rf "$distribution/runtime"
  "$java_home/bin/jlink" "$@" --add-modules "$modules" --output "$distribution/runtime" \
    --no-header-files --no-man-pages "--add-options=$options"
  printf '%s\n' "$made_from" >"$distribution/runtime/.made-from"
fi

# replaced, not overwritten: a running job may have the old one mapped
install_file() { # MODE FROM TO
  cp "$2" "$3.new"
  chmod "$1" "$3.new"
  mv "$3.new" "$3"
}
install_program() { # FROM TO: without what only a debugger reads
  "$strip" --strip-unneeded -o "$2.new" "$1"
  chmod 755 "$2.new"
  mv "$2.new" "$2"
}
host=$project/testing/nccl-host/target/$native
build=$project/dist/target/training/$native # what build.sh has made for another processor
[ -n "$arch" ] || {
  mkdir -p "$build"
  cmake -S "$project/dist/src/main/training" -B "$build" "-DJAVA_HOME=$java_home" >"$build.log" 2>&1 &&
    cmake --build "$build" >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
}
training=$distribution/libexec/training
install_program "$project/native-entry/target/$native/libnccl-net-trigon.so" "$distribution/lib/libnccl-net-trigon.so"
ln -sfn libnccl-net-trigon.so "$distribution/lib/libnccl-tuner-trigon.so"
ln -sfn libnccl-net-trigon.so "$distribution/lib/librccl-net-trigon.so"
install_program "$host/nccl-host" "$distribution/libexec/nccl-host"
install_program "$host/libnccl-net-traced.so" "$distribution/libexec/libnccl-net-traced.so"
install_program "$build/train" "$training/train"
install_file 755 "$project/dist/src/main/sh/trigon" "$distribution/bin/trigon"
install_file 644 "$project/LICENSE" "$distribution/LICENSE"
mkdir -p "$distribution/share/grafana"
install_file 644 "$project/dist/src/main/grafana/trigon.json" "$distribution/share/grafana/trigon.json"
mkdir -p "$distribution/policy/examples"
install_file 644 "$project/policy/engine/src/main/c/trigon_policy.h" "$distribution/policy/trigon_policy.h"
install_file 644 "$project/policy/engine/src/main/c/ncclbpf_compat.h" "$distribution/policy/ncclbpf_compat.h"
for example in "$project"/policy/examples/*.[co]; do
  install_file 644 "$example" "$distribution/policy/examples/${example##*/}"
done
install_file 755 "$project/dist/src/main/sh/train.sh" "$training/train.sh"
install_file 755 "$project/dist/src/main/sh/train-tools.sh" "$training/train-tools.sh"
install_file 644 "$project/dist/src/main/sh/tools-java.sh" "$distribution/libexec/tools-java.sh"
install_file 755 "$project/testing/simulated-device/fake-sysfs.sh" "$training/fake-sysfs.sh"
if [ -e "$host/simulated/libibverbs.so.1" ]; then
  mkdir -p "$distribution/libexec/simulated"
  install_program "$host/simulated/libibverbs.so.1" "$distribution/libexec/simulated/libibverbs.so.1"
  install_program "$host/simulated/simverbs-ctl" "$distribution/libexec/simulated/simverbs-ctl"
else
  rm -rf "$distribution/libexec/simulated"
fi
install_program "$host/fake-cuda/libcuda.so.1" "$training/libcuda.so.1"
for jar in "$distribution"/jars/trigon-*.jar; do
  "$java_home/bin/jar" tf "$jar"
done | sed -n '/-info\.class$/d; /\/generated\//d; s|/|.|g; s/\.class$//p' >"$training/classes"

mkdir -p "$distribution/share/systemd"
unit=trigon-relay.service
install_file 644 "$project/dist/src/main/systemd/$unit" "$distribution/share/systemd/$unit"

# manual pages, help and completion, of the commands' own descriptions
rm -rf "$distribution/share/man" "$distribution/share/bash-completion" "$distribution/share/help"
"$java_home/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$distribution/tools/*:$distribution/jars/*" \
  trigon.tools.ManualPages "$distribution/share" \
  "$(sed -n 's|^ *<revision>\(.*\)</revision>$|\1|p' "$project/pom.xml")"

"$project/dist/src/main/sh/write-release.sh" "$distribution" "${arch:-$(uname -m)}" "$project"

# A JVM refuses a cache whose jars have other times than when it was trained. All copies of this version have this time,
# the packages' too.
jar_time=$(build_time "$project")
touch --date="@$jar_time" "$distribution"/jars/*.jar "$distribution"/tools/*.jar

# The AOT cache is made again when a jar, a program, the runtime or how it is learnt has changed, or namespaces may be
# made by now.
[ -z "$arch" ] && [ "${WITHOUT_AOT_CACHE:-}" != yes ] || exit 0
work=$project/dist/target/training
learnt_from="$made_from $jar_time $(
  "$training/fake-sysfs.sh" simulated true 2>/dev/null && echo "with namespaces"
  cd "$distribution" && cat jars/*.jar lib/libnccl-net-trigon.so libexec/*/* | sha256sum
)"
if ! [ -e "$distribution/lib/trigon.aot.binding" ] ||
  [ "$(cat "$work/learnt-from" 2>/dev/null || :)" != "$learnt_from" ]; then
  say "training the plugin's AOT cache"
  "$training/train.sh" "$work"
  printf '%s\n' "$learnt_from" >"$work/learnt-from"
fi
learnt_from="$made_from $jar_time $(cd "$distribution" && cat jars/*.jar tools/*.jar bin/trigon | sha256sum)"
if ! [ -e "$distribution/lib/tools.aot.binding" ] ||
  [ "$(cat "$work/tools-learnt-from" 2>/dev/null || :)" != "$learnt_from" ]; then
  say "training the command's AOT cache"
  "$training/train-tools.sh"
  printf '%s\n' "$learnt_from" >"$work/tools-learnt-from"
fi
