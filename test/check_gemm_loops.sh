#!/usr/bin/env bash
# The innermost loops of matrix product tiles keep their vectors in registers: no load from or store to the stack.
# usage: check_gemm_loops.sh OBJDUMP LEAST OBJECT...
# LEAST: how many such loops there must be at least, so that a check of nothing fails.
set -euo pipefail
objdump=$1 least=$2
shift 2
"$objdump" -d -C --no-show-raw-insn "$@" | awk -v least="$least" '
  # Hexadecimal text to a number.
  function number(text,   i, n) {
    n = 0
    for (i = 1; i <= length(text); ++i) n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n
  }
  /^[0-9a-f]+ <.*>:$/ { name = $0; count = 0; next }
  name ~ /tile</ && /^ *[0-9a-f]+:/ {
    address = $1; sub(":", "", address)
    line[count] = $0; at[count] = number(address); turn[count] = 0
    # Code that was set aside ends in an unconditional jump back.
    if ($0 ~ /[ \t](j[a-z]+|b\.[a-z]+|cbnz|cbz|tbnz)[ \t]/ && $2 !~ /^jmp/) {
      target = $0; sub(/ *<.*/, "", target); sub(/.*[ \t,]/, "", target); sub("^0x", "", target)
      to = number(target)
      # A turn backwards within the function; innermost when no other turn lies inside.
      if (to <= at[count] && to >= at[0]) {
        turn[count] = 1; products = 0; spills = ""; inner = 1
        for (i = count - 1; i >= 0 && at[i] >= to; --i) {
          if (turn[i]) inner = 0
          if (line[i] ~ /vpdpbusd|vpmaddwd|vpmaddubsw|sdot|smmla|smull|smlal|sadalp/) ++products
          if (line[i] ~ /%[xyz]mm[0-9]+, *-?(0x)?[0-9a-f]*\(%rsp/ || line[i] ~ /\(%rsp[^)]*\),.*%[xyz]mm/ ||
              line[i] ~ /(str|ldr|stp|ldp|stur|ldur)[ \t]+q[0-9]+.*\[sp/) spills = spills "\n  " line[i]
        }
        if (inner && products >= 4) {
          ++loops
          if (spills != "") { ++bad; print name spills }
        }
      }
    }
    ++count
  }
  END {
    printf "%d loops, %d with vectors on the stack\n", loops, bad
    exit bad > 0 || loops < least
  }'
