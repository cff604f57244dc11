#!/usr/bin/env bash
# contradictions.sh - says which of NCCL's settings contradict Trigon, or do nothing with it: of the environment, and of
# the files that NCCL reads, ~/.nccl.conf (or NCCL_CONF_FILE) and /etc/nccl.conf. The environment wins over the files.
# Recipes for other networks leave such settings behind. So does it with interfaces that are not here, also those that
# Gloo and TensorPipe are told. Exit status 0, whatever is found.
set -euo pipefail

note() { # NAME VALUE PLACE WHAT
  echo "trigon: $1=$2 in $3: $4"
}

has_interface() { # PATTERN...
  local each
  for each; do
    ! compgen -G "/sys/class/net/$each" >/dev/null || return 0
  done
  return 1
}

# NCCL takes beginnings of names, or whole ones after =, or with ^ those to leave out; the others take whole names.
look_for_interface() { # NAME VALUE PLACE
  local names=$2 end=""
  case $1/$2 in
    */ | NCCL*/^*) return ;;
    NCCL*/=*) names=${2#=} ;;
    NCCL*) end="*" ;;
  esac
  IFS=, read -ra names <<<"$names"
  has_interface "${names[@]/%/$end}" || note "$@" "there is no such interface here; name one that all nodes share"
}

look_at() { # NAME VALUE PLACE
  local cure="\"trigon env\" sets it anew, and the environment wins over files; remove it where it is set" value
  value=$(echo "$2" | tr '[:upper:]' '[:lower:]')
  case $1 in
    NCCL_NET)
      case $value in
        "" | trigon) ;;
        *) note "$@" "NCCL uses that network alone; $cure" ;;
      esac
      ;;
    NCCL_NET_PLUGIN)
      case $value in
        "" | *trigon*) ;;
        none) note "$@" "NCCL loads no plugin; $cure" ;;
        *) note "$@" "NCCL loads another plugin; $cure" ;;
      esac
      ;;
    NCCL_IB_DISABLE)
      [ "$value" = 0 ] || note "$@" "does not keep Trigon from RDMA; for TCP alone set TRIGON_LINKS=software"
      ;;
    *_SOCKET_IFNAME) look_for_interface "$@" ;;
    NCCL_TUNER_PLUGIN | NCCL_PROFILER_PLUGIN)
      case $value in
        "" | *trigon*) ;;
        *) note "$@" "NCCL takes that instead of Trigon's; remove it where it is set" ;;
      esac
      ;;
    NCCL_GRAPH_FILE | NCCL_TOPO_FILE) note "$@" "NCCL takes that for these machines, which may be another's file" ;;
    NCCL_HOSTID) note "$@" "machines with the same text are one machine to NCCL, and jobs fail" ;;
    NCCL_ALGO | NCCL_PROTO) note "$@" "NCCL's choice is forced, for all lengths" ;;
    NCCL_IB_*) note "$@" "is for NCCL's own network and does nothing here: Trigon finds its links by itself" ;;
    *) ;;
  esac
}

while IFS='=' read -r name value; do
  case $name in
    NCCL_* | GLOO_SOCKET_IFNAME | TP_SOCKET_IFNAME) look_at "$name" "$value" "the environment" ;;
    *) ;;
  esac
done < <(env)
for file in "${NCCL_CONF_FILE:-${HOME:-/nonexistent}/.nccl.conf}" /etc/nccl.conf; do
  [ -r "$file" ] || continue
  # as NCCL reads it: NAME=VALUE, a line each; # begins a comment
  while IFS='=' read -r name value; do
    look_at "${name//[[:space:]]/}" "$value" "$file"
  done < <(grep -v '^[[:space:]]*#' "$file" | grep = || :)
done
