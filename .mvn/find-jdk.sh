# Sourced by mvnw and trigon: points JAVA_HOME at a JDK 25, since the default java is often older.
# Looks at JAVA_HOME, then at java on the PATH, then where distributions and tool managers put JDKs.

trigon_jdk_version=25

trigon_is_jdk() { # DIRECTORY: is it a JDK (not a JRE) of the right version?
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] && grep -q "^JAVA_VERSION=\"$trigon_jdk_version[.\"+]" "$1/release"
}

trigon_find_jdk() {
  if [ -n "${JAVA_HOME:-}" ] && trigon_is_jdk "$JAVA_HOME"; then
    return 0
  fi
  trigon_java=$(command -v java 2>/dev/null || :)
  [ -z "$trigon_java" ] || trigon_java=$(dirname "$(dirname "$(readlink -f "$trigon_java")")")
  for trigon_candidate in "$trigon_java" /usr/lib/jvm/* /opt/java/* /opt/jdk* /usr/local/jdk* \
    "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/* "$HOME"/.local/share/mise/installs/java/*; do
    if [ -n "$trigon_candidate" ] && trigon_is_jdk "$trigon_candidate"; then
      JAVA_HOME=$trigon_candidate
      export JAVA_HOME
      return 0
    fi
  done
  cat >&2 <<END
Trigon needs JDK $trigon_jdk_version to build and found none: not in JAVA_HOME (${JAVA_HOME:-unset}), not on the PATH,
not under /usr/lib/jvm, /opt, ~/.sdkman or ~/.jdks.
Install one, for example Eclipse Temurin (package temurin-$trigon_jdk_version-jdk) or your distribution's
openjdk-$trigon_jdk_version-jdk, or set JAVA_HOME to its directory.
README.md, "Build and test", says where your distribution gets it from.
END
  return 1
}
