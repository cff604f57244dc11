#!/bin/sh
# Makes src/generated/java anew with jextract, and its checksums. JEXTRACT names the program if it is not on the PATH.
#   regenerate.sh               run jextract, replace the output, write generated.sha256
#   regenerate.sh --checksums   write generated.sha256 for the output that is there
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$here/../generated/java
package=trigon.verbs.ffm.generated
. "$here/versions.env"

missing() {
  echo "regenerate.sh: $*" >&2
  exit 1
}

write_checksums() {
  (cd "$output" && find . -name '*.java' | LC_ALL=C sort | sed 's|^\./||' | xargs -d '\n' sha256sum) \
    >"$here/generated.sha256"
  echo "regenerate.sh: checksums of $(wc -l <"$here/generated.sha256") files written"
}

if [ "${1:-}" = --checksums ]; then
  write_checksums
  exit
fi

jextract=${JEXTRACT:-jextract}
command -v "$jextract" >/dev/null 2>&1 ||
  missing "no jextract: get version $JEXTRACT_VERSION (for JDK $JDK_VERSION) from https://jdk.java.net/jextract, and" \
    "put it on the PATH or name it in JEXTRACT"
[ -r "$VERBS_HEADER" ] ||
  missing "no $VERBS_HEADER: install libibverbs-dev $LIBIBVERBS_DEV_VERSION"

found=$("$jextract" --version 2>&1 | sed -n 's/^jextract \([0-9]*\).*/\1/p')
[ "$found" = "$JEXTRACT_VERSION" ] ||
  echo "regenerate.sh: jextract is version ${found:-unknown}, not $JEXTRACT_VERSION: expect differences in form" >&2
if command -v dpkg-query >/dev/null 2>&1; then
  found=$(dpkg-query -W -f '${Version}' libibverbs-dev 2>/dev/null || :)
  [ "$found" = "$LIBIBVERBS_DEV_VERSION" ] ||
    echo "regenerate.sh: libibverbs-dev is ${found:-not from a package}, not $LIBIBVERBS_DEV_VERSION:" \
      "expect differences" >&2
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$jextract" --output "$fresh" -t "$package" --header-class-name Verbs \
  "@$here/verbs.includes" -l :libibverbs.so.1 "$VERBS_HEADER"
rm -rf "$output"
mkdir -p "$output"
cp -R "$fresh/." "$output/"
write_checksums
