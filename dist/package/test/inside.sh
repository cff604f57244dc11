#!/usr/bin/env bash
# inside.sh - one kind of package in a clean system, as root in its own root directory: installed, used as root and as
# somebody else, replaced by a newer version under a running job, refused by a full disk, removed.
# usage: inside.sh deb|rpm|tar|wheel|oci|repositories FILE [FILE-OF-A-NEWER-VERSION]
set -euo pipefail
kind=$1 file=$2 newer=${3:-}
here=$(cd -- "$(dirname -- "$0")" && pwd)

fail() {
  echo "trigon: $kind: $*" >&2
  exit 1
}

use() { # TRIGON: as root, and as somebody who may write nothing but /tmp
  "$here/use.sh" "$1"
  setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$here/use.sh" "$1"
}

# Its JVM refuses to start without the AOT cache, and so do jars of other times than when it was trained.
starts_from_cache() { # TRIGON
  (
    home=$(dirname "$(dirname "$(readlink -f "$1")")")
    . "$home/libexec/tools-java.sh"
    tools_java "$home"
    "${tools_java[@]}" -XX:AOTMode=on trigon.tools.TrigonProgram links
  ) >/tmp/cache.out 2>&1 || fail "no AOT cache is used: $(cat /tmp/cache.out)"
  rm /tmp/cache.out
}

directories() { # but those of the test itself
  find / -xdev -type d ! -path '/tmp/*' ! -path '/var/lib/*' ! -path '/var/cache/*' ! -path '/root/*' | sort
}

says_version() { # TRIGON VERSION
  case $("$1" --version) in
    "Trigon $2 "*) ;;
    *) fail "the version is not $2: $("$1" --version)" ;;
  esac
}

# Runs a command while a job moves data, and sees the job to its end.
under_a_job() { # TRIGON COMMAND...
  local trigon=$1 job waited=0
  shift
  "$trigon" demo --links software --bytes 1048576 --iterations 2000 --logs /tmp/job >/tmp/job.out 2>&1 &
  job=$!
  until [ "$(grep -sl 'sends to' /tmp/job/order-0/*.log | wc -l)" -eq 3 ]; do
    [ $waited -lt 600 ] && kill -0 $job || fail "the job does not start: $(cat /tmp/job.out)"
    waited=$((waited + 1))
    sleep 0.1
  done
  "$@"
  kill -0 $job || fail "the job ended before $* did, so nothing was tried"
  wait $job || fail "the job failed under $*: $(cat /tmp/job.out)"
  grep -q 'Every element was right' /tmp/job.out || fail "the job: $(cat /tmp/job.out)"
  rm -rf /tmp/job /tmp/job.out
}

# What does not fit into $1 MB at /opt must be refused, with the reason, and leave nothing.
refused_by_a_full_disk() { # MEGABYTES COMMAND...
  local megabytes=$1
  shift
  mount -t tmpfs -o "size=${megabytes}m" tmpfs /opt
  ! "$@" >/tmp/full.out 2>&1 || fail "$* succeeded on a full disk"
  # dpkg and tar; rpm
  grep -qiE 'no space left|more space on' /tmp/full.out || fail "a full disk is not named: $(cat /tmp/full.out)"
}

gone() { # PATH...
  local path
  for path; do
    [ ! -e "$path" ] && [ ! -L "$path" ] || fail "the removal has left $path"
  done
}

# Without a variable: in NCCL's file, which is gone afterwards, as there was none.
enables() {
  trigon enable >/tmp/enable.out 2>&1 || fail "trigon enable: $(cat /tmp/enable.out)"
  grep -qx 'NCCL_NET_PLUGIN=/opt/trigon/lib/libnccl-net-trigon.so' /etc/nccl.conf || fail "$(cat /etc/nccl.conf)"
  trigon disable >/tmp/enable.out 2>&1 || fail "trigon disable: $(cat /tmp/enable.out)"
  rm /tmp/enable.out
  gone /etc/nccl.conf /etc/rccl.conf
}

# A package manager's: one place, /opt/trigon.
package() { # INSTALL UPGRADE REMOVE: names of functions
  refused_by_a_full_disk 30 "$1" "$file"
  [ ! -e /opt/trigon/release ] || fail "a refused installation has left /opt/trigon/release"
  umount /opt
  "$3" 2>/dev/null || :
  rmdir /opt
  "$1" "$file"
  "$3"
  # as an administrator leaves it, and no package names it
  [ -d /opt ] || mkdir /opt
  chmod 750 /opt
  directories >/tmp/directories
  "$1" "$file"
  [ "$(readlink -f /usr/bin/trigon)" = /opt/trigon/bin/trigon ] || fail "trigon is not on the PATH"
  [ "$(stat -c %a /opt)" = 750 ] || fail "the installation has changed the mode of /opt"
  chmod 755 /opt
  use trigon
  enables
  starts_from_cache trigon
  under_a_job trigon "$2" "$newer"
  says_version trigon 99.0.0
  use trigon
  starts_from_cache trigon
  under_a_job trigon "$3"
  gone /opt/trigon /usr/bin/trigon /usr/share/doc/trigon /usr/share/licenses/trigon
  directories | diff /tmp/directories - || fail "other directories are there than before the installation"
}

install_deb() { dpkg --install "$1"; }
remove_deb() { dpkg --purge trigon; }
# the system's libraries are packages of Debian's, of which RPM does not know
install_rpm() { rpm --install --nodeps "$1"; }
upgrade_rpm() { rpm --upgrade --nodeps "$1"; }
remove_rpm() { rpm --erase trigon; }

# Two versions side by side, of which the older is removed under a job of the newer one.
archive() {
  refused_by_a_full_disk 30 tar -xf "$file" -C /opt
  umount /opt
  tar -xf "$file" -C /opt
  tar -xf "$newer" -C /opt
  local older
  older=$(find /opt -maxdepth 1 -name 'trigon-*' ! -name 'trigon-99*')
  use "$older/bin/trigon"
  use /opt/trigon-99.0.0/bin/trigon
  starts_from_cache "$older/bin/trigon"
  under_a_job "$older/bin/trigon" rm -r "$older"
  says_version /opt/trigon-99.0.0/bin/trigon 99.0.0
}

wheel() {
  python3 -m venv /tmp/venv
  /tmp/venv/bin/pip install --quiet --no-index "$file"
  use /tmp/venv/bin/trigon
  # pip gives all files the time of the installation
  /tmp/venv/bin/trigon train
  starts_from_cache /tmp/venv/bin/trigon
  use /tmp/venv/bin/trigon
  (
    cd /tmp
    /tmp/venv/bin/python -c 'import os, trigon_nccl; os.environ.update(trigon_nccl.environment()); os.system("env")' |
      grep -q '^NCCL_NET_PLUGIN=/tmp/venv/.*/libnccl-net-trigon.so$'
  ) || fail "trigon_nccl.environment() has not set NCCL_NET_PLUGIN"
  /tmp/venv/bin/pip uninstall --quiet --yes trigon-nccl
  gone /tmp/venv/bin/trigon /tmp/venv/lib/python3*/site-packages/trigon_nccl
}

# The image's own program, run as an engine runs it: the image's files are the root.
image() {
  mkdir -p /tmp/image /tmp/image-root /srv/trigon
  tar -xf "$file" -C /tmp/image
  python3 - /tmp/image amd64 /tmp/image-root <<'END'
import json, pathlib, sys, tarfile

layout, architecture, root = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def blob(descriptor):
    return layout / "blobs" / descriptor["digest"].replace(":", "/")


index = json.loads((layout / "index.json").read_text())["manifests"][0]
manifests = json.loads(blob(index).read_text())["manifests"]
found = [m for m in manifests if m["platform"]["architecture"] == architecture]
for layer in json.loads(blob(found[0]).read_text())["layers"]:
    tarfile.open(blob(layer)).extractall(root)
END
  mkdir /tmp/image-root/target
  mount --bind /srv/trigon /tmp/image-root/target
  chroot /tmp/image-root /install
  use /srv/trigon/current/bin/trigon
  starts_from_cache /srv/trigon/current/bin/trigon
  under_a_job /srv/trigon/current/bin/trigon chroot /tmp/image-root /install
  umount /tmp/image-root/target
  mount -t tmpfs -o size=30m tmpfs /tmp/image-root/target
  ! chroot /tmp/image-root /install 2>/tmp/full.out || fail "the image installs on a full disk"
  grep -qi 'no space left' /tmp/full.out || fail "a full disk is not named: $(cat /tmp/full.out)"
  [ -z "$(ls -A /tmp/image-root/target)" ] || fail "a full disk has left something"
}

# By apt and by dnf, from a web server on this machine; both refuse what has one byte changed.
repositories() {
  mkdir -p /srv/web /etc/apt/keyrings /etc/yum.repos.d
  tar -xf "$file" -C /srv/web
  python3 -m http.server --bind 127.0.0.1 --directory /srv/web 8000 >/tmp/web.log 2>&1 &
  until (: </dev/tcp/127.0.0.1/8000) 2>/dev/null; do
    kill -0 $! || fail "the web server does not start: $(cat /tmp/web.log)"
    sleep 0.1
  done
  cp /srv/web/trigon.asc /etc/apt/keyrings/
  echo "deb [signed-by=/etc/apt/keyrings/trigon.asc] http://127.0.0.1:8000/apt stable main" >/etc/apt/sources.list
  apt_get update
  changed "$(ls /srv/web/apt/pool/main/t/trigon/*.deb)" "hash sum mismatch" apt_get install trigon
  changed /srv/web/apt/dists/stable/InRelease "signature" apt_get update
  apt_get update
  apt_get install trigon
  /usr/bin/trigon --version
  apt_get purge trigon
  gone /opt/trigon /usr/bin/trigon

  rpm --install /srv/web/debian.rpm
  cat >/etc/yum.repos.d/trigon.repo <<'END'
[trigon]
name=Trigon
baseurl=http://127.0.0.1:8000/rpm
gpgkey=http://127.0.0.1:8000/trigon.asc
gpgcheck=1
repo_gpgcheck=1
skip_if_unavailable=0
END
  changed "$(ls /srv/web/rpm/*.rpm)" "cannot download" dnf_fresh install trigon
  changed /srv/web/rpm/repodata/repomd.xml "gpg" dnf_fresh install trigon
  dnf_fresh install trigon
  /usr/bin/trigon --version
  dnf_fresh remove trigon
  gone /opt/trigon /usr/bin/trigon
}

apt_get() { # there is no other source
  DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes --no-install-recommends -o APT::Update::Error-Mode=any \
    -o Acquire::Languages=none "$@"
}

dnf_fresh() { # COMMAND...: forgets what it has seen
  dnf --quiet clean all
  dnf --quiet --assumeyes --releasever 1 "$@"
}

# Must be refused, with the reason, while a byte in the middle of a file is another one.
changed() { # FILE REASON COMMAND...
  cp -p "$1" /tmp/right
  python3 - "$1" <<'END'
import sys

with open(sys.argv[1], "r+b") as file:
    middle = file.seek(0, 2) // 2
    file.seek(middle)
    byte = file.read(1)[0] ^ 1
    file.seek(middle)
    file.write(bytes([byte]))
END
  ! "${@:3}" >/tmp/refused.out 2>&1 || fail "$1 has a byte changed, and yet succeeds: ${*:3}"
  grep -qi "$2" /tmp/refused.out ||
    fail "$1 has a byte changed, and ${*:3} fails for another reason: $(cat /tmp/refused.out)"
  cp -p /tmp/right "$1"
}

case $kind in
  repositories) repositories ;;
  deb) package install_deb install_deb remove_deb ;;
  rpm) package install_rpm upgrade_rpm remove_rpm ;;
  tar) archive ;;
  wheel) wheel ;;
  oci) image ;;
esac
echo "trigon: $kind: installed, used, upgraded and removed" >&2
