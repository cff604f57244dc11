#!/usr/bin/env bash
# engine.sh - a container engine of its own for one command: its socket, its images and its containers live in a new
# directory, which is removed afterwards. It touches neither iptables nor ip_forward, and has no bridge but those that
# are asked for.
#
#   engine.sh check            exits with 125, and says why, if it could not start
#   engine.sh run COMMAND...   COMMAND sees it by DOCKER_HOST; exits with COMMAND's status, with 125 if it cannot start
#
# Needs root and dockerd (Debian and Ubuntu: docker.io, which brings containerd, runc and iptables).
set -euo pipefail

note() { echo "engine.sh: $*" >&2; }
die() { note "$*"; exit 125; }

check() {
  [ "$(id -u)" -eq 0 ] || die "dockerd needs root"
  command -v dockerd >/dev/null ||
    die "no dockerd on the PATH; on Debian: apt-get install --no-install-recommends docker.io iptables"
}

start_engine() {
  check
  # short: the path of a socket has at most 107 characters
  directory=$(mktemp -d /tmp/trigon-engine.XXXXXX)
  trap stop_engine EXIT
  # a session of its own: an interrupt from the terminal ends the command, and then, in order, the engine
  setsid dockerd --data-root "$directory/data" --exec-root "$directory/exec" --pidfile "$directory/dockerd.pid" \
    --host "unix://$directory/docker.sock" --bridge none --iptables=false --ip-forward=false --userland-proxy=false \
    >"$directory/dockerd.log" 2>&1 </dev/null &
  engine=$!
  local waited=0
  until [ -S "$directory/docker.sock" ] && grep -q 'API listen on' "$directory/dockerd.log"; do
    if ! kill -0 "$engine" 2>/dev/null || [ $waited -ge 300 ]; then
      tail -n 30 "$directory/dockerd.log" >&2
      die "dockerd did not start; its log is above"
    fi
    sleep 0.1
    waited=$((waited + 1))
  done
}

stop_engine() {
  local waited=0 mount networks network
  # left by a command that was killed: dockerd ends its containers, but lets bridges be
  networks=$(docker --host "unix://$directory/docker.sock" network ls --quiet --filter driver=bridge 2>/dev/null || :)
  kill "$engine" 2>/dev/null || :
  while kill -0 "$engine" 2>/dev/null; do
    if [ $waited -eq 300 ]; then
      note "dockerd does not end; killing it"
      kill -KILL "$engine"
    fi
    sleep 0.1
    waited=$((waited + 1))
  done
  awk -v below="$directory/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
    while read -r mount; do
      umount "$mount" || :
    done
  for network in $networks; do
    ip link delete "br-$network" 2>/dev/null || :
  done
  rm -rf --one-file-system "$directory"
}

case ${1:-} in
  check) check ;;
  run)
    shift
    [ $# -gt 0 ] || die "run what?"
    start_engine
    status=0
    DOCKER_HOST=unix://$directory/docker.sock "$@" || status=$?
    exit $status
    ;;
  *) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
