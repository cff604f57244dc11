#!/usr/bin/env bash
# package.sh - makes packages of a distribution that was built before, in dist/target/packages. The same distribution
# gives the same bytes, on any day, by any user.
# usage: package.sh KINDS ARCHS [FOLDER LEVEL [VERSION]]
#   KINDS     of tar, deb, rpm, wheel and oci, separated by blanks
#   ARCHS     of aarch64 and x86_64: dist/target/trigon is this machine's, dist/target/trigon-ARCH the other's
#   FOLDER    where they go, instead of dist/target/packages; LEVEL: how hard to compress, 0 to 9, instead of 6
#   VERSION   another one than the distribution's own: for tests of upgrades
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
. "$project/dist/cross/platforms.sh"
. "$project/dist/src/main/sh/build-time.sh"
. "$here/needs.sh"
. "$here/programs.sh"
kinds=$1 archs=$2 packages=${3:-$project/dist/target/packages} level=${4:-6} own_version=${5:-}
summary="NCCL network plugin for machines that are cabled directly to each other"

say() { echo "trigon: $*" >&2; }

die() {
  say "$*"
  exit 1
}

export LC_ALL=C TZ=UTC
umask 022
SOURCE_DATE_EPOCH=$(build_time "$project")
export SOURCE_DATE_EPOCH

# A copy with the owners, modes and times that packages have, below $stage/opt/trigon.
stage() { # ARCH
  local from=$project/dist/target/trigon
  [ "$1" = "$this_machine" ] || from=$from-$1
  [ -e "$from/release" ] || die "there is no distribution in $from: run ./trigon build --arch $1"
  # a cache is refused where the jars have other times than when it was trained
  [ -z "$(find "$from/jars" "$from/tools" -name '*.jar' -printf '%Ts %p\n' | grep -v "^$SOURCE_DATE_EPOCH ")" ] ||
    die "jars in $from have times of their own: run ./trigon build --arch $1"
  [ -e "$from/lib/trigon.aot" ] ||
    say "$from has no AOT cache: processes that use this package start slowly; bin/trigon train makes one"
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-package.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  stage=$scratch/root
  mkdir -p "$stage/opt"
  cp -a "$from" "$stage/opt/trigon"
  home=$stage/opt/trigon
  rm -f "$home/.built" "$home/runtime/.made-from"
  version=$(release_key TRIGON_VERSION)
  # a checkout of a tag makes that version, whatever pom.xml had been left at
  tag=$(git -C "$project" describe --exact-match --match 'v[0-9]*' 2>/dev/null || :)
  [ "${tag:-v$version}" = "v$version" ] ||
    die "this is the tag $tag, but <revision> of pom.xml is $version: tag the commit that has changed it"
  [ -z "$own_version" ] || sed -i "s/^TRIGON_VERSION=.*/TRIGON_VERSION=\"$own_version\"/" "$home/release"
  version=$(release_key TRIGON_VERSION)
  glibc=$(release_key GLIBC)
  licences=$(tail -n 1 "$home/THIRD-PARTY.txt") # an SPDX expression
  plain "$stage"
}

# Readable by all, written by root, of one time.
plain() { # FOLDER
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f -perm -100 -exec chmod 755 {} +
  find "$1" -type f ! -perm -100 -exec chmod 644 {} +
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

release_key() { # KEY
  sed -n "s/^$1=\"\(.*\)\"$/\1/p" "$home/release"
}

sorted_tar() { # FOLDER ENTRY...: to standard output
  tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner "--mtime=@$SOURCE_DATE_EPOCH" \
    --directory="$@"
}

# One thread: more of them would cut the data into other blocks on other machines.
compressed() { xz --threads=1 "-$level"; }

package_tar() { # ARCH
  made=$packages/trigon-$version-$1.tar.xz
  mv "$home" "$scratch/trigon-$version"
  sorted_tar "$scratch" "trigon-$version" | compressed >"$made"
  mv "$scratch/trigon-$version" "$home"
}

# What Debian's and Red Hat's packages have outside of /opt/trigon: the command on the PATH, and where the documents are
# looked for. Nothing is started, and nothing runs at the installation.
stage_system() {
  local document
  system=$scratch/system
  rm -rf "$system"
  mkdir -p "$system/usr/bin" "$system/usr/share/doc/trigon"
  cp -al "$stage/opt" "$system/opt"
  ln -s /opt/trigon/bin/trigon "$system/usr/bin/trigon"
  for document in LICENSE THIRD-PARTY.txt bom.json; do
    ln -s "/opt/trigon/$document" "$system/usr/share/doc/trigon/$document"
  done
  link_each "$home/share/man/man1" /opt/trigon/share/man/man1 usr/share/man/man1
  link_each "$home/share/bash-completion/completions" /opt/trigon/share/bash-completion/completions \
    usr/share/bash-completion/completions
  link_each "$home/share/systemd" /opt/trigon/share/systemd usr/lib/systemd/system
}

link_each() { # FOLDER ITS-PLACE TO: links in TO to each file of FOLDER, if there is one
  local file
  [ -d "$1" ] || return 0
  mkdir -p "$system/$3"
  for file in "$1"/*; do
    ln -s "$2/${file##*/}" "$system/$3/${file##*/}"
  done
}

# Debian and RPM sort 1.0~SNAPSHOT before 1.0.
system_version() { echo "${version/-/\~}"; }

# dpkg removes each directory that a package names and leaves empty, if no other package names it, as is the case with
# /opt. So this one names its own only. dpkg-deb would name all: the archive is put together here (deb(5)).
package_deb() { # ARCH
  local of control=$scratch/control
  of=$(debian_name "$1")
  made=$packages/trigon_$(system_version)_$of.deb
  stage_system
  rm -rf "$control"
  mkdir "$control"
  cat >"$control/control" <<END
Package: trigon
Version: $(system_version)
Architecture: $of
Maintainer: The authors of Trigon (docs/guide/troubleshooting.md#report-a-bug of the sources)
Section: net
Priority: optional
Installed-Size: $(du -sk --apparent-size "$system/opt" | cut -f1)
Depends: $(debian_needs "$home" "$glibc")
Recommends: libibverbs1, ibverbs-providers
Description: $summary
 "trigon enable" makes NCCL load /opt/trigon/lib/libnccl-net-trigon.so; the
 package by itself changes nothing. It brings its own Java runtime.
END
  {
    printf 'Trigon is under the Apache License 2.0, whose text is at the end.\n\n'
    cat "$home/THIRD-PARTY.txt"
    printf '\nlicences and runtime/legal are in /opt/trigon.\n\n'
    cat "$home/LICENSE"
  } >"$system/usr/share/doc/trigon/copyright"
  (cd "$system" && find opt usr -type f -print0 | sort -z | xargs -0 md5sum) >"$control/md5sums"
  (cd "$system" && find ./opt/trigon ./usr/share/doc/trigon && find ./usr ! -type d) | sort -u >"$scratch/files"
  cat >"$control/preinst" <<END
#!/bin/sh
set -e
cd "\${DPKG_ROOT:-}/"
mkdir -p $(cd "$system" && find opt usr -type d ! -path 'opt/trigon*' ! -path '*/doc/trigon' | sort | paste -s -d ' ')
END
  chmod 755 "$control/preinst"
  plain "$system"
  plain "$control"
  (
    cd "$scratch"
    echo 2.0 >debian-binary
    sorted_tar "$control" . | compressed >control.tar.xz
    sorted_tar "$system" --no-recursion --files-from="$scratch/files" | compressed >data.tar.xz
    rm -f "$made"
    ar qcD "$made" debian-binary control.tar.xz data.tar.xz
  )
}

package_rpm() { # ARCH
  stage_system
  mkdir -p "$system/usr/share/licenses/trigon"
  cp -r "$home/LICENSE" "$home/THIRD-PARTY.txt" "$home/licences" "$system/usr/share/licenses/trigon/"
  plain "$system"
  (cd "$system" && find usr ! -path 'usr/share/licenses/*' ! -type d) | sed 's|^|/|' | sort >"$scratch/files"
  rpmbuild -bb --target "$1" --buildroot "$scratch/buildroot" \
    --define "_topdir $scratch/rpm" --define "_rpmdir $scratch/rpms" --define "system $system" \
    --define "file_list $scratch/files" --define "level $level" \
    --define "package_version $(system_version)" --define "summary $summary" --define "licences $licences" \
    --define "needs $(rpm_needs "$home")" "$here/trigon.spec" >"$scratch/rpm.log" 2>&1 ||
    die "rpmbuild failed: $(tail -n 5 "$scratch/rpm.log")"
  made=$packages/trigon-$(system_version)-1.$1.rpm
  mv "$scratch/rpms/$1/${made##*/}" "$made"
}

package_wheel() { # ARCH
  made=$(python3 "$here/wheel.py" "$home" "$here/python" "$version" "$glibc" "$1" "$packages" "$level")
}

# A layer of one architecture; the image is made of all of them at the end.
layer_of_image() { # ARCH
  local layer=$scratch/layer compiler=cc
  [ "$1" = "$this_machine" ] || compiler=$1-linux-gnu-gcc
  mkdir -p "$layer" "$images/$1"
  cp -al "$stage/opt" "$layer/opt"
  "$compiler" -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -static -s -o "$layer/install" \
    "$here/image/install.c" || die "cannot compile $here/image/install.c for $1, statically"
  plain "$layer"
  sorted_tar "$layer" install opt >"$images/$1/layer.tar"
}

packed() {
  say "made $made, $((($(stat -c %s "$made") + 500000) / 1000000)) MB"
}

for kind in $kinds; do
  has_programs "$kind" || exit 1
done
images=
for arch in $archs; do
  stage "$arch"
  mkdir -p "$packages"
  packages=$(cd -- "$packages" && pwd)
  cp "$home/bom.json" "$packages/trigon-$version-$arch.cdx.json"
  for kind in $kinds; do
    case $kind in
      oci)
        images=${images:-$(mktemp -d "${TMPDIR:-/tmp}/trigon-image.XXXXXX")}
        say "copying the image's files for $arch"
        layer_of_image "$arch"
        ;;
      *)
        say "packing $kind for $arch"
        package_"$kind" "$arch"
        packed
        ;;
    esac
  done
  rm -rf "$scratch"
done
if [ -n "$images" ]; then
  say "packing oci for $archs"
  made=$packages/trigon-$version-oci.tar
  python3 "$here/image/image.py" "$images" "$version" "$SOURCE_DATE_EPOCH" "$level" "$made" "$licences"
  rm -rf "$images"
  packed
fi
(cd "$packages" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\0' | sort -z | xargs -0 sha256sum \
  >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
say "SHA256SUMS and the bill of materials are in $packages, too"
