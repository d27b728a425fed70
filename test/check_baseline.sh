#!/usr/bin/env bash
# Base code must run on every CPU: no register wider than 128 bits.
# usage: check_baseline.sh OBJDUMP "OBJECT;OBJECT..."
set -euo pipefail
IFS=';' read -ra objects <<<"$2"
[ "${#objects[@]}" -ge 10 ] || { echo "only ${#objects[@]} objects"; exit 1; }
if "$1" -d --no-show-raw-insn "${objects[@]}" | grep -E '%[yz]mm' | head -5 | grep .; then
  echo "wide registers in base code"
  exit 1
fi
echo "${#objects[@]} objects without wide registers"
