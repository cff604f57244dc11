#!/usr/bin/env bash
# launchers.sh - the recipes for mpirun and Slurm, on this machine: three ranks of the program that plays NCCL, started
# by Open MPI, and by a Slurm that is started for it. Needs root, and openmpi-bin, slurm-wlm and munge.
# usage: launchers.sh DISTRIBUTION
set -euo pipefail
home=$(cd -- "$1" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-launchers.XXXXXX")
daemons=()

end() {
  local daemon
  for daemon in "${daemons[@]}"; do
    kill "$daemon" 2>/dev/null || :
  done
  wait
  rm -rf "$scratch"
}
trap end EXIT

fail() {
  echo "trigon: $*" >&2
  exit 1
}

for tool in mpirun slurmctld slurmd srun munged; do
  command -v "$tool" >/dev/null || fail "needs $tool; on Debian: apt-get install openmpi-bin slurm-wlm munge"
done
[ "$(id -u)" -eq 0 ] || fail "needs root, for Slurm's daemons"
chmod 755 "$scratch"
cat >"$scratch/trigon.yaml" <<'END'
version: 1
links: software
nodes:
  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}
  b: {nics: [{address: 127.0.12.2/24}, {address: 127.0.23.2/24}]}
  c: {nics: [{address: 127.0.13.3/24}, {address: 127.0.23.3/24}]}
END
# What "python train.py" is in the recipes. All that NCCL must be told comes from the launcher's environment.
cat >"$scratch/rank" <<'END'
#!/bin/bash
set -eu
rank=${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}
nodes=(a b c)
TRIGON_NODE=${nodes[$rank]} exec "$(dirname "$(dirname "$NCCL_NET_PLUGIN")")/libexec/nccl-host" \
  --plugin "$NCCL_NET_PLUGIN" --rank "$rank" --ranks 3 --rendezvous "$1"
END
chmod 755 "$scratch/rank"
unset LD_LIBRARY_PATH
export TRIGON_CONFIG=$scratch/trigon.yaml NCCL_SOCKET_IFNAME=lo NCCL_DEBUG=INFO
eval "$("$home/bin/trigon" env 2>/dev/null)"

all_right() { # LAUNCHER LOG
  [ "$(grep -c ' 0 wrong$' "$2")" -eq 3 ] && [ "$(grep -c 'NET/Trigon : sends to' "$2")" -ge 3 ] ||
    fail "$1: not three ranks were right: $(tail -n 20 "$2")"
  echo "trigon: $1: three ranks, every element right" >&2
}

mkdir "$scratch/mpirun"
mpirun -n 3 --oversubscribe --allow-run-as-root -x NCCL_NET_PLUGIN -x NCCL_NET -x NCCL_NET_PLUGIN_REF_COUNT \
  -x NCCL_SOCKET_IFNAME -x NCCL_DEBUG -x TRIGON_CONFIG "$scratch/rank" "$scratch/mpirun" >"$scratch/mpirun.log" 2>&1 ||
  fail "mpirun: $(tail -n 20 "$scratch/mpirun.log")"
all_right "$(mpirun --version | head -n 1)" "$scratch/mpirun.log"

name=$(hostname -s)
mkdir -p "$scratch"/{state,spool,slurm}
dd if=/dev/urandom of="$scratch/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$scratch/munge.key"
cat >"$scratch/slurm.conf" <<END
ClusterName=trigon
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ReturnToService=2
SelectType=select/cons_tres
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$name Default=YES OverSubscribe=FORCE:4 State=UP
END
export SLURM_CONF=$scratch/slurm.conf
munged --force --foreground --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
  --pid-file="$scratch/munged.pid" --log-file="$scratch/munged.log" --seed-file="$scratch/munge.seed" \
  >"$scratch/out" 2>&1 &
daemons+=($!)
slurmctld -D >>"$scratch/out" 2>&1 &
daemons+=($!)
slurmd -D -N "$name" >>"$scratch/out" 2>&1 &
daemons+=($!)
waited=0
until sinfo --noheader --format %T 2>/dev/null | grep -q idle; do
  [ $waited -lt 120 ] || fail "Slurm does not start: $(tail -n 5 "$scratch"/*.log "$scratch/out")"
  waited=$((waited + 1))
  sleep 0.5
done
srun --ntasks 3 --overcommit --export=ALL "$scratch/rank" "$scratch/slurm" >"$scratch/srun.log" 2>&1 ||
  fail "srun: $(tail -n 20 "$scratch/srun.log")"
all_right "$(srun --version)" "$scratch/srun.log"
