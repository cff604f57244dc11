# tools-java.sh - for bash, to be sourced: how Java is started for the command trigon.

# Into the array tools_java: the program and its options. The class path has no Logback: what the parts of the plugin
# log there is for a job's log. The cache (decision 9) is used with the jars that it was made with, and at their times,
# which an installer may not have kept: the JVM refuses others. What it says of that is for nobody who uses the command.
tools_java() { # HOME
  local home=$1 jar locale=${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} LC_ALL=C path="" cache=$1/lib/tools.aot
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
      -Xlog:aot=off:stderr -Xlog:cds=off:stderr)
  fi
  tools_java+=(-cp "$path")
  # In the C locale Java takes the names of files for ASCII.
  case $locale/$home in C/*[!\ -~]* | POSIX/*[!\ -~]*) tools_java=(env LC_ALL=C.UTF-8 "${tools_java[@]}") ;; *) ;; esac
}

# What the cache belongs to: itself, and the jars' names, sizes and times.
tools_binding() { # HOME
  (
    cd "$1"
    export LC_ALL=C # for the order of the jars
    stat -L -c '%n %s' lib/tools.aot
    stat -L -c '%n %s %Y' tools/*.jar jars/*.jar
  )
}
