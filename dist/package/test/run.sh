#!/usr/bin/env bash
# run.sh - tries the packages as users do.
# usage: run.sh           installs, runs, upgrades and removes them in clean Debian systems; root, debootstrap and a
#                         mirror of Debian's; some minutes
#        run.sh quick     makes an archive and a .deb, and runs what is in them, as whoever calls; half a minute
#        run.sh launchers the recipes for mpirun and Slurm
#        run.sh SUITE [KIND...]
#                         one system only: bookworm, trixie or arm64 (trixie, under emulation); and these packages only
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../../.." && pwd)
. "$project/dist/cross/platforms.sh"
packages=$project/dist/target/packages/test
next=99.0.0 # the version that everything is upgraded to

die() {
  echo "trigon: $*" >&2
  exit 1
}

step() { echo "-- $*" >&2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-package-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Compressed as little as can be: what is tried is the same.
make() { # KINDS ARCH [VERSION]
  "$project/dist/package/package.sh" "$1" "$2" "$packages" 0 "${@:3}"
}

quick() {
  local place="$scratch/a place with ü"
  make "tar deb" "$this_machine"
  (cd "$packages" && sha256sum --check --quiet SHA256SUMS)
  cp -a "$packages" "$scratch/first"
  make "tar deb" "$this_machine"
  diff -r "$scratch/first" "$packages" || die "the same distribution gives other packages the second time"
  mkdir "$place"
  step "the archive, in a folder with blanks and an umlaut"
  tar -xf "$(newest "trigon-*-$this_machine.tar.xz")" -C "$place"
  "$here/use.sh" "$place"/trigon-*/bin/trigon
  step "the .deb, unpacked"
  dpkg-deb -x "$(newest "trigon_*_$(debian_name "$this_machine").deb")" "$scratch/deb"
  "$scratch/deb/opt/trigon/bin/trigon" --version
  [ "$(readlink "$scratch/deb/usr/bin/trigon")" = /opt/trigon/bin/trigon ] || die "the .deb has no usr/bin/trigon"
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

in_debian() { # SUITE KIND...
  local suite=$1 kind
  fetch_system "$suite"
  for kind in "${@:2}"; do
    case $kind in
      deb) in_system "$suite" deb "$(newest 'trigon_*_amd64.deb')" "$packages/trigon_${next}_amd64.deb" ;;
      rpm) in_system "$suite" rpm "$(newest 'trigon-*.x86_64.rpm')" "$packages/trigon-$next-1.x86_64.rpm" ;;
      tar) in_system "$suite" tar "$(newest 'trigon-*-x86_64.tar.xz')" "$packages/trigon-$next-x86_64.tar.xz" ;;
      wheel) in_system "$suite" wheel "$(newest 'trigon_nccl-*x86_64.whl')" ;;
      oci) in_system "$suite" oci "$(newest 'trigon-*-oci.tar')" ;;
    esac
  done
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

case ${1:-all} in
  launchers) exec "$here/launchers.sh" "$project/dist/target/trigon" ;;
  quick | arm64 | bookworm | trixie | all) ;;
  *) die "no system $1: must be bookworm, trixie, arm64, quick or launchers" ;;
esac
rm -rf "$packages"
mkdir -p "$packages"
case ${1:-all} in bookworm | trixie | all)
  [ "$(id -u)" -eq 0 ] || die "needs root: systems are made by debootstrap and chroot"
  [ "$this_machine" = x86_64 ] || die "the systems are of x86-64; here only \"quick\" runs"
  kinds=${*:2}
  kinds=${kinds:-tar deb rpm wheel oci}
  make "$kinds" x86_64
  again=
  for kind in $kinds; do
    case $kind in tar | deb | rpm) again="$again $kind" ;; esac
  done
  [ -z "$again" ] || make "$again" x86_64 "$next"
  ;;
esac
case ${1:-all} in
  quick) quick ;;
  bookworm | trixie) in_debian "$1" $kinds ;;
  arm64 | all)
    if [ "${1:-all}" = all ]; then
      in_debian bookworm $kinds
      in_debian trixie $kinds
    fi
    make deb aarch64
    in_arm64
    ;;
esac
echo "trigon: the packages can be installed, used and removed." >&2
