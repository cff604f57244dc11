#!/usr/bin/env bash
# contradictions.sh - says which of NCCL's settings contradict Trigon, or do nothing with it: of the environment, and of
# the files that NCCL reads, ~/.nccl.conf (or NCCL_CONF_FILE) and /etc/nccl.conf. The environment wins over the files.
# Recipes for other networks leave such settings behind. Exit status 0, whatever is found.
set -euo pipefail

note() { # NAME VALUE PLACE WHAT
  echo "trigon: $1=$2 in $3: $4"
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
    NCCL_IB_*) note "$@" "is for NCCL's own network and does nothing here: Trigon finds its links by itself" ;;
    *) ;;
  esac
}

while IFS='=' read -r name value; do
  [[ $name != NCCL_* ]] || look_at "$name" "$value" "the environment"
done < <(env)
for file in "${NCCL_CONF_FILE:-${HOME:-/nonexistent}/.nccl.conf}" /etc/nccl.conf; do
  [ -r "$file" ] || continue
  # as NCCL reads it: NAME=VALUE, a line each; # begins a comment
  while IFS='=' read -r name value; do
    look_at "${name//[[:space:]]/}" "$value" "$file"
  done < <(grep -v '^[[:space:]]*#' "$file" | grep = || :)
done
