# tools-java.sh - for bash, to be sourced: how Java is started for the command trigon.

# Into the array tools_java: the program and its options. The class path has no Logback: what the parts of the plugin
# log there is for a job's log. "trigon relay" runs for long and has a log of its own, on standard error. The cache
# (decision 9) is used with the jars that it was made with, and at their times, which an installer may not have kept:
# the JVM refuses others. What it says of that is for nobody who uses the command.
tools_java() { # HOME [COMMAND]
  local home=$1 command=${2:-} jar utf8=() path="" log="" cache=$1/lib/tools.aot
  has_only_ascii && utf8=(env LC_ALL=C.UTF-8)
  local LC_ALL=C # for the order of the jars
  ignore_options_of_others
  tools_java=(
    ${utf8[@]+"${utf8[@]}"}
    "$home/runtime/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
    -Dslf4j.internal.verbosity=ERROR "-Dtrigon.home=$home"
  )
  for jar in "$home"/tools/*.jar "$home"/jars/*.jar; do
    case $jar in */logback-*) log=$log:$jar ;; *) path=$path${path:+:}$jar ;; esac
  done
  if [ -e "$cache" ] && [ "$(cat "$cache.binding" 2>/dev/null)" = "$(tools_binding "$home")" ]; then
    tools_java+=("-XX:AOTCache=$cache" -XX:+UnlockDiagnosticVMOptions -XX:-AOTAdapterCaching -XX:-AOTStubCaching
      -Xlog:aot=off:stderr -Xlog:cds=off:stderr)
  fi
  case $command in
    relay) tools_java+=("-Dtrigon.log.command=trigon relay" -cp "$path$log") ;; # behind what the cache was made with
    *) tools_java+=(-cp "$path") ;;
  esac
}

# Whether Java would take the names of files for ASCII: in the C locale, and in one that is not installed.
has_only_ascii() {
  local letter=$'\xc3\xbc' # one in UTF-8
  case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
    C | POSIX | *.[Uu][Tt][Ff]*8) [ ${#letter} -ne 1 ] ;;
    *) return 1 ;;
  esac
}

# Options for other Java programs, which platforms set for every process: an agent would keep Java from starting.
ignore_options_of_others() {
  local name set=()
  for name in JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS; do
    [ -z "${!name:-}" ] || set+=("$name")
    unset "$name"
  done
  [ ${#set[@]} -eq 0 ] || echo "trigon: ${set[*]}: ignored, as it is set for other Java programs" >&2
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
