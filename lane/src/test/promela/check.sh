#!/bin/sh
# Checks gate.pml and removal.pml in all interleavings with Spin, and order.pml in all orders of its stores, and that
# they find the defects that can be planted there.
#   check.sh DIRECTORY    for what Spin makes
set -eu
models=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1"
cd "$1"

expect() { # NUMBER MODEL OPTION...: so many errors
  number=$1
  model=$2
  shift 2
  search=
  case $* in *NOTICED*) search='-a -f' ;; esac # cycles, of threads that all go on
  spin "$@" -a "$models/$model" >spin.log || { cat spin.log; exit 1; }
  cc -w -o pan pan.c
  # shellcheck disable=SC2086
  ./pan -w18 $search >pan.log
  grep -q "errors: $number\$" pan.log || { cat pan.log; echo "$model $*: expected $number errors"; exit 1; }
}

expect 0 gate.pml
expect 0 gate.pml -DNOTICED
expect 1 gate.pml -DKEEPS_GATE
expect 1 gate.pml -DLOOKS_FIRST -DNOTICED
expect 0 removal.pml
expect 1 removal.pml -DLOOKS_FIRST
expect 1 removal.pml -DCOUNTS_FIRST
expect 0 order.pml
expect 1 order.pml -DNO_BARRIER=true
expect 1 order.pml -DLEAVES_EARLY=true
expect 1 order.pml -DOPENS_EARLY=true
echo "the gate and the removal of memory are right in all interleavings, the gate in all orders of stores, too;"
echo "the seven planted defects were found"
