# tools-java.sh - for bash, to be sourced: how Java is started for the command trigon.

# Into the array tools_java: the program and its options. The class path has no Logback: what the parts of the plugin
# log there is for a job's log. The cache (decision 9) is used with the jars that it was made with: the JVM does not
# look.
tools_java() { # HOME
  local home=$1 jar LC_ALL=C path="" cache=$1/lib/tools.aot
  tools_java=(
    "$home/runtime/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
    -Dslf4j.internal.verbosity=ERROR "-Dtrigon.home=$home"
  )
  for jar in "$home"/tools/*.jar "$home"/jars/*.jar; do
    case $jar in */logback-*) ;; *) path=$path${path:+:}$jar ;; esac
  done
  if [ -e "$cache" ] && [ "$(cat "$cache.binding" 2>/dev/null)" = "$(tools_binding "$home")" ]; then
    tools_java+=("-XX:AOTCache=$cache" -XX:+UnlockDiagnosticVMOptions -XX:-AOTAdapterCaching -XX:-AOTStubCaching
      -Xlog:aot=off -Xlog:cds=off)
  fi
  tools_java+=(-cp "$path")
}

# What the cache belongs to: the names and sizes of the jars, in an order of their own.
tools_binding() { # HOME
  (cd "$1" && LC_ALL=C stat -L -c '%n %s' lib/tools.aot tools/*.jar jars/*.jar)
}
