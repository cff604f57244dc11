#!/bin/sh
# Checks gate.pml in all interleavings with Spin, and that it finds the defects that can be planted there.
#   check.sh DIRECTORY    for what Spin makes
set -eu
model=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/gate.pml
mkdir -p "$1"
cd "$1"

expect() { # NUMBER OPTION...: so many errors
  number=$1
  shift
  search=
  case $* in *NOTICED*) search='-a -f' ;; esac # cycles, of threads that all go on
  spin "$@" -a "$model" >spin.log || { cat spin.log; exit 1; }
  cc -w -o pan pan.c
  # shellcheck disable=SC2086
  ./pan -w18 $search >pan.log
  grep -q "errors: $number\$" pan.log || { cat pan.log; echo "gate.pml $*: expected $number errors"; exit 1; }
}

expect 0
expect 0 -DNOTICED
expect 1 -DKEEPS_GATE
expect 1 -DLOOKS_FIRST -DNOTICED
echo "all interleavings of the gate are right; both planted defects were found"
