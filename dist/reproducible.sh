#!/usr/bin/env bash
# Builds the distribution a second time, from a copy of the working tree in another directory, in another time zone,
# locale and umask, and compares it with dist/target/trigon, file by file. Exit status: 0 if they are the same.
#
# Not compared: the archives of loaded classes (trigon.aot, tools.aot and their bindings), which are images of the
# memory of the JVMs that wrote them; the second build makes none.
set -euo pipefail

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
first=$project/dist/target/trigon
[ -e "$first/bom.json" ] || {
  echo "reproducible.sh: there is no distribution in $first; run ./trigon build" >&2
  exit 2
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-reproducible.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/elsewhere"
echo "trigon: building a second time, in $scratch/elsewhere" >&2
(cd "$project" && git ls-files --cached --others --exclude-standard -z | xargs -0 ls -d 2>/dev/null |
  tar --create --files-from=- --file=-) |
  tar --extract --directory="$scratch/elsewhere"

(
  umask 077
  cd "$scratch/elsewhere"
  WITHOUT_AOT_CACHE=yes TZ=Pacific/Chatham LC_ALL=C ./mvnw -q -B -ntp package -pl dist -am \
    -Dmaven.test.skip=true -Dspotless.check.skip=true >&2
)

sums() { # DISTRIBUTION
  (cd "$1" && find . -type f ! -name '*.aot*' ! -name .built -print0 | sort -z |
    xargs -0 sha256sum)
}
sums "$first" >"$scratch/first"
sums "$scratch/elsewhere/dist/target/trigon" >"$scratch/second"
if ! diff "$scratch/first" "$scratch/second" >"$scratch/diff"; then
  echo "These files differ between $first and a build elsewhere:" >&2
  sed -n 's/^[<>] [0-9a-f]*  //p' "$scratch/diff" | sort -u >&2
  exit 1
fi
echo "A second build made the same $(wc -l <"$scratch/first") files," \
  "$(grep -c '\.jar$' "$scratch/first") jars among them."
