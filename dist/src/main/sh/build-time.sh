# build-time.sh - for any shell, to be sourced: the one time that jars and packages have.

# In seconds since 1970: the time of the project's version, whenever and wherever it is built.
build_time() { # PROJECT
  date -u -d "$(sed -n 's|.*<project.build.outputTimestamp>\(.*\)</.*|\1|p' "$1/pom.xml")" +%s
}
