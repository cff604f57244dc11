#!/bin/sh
# Writes the distribution's file "release": version, processor, Java, and the oldest C library that it runs with, which
# is what the newest symbol of all its programs and libraries asks for.
# usage: write-release.sh DISTRIBUTION ARCH PROJECT
#
# TRIGON_GLIBC=required: a distribution that asks for more than its processor's machines have is an error, not a
# warning. What a build asks for depends on the machine's compiler and JDK.
set -eu
distribution=$1 arch=$2 project=$3

case $arch in
  x86_64) limit=2.34 machine="Advanced Micro Devices X86-64" ;;
  aarch64) limit=2.38 machine="AArch64" ;;
  *)
    echo "trigon: no processor $arch: must be aarch64 or x86_64" >&2
    exit 1
    ;;
esac

files=$(find "$distribution" -type f \( -name '*.so' -o -name '*.so.*' -o -perm -100 \) |
  LC_ALL=C sort)
newest=0 newest_file=
for file in $files; do
  found=$(LC_ALL=C readelf -h "$file" 2>/dev/null | sed -n 's/^ *Machine: *//p')
  [ -n "$found" ] || continue # a script
  [ "$found" = "$machine" ] || {
    echo "trigon: $file is for $found, but the distribution for $arch" >&2
    exit 1
  }
  needs=$(LC_ALL=C readelf -W -V "$file" | sed -n 's/.*Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -V | tail -n 1)
  if [ "$(printf '%s\n%s\n' "$newest" "${needs:-0}" | sort -V | tail -n 1)" != "$newest" ]; then
    newest=$needs newest_file=$file
  fi
done
[ -n "$newest_file" ] || {
  echo "trigon: no program in $distribution needs a C library: readelf, or the distribution, is not complete" >&2
  exit 1
}
if [ "$(printf '%s\n%s\n' "$newest" "$limit" | sort -V | tail -n 1)" != "$limit" ]; then
  echo "trigon: this distribution runs with glibc $newest or later only, because of $newest_file; what is shipped for" \
    "$arch has to run with $limit: build it on an older system, or with another JDK" >&2
  [ "${TRIGON_GLIBC:-}" != required ] || exit 1
fi

version=$(sed -n 's|^ *<revision>\(.*\)</revision>$|\1|p' "$project/pom.xml")
[ -n "$version" ] || { echo "trigon: no <revision> in $project/pom.xml" >&2; exit 1; }
cat >"$distribution/release" <<END
TRIGON_VERSION="$version"
ARCH="$arch"
$(grep '^JAVA_VERSION=' "$distribution/runtime/release")
GLIBC="$newest"
END
