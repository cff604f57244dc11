#!/usr/bin/env bash
# Builds the distribution a second time, from a copy of the working tree in another directory, in another time zone,
# locale and umask, and compares it with dist/target/trigon, file by file, and then the packages of both. The same for
# the other processor's distribution, if there is one. Exit status: 0 if they are the same.
#
# Not compared: the archives of loaded classes (trigon.aot, tools.aot and their bindings), which are images of the
# memory of the JVMs that wrote them; the second build makes none, and its packages get the first one's.
set -euo pipefail

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
. "$project/dist/cross/platforms.sh"
. "$project/dist/package/programs.sh"
built=dist/target/trigon
[ -e "$project/$built/bom.json" ] || {
  echo "reproducible.sh: there is no distribution in $project/$built; run ./trigon build" >&2
  exit 2
}
folders=$built archs=$this_machine
if [ -e "$project/$built-$other_machine/bom.json" ]; then
  folders="$folders $built-$other_machine" archs="$archs $other_machine"
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-reproducible.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
second=$scratch/elsewhere
mkdir "$second"
echo "trigon: building a second time, in $second" >&2
(cd "$project" && git ls-files --cached --others --exclude-standard -z | xargs -0 ls -d 2>/dev/null |
  tar --create --files-from=- --file=-) |
  tar --extract --directory="$second"

(
  umask 077
  cd "$second"
  export WITHOUT_AOT_CACHE=yes TZ=Pacific/Chatham LC_ALL=C
  ./mvnw -q -B -ntp package -pl dist -am -Dmaven.test.skip=true -Dspotless.check.skip=true >&2
  case $archs in *" "*)
    cp -a "$cross" .cross # a link would lead compilers to names of the first project
    dist/cross/build.sh "$other_machine"
    ;;
  esac
)

sums() { # PROJECT
  (cd "$1" && find $folders -type f ! -name '*.aot*' ! -name .built -print0 | sort -z | xargs -0 sha256sum)
}

compare() { # WHAT: lists of sums are in $scratch/first and $scratch/second
  if ! diff "$scratch/first" "$scratch/second" >"$scratch/diff"; then
    echo "These $1 differ between $project and a build elsewhere:" >&2
    sed -n 's/^[<>] [0-9a-f]*  //p' "$scratch/diff" | sort -u >&2
    exit 1
  fi
}
sums "$project" >"$scratch/first"
sums "$second" >"$scratch/second"
compare files
echo "A second build made the same $(wc -l <"$scratch/first") files," \
  "$(grep -c '\.jar$' "$scratch/first") jars among them."

kinds=
for kind in tar deb rpm wheel oci; do
  ! has_programs "$kind" || kinds="$kinds $kind"
done
for folder in $folders; do
  find "$project/$folder/lib" -name '*.aot*' -exec cp -p {} "$second/$folder/lib" \;
done
# compressed as little as can be: it is the same program at all levels
"$project/dist/package/package.sh" "${kinds# }" "$archs" "$scratch/packages" 0
mv "$scratch/packages/SHA256SUMS" "$scratch/first"
rm -r "$scratch/packages"
(umask 077 && "$second/dist/package/package.sh" "${kinds# }" "$archs" "$scratch/packages" 0)
mv "$scratch/packages/SHA256SUMS" "$scratch/second"
compare packages
echo "Its packages are the same: $(sed 's/^[0-9a-f]*  //' "$scratch/first" | paste -s -d ' ')."
