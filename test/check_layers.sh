#!/bin/bash
# The layers of docs/architecture.md: every #include "..." of src/, include/, probe/ and tools/ goes downwards or stays
# in its folder. Also: profiles are looked at in src/params only (and passed through by src/api).
#   check_layers.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

# Folder -> the folders it may include. `public` is include/samebit.
allowed() {
  case "$1" in
    public) echo "public" ;;
    params) echo "public table params" ;;
    table) echo "public table" ;;
    simd) echo "public table simd" ;;
    scalar | x86 | arm) echo "public params table simd $1" ;;
    core) echo "public params table core" ;;
    api) echo "public params table core api" ;;
    probe) echo "public params table core probe" ;;
    tools | bench) echo "public params table core probe $1" ;;
    *) return 1 ;;
  esac
}

files=0 includes=0 failures=0
complain() {
  echo "$*"
  failures=$((failures + 1))
}

while IFS= read -r file; do
  case "$file" in
    include/samebit/*) layer=public ;;
    src/*) layer=${file#src/} layer=${layer%%/*} ;;
    *) layer=${file%%/*} ;;
  esac
  if ! list=" $(allowed "$layer") "; then
    complain "$file: folder $layer has no place in the layers; add it to $0 and docs/architecture.md"
    continue
  fi
  files=$((files + 1))
  while IFS=: read -r line text; do
    target=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*)[">].*/\1/' <<<"$text")
    case "$target" in
      samebit/*) folder=public ;;
      */*) folder=${target%%/*} ;;
      *) folder=$layer ;;  # beside the file
    esac
    includes=$((includes + 1))
    [[ $list == *" $folder "* ]] ||
      complain "$file:$line: $layer must not include $folder (\"$target\"); allowed:$list"
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<samebit/)' "$file" || true)
done < <(find include src probe tools bench -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \) | sort)

# Backends implement rules, never profiles.
while IFS= read -r hit; do
  complain "$hit: a profile is looked at outside src/params"
done < <(grep -nE 'SB_ORT_|SB_EXACT\b|sb_profile' -r src/table src/simd src/scalar src/x86 src/arm || true)

# ISA flags live in cmake/isa.cmake, not in pragmas or attributes.
while IFS= read -r hit; do
  complain "$hit: an instruction set is switched on in the source; use cmake/isa.cmake"
done < <(grep -nE '#pragma[[:space:]]+(GCC|clang)[[:space:]]+target|__attribute__\(\(target' -r src || true)

# A file without -m flags must not use vector intrinsics beyond the baseline.
while IFS= read -r hit; do
  complain "$hit: vector intrinsics outside src/x86 and src/arm"
done < <(grep -nE '\b_mm(256|512)_|#include <(immintrin|arm_neon)\.h>' -r src/params src/table src/simd src/scalar src/core src/api || true)

if [[ $files -lt 20 || $includes -lt 20 ]]; then
  complain "only $files files and $includes includes were looked at: this check checked nothing"
fi
echo "layers: $files files, $includes includes, $failures violations"
[[ $failures -eq 0 ]]
