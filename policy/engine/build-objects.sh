#!/usr/bin/env bash
# build-objects.sh - builds the example policies and the tests' programs with clang, and puts the objects next to
# their sources. "build-objects.sh --check" builds them elsewhere and fails if the code of one differs from what is
# committed. CLANG and LLVM_STRIP name the tools; any clang from 16 on will do, another version may order instructions
# differently.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
clang=${CLANG:-$(command -v clang-19 || command -v clang)}
strip=${LLVM_STRIP:-$(command -v llvm-strip-19 || command -v llvm-strip)}
target=
if [ "${1:-}" = --check ]; then
  target=$(mktemp -d)
  trap 'rm -rf "$target"' EXIT
fi
status=0
headers=$PWD/src/main/c
for folder in src/test/c ../examples; do
  # the file's name goes into the debug information: it has to be the same from wherever this is run
  case $folder in ../*) cd ..; folder=${folder#../} ;; esac
  for source in "$folder"/*.c; do
    object=${source%.c}.o
    built=${target:+$target/$(basename "$object")}
    "$clang" -O2 -g -Wall -Werror -target bpf -mcpu="$(sed -n 's,^// mcpu: ,,p' "$source" | grep . || echo v3)" \
      -ffile-prefix-map="$PWD"=. -I "$headers" -c "$source" -o "${built:-$object}"
    "$strip" --strip-debug "${built:-$object}"
    if [ -n "$target" ] && ! cmp -s "$built" "$object"; then
      echo "$object is not what $source gives" >&2
      status=1
    fi
  done
done
exit $status
