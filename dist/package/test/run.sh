#!/usr/bin/env bash
# run.sh - tries the packages as users do.
# usage: run.sh           installs, runs, upgrades and removes them in clean systems of Debian, and of Ubuntu where its
#                         mirror answers and its keys are installed; root and debootstrap; half an hour
#        run.sh quick     makes an archive, a .deb and an image, runs what is in them, and compares sizes with
#                         install.md's; as whoever calls, and as somebody else if that is root; three minutes.
#                         TRIGON_CONTAINERS=required: where the image cannot run, this fails
#        run.sh SUITE [KIND...]
#                         one system only: bookworm, trixie, noble (Ubuntu 24.04) or arm64 (trixie, under emulation);
#                         and these packages only
#        run.sh repositories
#                         bookworm, which gets a .deb and an .rpm from signed repositories on localhost
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../../.." && pwd)
. "$project/dist/cross/platforms.sh"
packages=$project/dist/target/packages/test
next=99.0.0 # the version that everything is upgraded to
ubuntu=http://archive.ubuntu.com/ubuntu
ubuntu_keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg # of the package ubuntu-keyring, which Ubuntu has

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
  local place="$scratch/a place with ü" archive deb
  make "tar deb oci" "$this_machine"
  (cd "$packages" && sha256sum --check --quiet SHA256SUMS)
  sizes wheel folder
  mkdir "$place"
  step "the archive, in a folder with blanks and an umlaut"
  tar -xf "$(newest "trigon-*-$this_machine.tar.xz")" -C "$place"
  archive=$(echo "$place"/trigon-*)
  use "$archive/bin/trigon"
  # without its AOT cache the JVM would not start
  (
    . "$archive/libexec/tools-java.sh"
    tools_java "$archive"
    "${tools_java[@]}" -XX:AOTMode=on trigon.tools.TrigonProgram links
  ) >"$scratch/links" 2>&1 || die "no AOT cache is used: $(cat "$scratch/links")"
  step "a copy that has lost the times of the files, as pip makes it"
  cp -R --preserve=mode,links "$archive" "$scratch/copy"
  "$scratch/copy/bin/trigon" links 2>&1 >/dev/null | diff /dev/null - || die "trigon links succeeds, and yet says that"
  step "the .deb, unpacked"
  deb=$(newest "trigon_*_$(debian_name "$this_machine").deb")
  ! dpkg-deb -c "$deb" | grep '^d' | grep -vE ' \./(opt|usr/share/doc)/trigon/' ||
    die "the .deb names these folders of others, and its removal would remove them if they are empty"
  dpkg-deb -x "$deb" "$scratch/deb"
  "$scratch/deb/opt/trigon/bin/trigon" --version
  [ "$(readlink "$scratch/deb/usr/bin/trigon")" = /opt/trigon/bin/trigon ] || die "the .deb has no usr/bin/trigon"
  grep -q "^io.netty:netty-transport .*: Apache-2.0$" "$scratch/deb/usr/share/doc/trigon/copyright" ||
    die "the .deb's copyright does not name what it has of others"
  orders "$(dpkg-deb --field "$deb" Version)"
  image
}

# Package managers upgrade a snapshot to its release, and that to the next snapshot.
orders() { # VERSION-OF-THE-DEB
  local release=${1%%~*} last
  step "the order of versions: $1, $release~SNAPSHOT, $release, $release.1~SNAPSHOT"
  last=$release~SNAPSHOT
  for next_one in "$release" "$release.1~SNAPSHOT"; do
    dpkg --compare-versions "$last" lt "$next_one" || die "dpkg takes $next_one for older than $last"
    ! command -v rpm >/dev/null || [ "$(rpm --eval "%{lua:print(rpm.vercmp('$last', '$next_one'))}")" = -1 ] ||
      die "rpm takes $next_one for older than $last"
    last=$next_one
  done
}

# Podman runs it as an ordinary user, who may write nothing but the mounted folder; then the DaemonSet's other command
# runs, with an /etc and an /opt of its own.
image() {
  local target=$scratch/target host=$scratch/host home loaded
  if ! command -v podman >/dev/null || ! command -v runc >/dev/null || ! unshare --mount true 2>/dev/null; then
    [ "${TRIGON_CONTAINERS:-}" != required ] || die "the image needs root, podman and runc"
    step "not tried: the image, which needs root, podman and runc"
    return
  fi
  step "the image, in Podman, as an ordinary user"
  mkdir "$target" "$host"
  chown 65534 "$target"
  engine load --quiet --input "$(newest "trigon-*-oci.tar")" >"$scratch/loaded"
  loaded=$(sed -n "s/^Loaded image: *//p" "$scratch/loaded")
  for _ in first again; do
    engine run --rm --user 65534:65534 --read-only --cap-drop all --security-opt no-new-privileges --network none \
      --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \
      --volume "$target:/target" "$loaded"
  done
  home=$(readlink -f "$target/current")
  diff -r --no-dereference --exclude .built --exclude .made-from "$project/dist/target/trigon" "$home" ||
    die "the image's copy is not the distribution"
  as_another 65533 "$target/current/bin/trigon" --version
  as_another 65533 "$target/current/bin/trigon" links
  step "the command of the DaemonSet"
  unshare --mount bash -euo pipefail -c '
    mount --make-rprivate /
    mount --rbind / "$1"
    mount -t tmpfs tmpfs "$1/opt"
    mkdir "$1/opt/trigon" "$2/etc"
    mount --bind "$2/target" "$1/opt/trigon"
    cp -a /etc/. "$2/etc"
    mount --bind "$2/etc" "$1/etc"
    "${@:3}"
  ' bash "$host" "$scratch" $(daemonset_command) >"$scratch/enabled" || die "the DaemonSet: $(cat "$scratch/enabled")"
  grep -qx 'NCCL_NET_PLUGIN=/opt/trigon/current/lib/libnccl-net-trigon.so' "$scratch/etc/nccl.conf" ||
    die "NCCL's file after the DaemonSet: $(cat "$scratch/etc/nccl.conf")"
  grep -q '"/opt/trigon/current"' "$scratch/etc/cdi/trigon.yaml" ||
    die "the description (CDI) after the DaemonSet: $(cat "$scratch/etc/cdi/trigon.yaml")"
}

# Of a machine of its own: no images but this one.
engine() { # ARGUMENT...
  podman --runtime runc --root "$scratch/storage" --runroot "$scratch/run" --cgroup-manager cgroupfs \
    --events-backend none "$@"
}

daemonset_command() {
  sed -n "s|^ *command: \[\(chroot, .*\)\]$|\1|p" "$project/docs/examples/kubernetes/daemonset.yaml" |
    sed "s|, | |g; s| /host | $scratch/host |"
}

as_another() { # UID COMMAND...
  (cd / && setpriv --reuid="$1" --regid="$1" --clear-groups env HOME=/nonexistent "${@:2}")
}

# As whoever calls and, if that is root, as somebody who may write nothing but /tmp.
use() { # TRIGON
  cp "$here/use.sh" "$scratch"
  chmod 755 "$scratch" "$scratch/use.sh"
  "$scratch/use.sh" "$1"
  [ "$(id -u)" -ne 0 ] || as_another 65534 "$scratch/use.sh" "$1"
}

# What install.md says of sizes in MB, with a tenth of tolerance. They change with the JDK and the dependencies.
sizes() { # WHAT...: of archive, which takes a minute to pack, wheel and folder
  local page=$project/docs/guide/install.md what is says wrong=0 folder=$scratch/sizes
  if [ "$this_machine" != x86_64 ]; then
    step "no sizes are compared: install.md has those of x86-64"
    return
  fi
  step "sizes, packed as tightly as for users"
  for what; do
    case $what in
      archive)
        "$project/dist/package/package.sh" tar "$this_machine" "$folder"
        is=$(stat -c %s "$folder"/*.tar.xz)
        ;;
      wheel)
        "$project/dist/package/package.sh" wheel "$this_machine" "$folder"
        is=$(stat -c %s "$folder"/*.whl)
        ;;
      folder) is=$(du -s -B 1 --apparent-size "$project/dist/target/trigon" | cut -f 1) ;;
    esac
    is=$(((is + 500000) / 1000000))
    says=$(sed -n "s/^| .*$what.* | \([0-9]*\) MB |$/\1/p" "$page")
    [ -n "$says" ] && [ $((is * 100)) -le $((says * 110)) ] && [ $((is * 100)) -ge $((says * 90)) ] || {
      echo "trigon: $page says that the size of the $what is ${says:-no} MB, but it is $is MB: change that line" >&2
      wrong=1
    }
  done
  return $wrong
}

newest() { # PATTERN
  local found
  # shellcheck disable=SC2086
  found=$(cd "$packages" && ls -t $1 2>/dev/null | grep -v "$next" | head -n 1)
  [ -n "$found" ] || die "there is no $1 in $packages"
  echo "$packages/$found"
}

system_name() { # SUITE
  case $1 in
    noble) echo "Ubuntu $1" ;;
    *) echo "Debian $1" ;;
  esac
}

# A system is fetched once, and kept in .cross; what is done to it is thrown away.
fetch_system() { # SUITE
  local root=$cross/debian/$1 from=()
  [ ! -e "$root/.with-dnf" ] || return 0
  command -v debootstrap >/dev/null || die "needs debootstrap; on Debian and Ubuntu: apt-get install debootstrap"
  if [ "$1" = noble ]; then
    [ -e "$ubuntu_keys" ] || die "needs $ubuntu_keys, of Ubuntu's package ubuntu-keyring"
    # the script's name is that of the oldest suite which it is for
    from=("--keyring=$ubuntu_keys" --components=main,universe "$1" "$root" "$ubuntu"
      /usr/share/debootstrap/scripts/gutsy)
  else
    from=("$1" "$root")
  fi
  step "fetching $(system_name "$1")"
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=python3-venv,rpm,dnf,xz-utils,procps "${from[@]}" >"$root.log" 2>&1 ||
    die "debootstrap failed; the end of $root.log: $(tail -n 5 "$root.log")"
  rm -f "$root"/var/cache/apt/archives/*.deb
  touch "$root/.with-dnf"
}

# Runs inside.sh in a system that is as new, in namespaces of its own: no network but loopback.
in_system() { # SUITE KIND FILE NEXT-FILE
  local work=$scratch/$1-$2
  step "$2 in $(system_name "$1")"
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

in_suite() { # SUITE KIND...
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

# By a key that is thrown away. Debian's rpm knows none of Debian's libraries: a package says that they are there.
repositories() {
  local key=test@trigon.invalid folder=$scratch/repositories needed
  make "deb rpm" "$this_machine"
  export GNUPGHOME=$scratch/gnupg
  mkdir -m 700 "$GNUPGHOME"
  gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key "Trigon <$key>" rsa3072 sign never
  "$project/dist/package/repositories.sh" "$key" "$packages" "$folder"
  (cd "$folder" && gpg --quiet --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
  needed=$(rpm --query --requires --package "$(newest "trigon-*.$this_machine.rpm")" | grep -v '^rpmlib')
  printf '%s\n' "Name: debian" "Version: 1" "Release: 1" "Summary: Libraries" "License: none" "BuildArch: noarch" \
    "Provides: $(paste -s -d ' ' <<<"$needed")" "%description" "Libraries" "%files" >"$scratch/debian.spec"
  rpmbuild -bb --define "_topdir $scratch/rpmbuild" --define "_rpmdir $scratch" "$scratch/debian.spec" \
    >"$scratch/rpmbuild.log" 2>&1 || die "rpmbuild failed: $(tail -n 5 "$scratch/rpmbuild.log")"
  mv "$scratch/noarch"/debian-*.rpm "$folder/debian.rpm"
  tar -cf "$scratch/repositories.tar" -C "$folder" .
  fetch_system bookworm
  in_system bookworm repositories "$scratch/repositories.tar"
}

case ${1:-all} in
  quick | arm64 | bookworm | trixie | noble | repositories | all) ;;
  *) die "no system $1: must be bookworm, trixie, noble, arm64, repositories or quick" ;;
esac
if [ "${1:-all}" = repositories ]; then
  . "$project/dist/package/programs.sh"
  for kind in deb rpm repositories; do
    has_programs "$kind" || exit 1
  done
fi
rm -rf "$packages"
mkdir -p "$packages"
case ${1:-all} in bookworm | trixie | noble | repositories | all)
  [ "$(id -u)" -eq 0 ] || die "needs root: systems are made by debootstrap and chroot"
  [ "$this_machine" = x86_64 ] || die "the systems are of x86-64; here only \"quick\" runs"
  ;;
esac
case ${1:-all} in bookworm | trixie | noble | all)
  kinds=${*:2}
  kinds=${kinds:-tar deb rpm wheel oci}
  case " $kinds " in *" tar "*) sizes archive wheel folder ;; esac
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
  repositories) repositories ;;
  bookworm | trixie | noble) in_suite "$1" $kinds ;;
  arm64 | all)
    if [ "${1:-all}" = all ]; then
      in_suite bookworm $kinds
      in_suite trixie $kinds
      if [ -e "$ubuntu_keys" ] && wget -q --spider --timeout=20 --tries=1 "$ubuntu/dists/noble/InRelease"; then
        in_suite noble $kinds
      else
        echo "trigon: not tried in Ubuntu: $ubuntu does not answer, or there is no $ubuntu_keys" >&2
      fi
    fi
    make deb aarch64
    in_arm64
    ;;
esac
echo "trigon: the packages can be installed, used and removed." >&2
