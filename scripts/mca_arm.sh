#!/usr/bin/env bash
# Predicts how fast the loops of the arm64 matrix products are: compiles them to assembly, cuts the hot loops out and
# asks llvm-mca. Prints the table of docs/performance.md. A model of the CPU's pipes only: loads always hit the first
# cache, and nothing is measured.
#
#   scripts/mca_arm.sh           LLVM_MCA (default: the newest llvm-mca-N that is installed) and CXX choose the tools
#
# Share: cycles that the multiplications of the loop take alone, on registers of their own, by the cycles of the loop.
set -euo pipefail
cd "$(dirname "$0")/.."
cxx=${CXX:-aarch64-linux-gnu-g++}
mca=${LLVM_MCA:-$(compgen -c llvm-mca | sort -V | tail -1)}
[[ -n $mca ]] || { echo "llvm-mca is missing: apt-get install llvm-19" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# backend flags: assembly of src/arm/backend.cpp. The flags are those of cmake/isa.cmake.
assemble() {
  local backend=$1
  shift
  "$cxx" -std=c++20 -O2 -ffp-contract=off -falign-loops=64 -fno-exceptions -fno-asynchronous-unwind-tables -Iinclude -Isrc \
    "$@" -S -o "$work/$backend.s" "src/arm/$backend.cpp"
}
assemble neon -march=armv8-a -Dxsimd=samebit_xsimd_neon
assemble neon_dot -march=armv8.2-a+dotprod -fno-schedule-insns
assemble neon_i8mm -march=armv8.2-a+dotprod+i8mm -fno-schedule-insns

# loop BACKEND FUNCTION: the innermost loop with most products of the function whose mangled name contains FUNCTION.
loop() {
  awk -v function_name="$2" '
    /^[^ \t.].*:$/ { inside = index($0, function_name) > 0 }
    inside && /^\.L[0-9]+:/ { label = $1; sub(":", "", label); body = ""; products = 0; next }
    inside && /^\t[a-z]/ {
      body = body $0 "\n"
      if ($1 ~ /^(sdot|smmla|smull2?|smlal2?)$/) ++products
      if ($1 ~ /^(b\.?[a-z]+|cbn?z)$/ && $NF == label && products > best) { best = products; text = body }
    }
    END { printf "%s", text }' "$work/$1.s"
}

# cycles CPU FEATURES FILE: per iteration.
cycles() {
  "$mca" -mtriple=aarch64 -mcpu="$1" -mattr="$2" -iterations=1000 "$3" 2>/dev/null |
    awk '/^Total Cycles:/ { printf "%.1f", $3 / 1000 }'
}

# The multiplications of a loop on registers that nothing else uses: their throughput.
products_alone() {
  awk '$1 ~ /^(sdot|smmla|smull2?|smlal2?)$/ {
    op = $1; n = count++ % 24
    if (op == "sdot") printf "\tsdot v%d.4s, v30.16b, v31.16b\n", n
    else if (op == "smmla") printf "\tsmmla v%d.4s, v30.16b, v31.16b\n", n
    else printf "\t%s v%d.8h, v30.%sb, v31.%sb\n", op, n, op ~ /2$/ ? "16" : "8", op ~ /2$/ ? "16" : "8"
  }' "$1"
}

# row BACKEND FUNCTION TITLE PRODUCTS FEATURES CPU...
row() {
  local backend=$1 function=$2 title=$3 products=$4 features=$5 cpu c alone instructions
  shift 5
  loop "$backend" "$function" >"$work/loop.s"
  products_alone "$work/loop.s" >"$work/alone.s"
  instructions=$(wc -l <"$work/loop.s")
  [[ $instructions -gt 0 ]] || { echo "no loop in $function" >&2; exit 1; }
  printf '| `%s` %s | %d | %d' "$backend" "$title" "$products" "$instructions"
  for cpu in "$@"; do
    if [[ $cpu == - ]]; then printf ' | '; continue; fi
    c=$(cycles "$cpu" "$features" "$work/loop.s")
    alone=$(cycles "$cpu" "$features" "$work/alone.s")
    awk -v c="$c" -v alone="$alone" 'BEGIN { printf " | %.1f, %.0f %%", c, 100 * alone / c }'
  done
  printf ' |\n'
}

all=(neoverse-n1 neoverse-v1 cortex-a76 cortex-a55)
mm=(- neoverse-v1 - -)
echo "$("$mca" --version | grep -m1 'LLVM version' | sed 's/^ *//'), $("$cxx" --version | head -1)"
echo
echo "| tile | products | instructions | Neoverse N1 | Neoverse V1 | Cortex-A76 | Cortex-A55 |"
echo "|---|---|---|---|---|---|---|"
row neon_dot tileILi6ELi4E '6 x 16' $((6 * 16 * 16)) +dotprod "${all[@]}"
row neon_dot tileILi4ELi4E '4 x 16' $((4 * 16 * 16)) +dotprod "${all[@]}"
row neon_dot tileILi1ELi4E '1 x 16' $((1 * 16 * 16)) +dotprod "${all[@]}"
row neon_dot tileILi6ELi1E '6 x 4' $((6 * 4 * 16)) +dotprod "${all[@]}"
row neon_i8mm tileILi3ELb0ELi4E '6 x 16' $((6 * 16 * 16)) +dotprod,+i8mm "${mm[@]}"
row neon_i8mm tileILi2ELb0ELi4E '4 x 16' $((4 * 16 * 16)) +dotprod,+i8mm "${mm[@]}"
row neon_i8mm tileILi1ELb1ELi4E '1 x 16' $((1 * 16 * 16)) +dotprod,+i8mm "${mm[@]}"
row neon tileILi4ELi1ELb0E '4 x 4' $((4 * 4 * 16)) +neon "${all[@]}"
row neon tileILi4ELi1ELb1E '4 x 4, no -128 in B, or pairwrap' $((4 * 4 * 16)) +neon "${all[@]}"
row neon tileILi1ELi2ELb0E '1 x 4' $((1 * 4 * 32)) +neon "${all[@]}"
