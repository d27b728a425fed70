#!/bin/bash
# Shows on a fresh Debian 12 what samebit is about: the reported disagreement step by step, every kernel of this CPU
# compared with the scalar reference, and how fast the kernels are.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}/demo
jobs=${JOBS:-$(nproc)}
say() { printf '\n== %s\n' "$*"; }

say "packages and build"
scripts/install_packages.sh
mkdir -p "$build"
if ! { cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSAMEBIT_BUILD_TESTS=OFF &&
  cmake --build "$build" -j "$jobs"; } >"$build/build.log" 2>&1; then
  tail -n 60 "$build/build.log"
  exit 1
fi
echo "built in $build"
samebit=$build/tools/samebit

say "this CPU"
"$samebit" info

say "the same int8 model, two answers: QLinearAdd gives -88 on x64 and -87 on arm64"
"$samebit" explain QLinearAdd --type int8 --a -8 --b -64 \
  --a-scale 0.008010663092136383 --a-zero-point 7 \
  --b-scale 0.00622713053599 --b-zero-point -128 \
  --y-scale 0.006873490754514933 --y-zero-point -128

say "every kernel of this CPU against the scalar reference, and against the digests of all other CPUs"
"$samebit" crosscheck --effort small --out "$build/crosscheck.txt"
"$samebit" crosscheck --compare test/golden/crosscheck.txt "$build/crosscheck.txt"

if [[ -x $build/bench/samebit_bench ]]; then
  say "speed of some kernels, 65,536 and 1,048,576 values (all: $build/bench/samebit_bench)"
  "$build/bench/samebit_bench" --benchmark_min_time=0.05 --benchmark_filter='^copy|^(add_s8.f32_fma|add_s8.fixed21|mul_s8.f32_mul_add|quantize_s8.f32_reciprocal|dequantize_s8.f32|requantize_s8.f32_clamp)/.*/(65536|1048576)$'
fi
