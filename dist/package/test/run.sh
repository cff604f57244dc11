#!/usr/bin/env bash
# run.sh - tries the packages as users do.
# usage: run.sh           installs, runs, upgrades and removes them in clean Debian systems; root, debootstrap and a
#                         mirror of Debian's; some minutes
#        run.sh quick     makes an archive and a .deb, and runs what is in them, as whoever calls; half a minute
#        run.sh launchers the recipes for mpirun and Slurm
#        run.sh SUITE     one system only: bookworm, trixie or arm64 (trixie, under emulation)
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../../.." && pwd)
. "$project/dist/cross/platforms.sh"
packages=$project/dist/target/packages
next=99.0.0 # the version that everything is upgraded to

die() {
  echo "trigon: $*" >&2
  exit 1
}

step() { echo "-- $*" >&2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-package-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

quick() {
  local place="$scratch/a place with ü"
  "$project/trigon" package tar
  "$project/trigon" package deb
  (cd "$packages" && sha256sum --check --quiet --ignore-missing SHA256SUMS)
  mkdir "$place"
  step "the archive, in a folder with blanks and an umlaut"
  tar -xf "$(newest "trigon-*-$this_machine.tar.xz")" -C "$place"
  "$here/use.sh" "$place"/trigon-*/bin/trigon
  step "the .deb, unpacked"
  dpkg-deb -x "$(newest "trigon_*_$(debian_name "$this_machine").deb")" "$scratch/deb"
  "$here/use.sh" "$scratch/deb/opt/trigon/bin/trigon"
}

newest() { # PATTERN
  local found
  # shellcheck disable=SC2086
  found=$(cd "$packages" && ls -t $1 2>/dev/null | grep -v "$next" | head -n 1)
  [ -n "$found" ] || die "there is no $1 in $packages"
  echo "$packages/$found"
}

# A system is fetched once, and kept in .cross; what is done to it is thrown away.
fetch_system() { # SUITE
  local root=$cross/debian/$1
  [ ! -e "$root/.whole" ] || return 0
  command -v debootstrap >/dev/null || die "needs debootstrap; on Debian and Ubuntu: apt-get install debootstrap"
  step "fetching Debian $1"
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=python3-venv,rpm,xz-utils,procps "$1" "$root" >"$root.log" 2>&1 ||
    die "debootstrap failed; the end of $root.log: $(tail -n 5 "$root.log")"
  rm -f "$root"/var/cache/apt/archives/*.deb
  touch "$root/.whole"
}

# Runs inside.sh in a system that is as new, in namespaces of its own: no network but loopback.
in_system() { # SUITE KIND FILE NEXT-FILE
  local work=$scratch/$1-$2
  step "$2 in Debian $1"
  mkdir -p "$work"/{upper,work,root}
  cp "$here/inside.sh" "$here/use.sh" "$3" ${4:+"$4"} "$work/"
  unshare --mount --net --pid --fork bash -euo pipefail -c '
    root=$1/root
    ip link set lo up
    mount -t tmpfs tmpfs "$1/upper" 2>/dev/null
    mkdir "$1/upper/files" "$1/upper/work"
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper/files,workdir=$1/upper/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mkdir "$root/packages"
    find "$1" -maxdepth 1 -type f -exec cp {} "$root/packages/" \;
    cd /
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C TMPDIR=/tmp chroot "$root" \
      bash /packages/inside.sh "$3" "/packages/${4##*/}" "${5:+/packages/${5##*/}}"
  ' bash "$work" "$cross/debian/$1" "$2" "$3" "${4:-}"
}

in_debian() { # SUITE
  fetch_system "$1"
  in_system "$1" deb "$(newest 'trigon_*_amd64.deb')" "$packages/trigon_${next}_amd64.deb"
  in_system "$1" rpm "$(newest 'trigon-*.x86_64.rpm')" "$packages/trigon-$next-1.x86_64.rpm"
  in_system "$1" tar "$(newest 'trigon-*-x86_64.tar.xz')" "$packages/trigon-$next-x86_64.tar.xz"
  in_system "$1" wheel "$(newest 'trigon_nccl-*x86_64.whl')"
  in_system "$1" image "$(newest 'trigon-*-oci.tar')"
}

# Debian's packages of arm64, unpacked; the .deb is installed by this machine's dpkg, as none of its files needs to run.
in_arm64() {
  local root=$scratch/arm64
  "$project/dist/cross/fetch.sh" aarch64
  cp -a "$cross/aarch64/root" "$root"
  mkdir -p "$root"/{tmp,proc,dev,var/lib/dpkg/info,var/lib/dpkg/updates,var/lib/dpkg/triggers}
  touch "$root/var/lib/dpkg/status"
  step "deb in Debian trixie, arm64, under emulation"
  dpkg --root="$root" --force-architecture --force-depends --force-not-root --force-script-chrootless \
    --install "$(newest 'trigon_*_arm64.deb')" >"$scratch/arm64.log" 2>&1 || die "dpkg: $(cat "$scratch/arm64.log")"
  "$project/dist/cross/run.sh" aarch64 "$here/use.sh" "$root/opt/trigon/bin/trigon" 120s
  dpkg --root="$root" --force-architecture --force-depends --force-not-root --force-script-chrootless \
    --purge trigon >"$scratch/arm64.log" 2>&1 || die "dpkg: $(cat "$scratch/arm64.log")"
  [ ! -e "$root/opt/trigon" ] && [ ! -L "$root/usr/bin/trigon" ] || die "dpkg has left something in $root"
}

make_packages() {
  "$project/trigon" package all
  [ -e "$packages/trigon-$next-$this_machine.tar.xz" ] &&
    [ "$packages/trigon-$next-$this_machine.tar.xz" -nt "$project/dist/target/trigon/release" ] ||
    "$project/dist/package/package.sh" "tar deb rpm" "$this_machine" "$next"
}

case ${1:-all} in
  quick) quick ;;
  arm64) in_arm64 ;;
  launchers) exec "$here/launchers.sh" "$project/dist/target/trigon" ;;
  bookworm | trixie | all)
    [ "$(id -u)" -eq 0 ] || die "needs root: systems are made by debootstrap and chroot"
    [ "$this_machine" = x86_64 ] || die "the systems are of x86-64; here only \"quick\" runs"
    make_packages
    if [ "${1:-all}" = all ]; then
      in_debian bookworm
      in_debian trixie
      "$project/trigon" package deb --arch aarch64
      in_arm64
    else
      in_debian "$1"
    fi
    ;;
  *) die "no system $1: must be bookworm, trixie, arm64, quick or launchers" ;;
esac
rm -f "$packages"/trigon[-_]"$next"*
echo "trigon: the packages can be installed, used and removed." >&2
