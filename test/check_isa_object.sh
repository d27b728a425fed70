#!/usr/bin/env bash
# An instruction set's object defines exactly one global symbol, its fill function, and nothing weak that the linker
# could share with code of another instruction set.
# usage: check_isa_object.sh NM TARGET OBJECT...
set -euo pipefail
nm=$1 isa=${2#samebit_}
shift 2
globals=$("$nm" -C "$@" | grep -E ' [TDBRWVu] ' || true)
expected="samebit::fill_$isa(samebit::KernelTable&)"
if [ "$(cut -d' ' -f3- <<<"$globals")" != "$expected" ]; then
  printf 'expected only %s, found:\n%s\n' "$expected" "$globals"
  exit 1
fi
echo "one symbol: $expected"
