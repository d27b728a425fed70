#!/usr/bin/env bash
# Builds and tests everything that one x86-64 machine can: native with g++ and clang, older CPUs and arm64 by emulation.
# usage: scripts/test.sh [STAGE...]   stages: gcc old-x86 clang arm64 (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh --all
jobs=${JOBS:-$(nproc)}
stages=("$@")
[ "${#stages[@]}" -gt 0 ] || stages=(gcc old-x86 clang arm64)
build=${SAMEBIT_BUILD_DIR:-build}
logs=$build/logs
mkdir -p "$logs"
passed=0 failed=0

# Configures and builds: configure NAME ARGUMENTS...
configure() {
  local name=$1
  shift
  cmake -S . -B "$build/$name" -DCMAKE_BUILD_TYPE=Release "$@" >"$logs/$name.configure" || { cat "$logs/$name.configure"; exit 1; }
  cmake --build "$build/$name" -j "$jobs" >"$logs/$name.build" 2>&1 || { tail -50 "$logs/$name.build"; exit 1; }
}

# Runs a test command, shows what it compared, counts it: check NAME COMMAND...
check() {
  local name=$1
  shift
  local start=$SECONDS log="$logs/$name.log"
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -60 "$log"
  fi
  grep -hE '^(compared|skipped|golden) ' "$log" | sed 's/^/          /' || true
}

# The test programs of a build, one after the other: programs NAME BUILD EMULATOR...
programs() {
  local name=$1 dir=$2
  shift 2
  for program in "$dir"/test/*_test; do
    check "$name $(basename "$program")" "$@" "$program"
  done
}

for stage in "${stages[@]}"; do
  echo "== $stage"
  case $stage in
    gcc)
      configure gcc
      programs gcc "$build/gcc"
      check "gcc source and object checks" ctest --test-dir "$build/gcc" -R 'layers|isa_object|exports|baseline' --output-on-failure ;;
    old-x86)
      configure gcc
      SAMEBIT_REQUIRE=avx2 programs haswell "$build/gcc" qemu-x86_64 -cpu Haswell
      programs nehalem "$build/gcc" qemu-x86_64 -cpu Nehalem ;;
    clang)
      configure clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang
      check "clang ctest" ctest --test-dir "$build/clang" --output-on-failure ;;
    arm64)
      configure arm64 -DCMAKE_TOOLCHAIN_FILE=cmake/arm64-toolchain.cmake
      for cpu in cortex-a53 neoverse-n1 max; do
        SAMEBIT_REQUIRE=neon programs "$cpu" "$build/arm64" qemu-aarch64 -cpu "$cpu" -L /usr/aarch64-linux-gnu \
          -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:/usr/lib/aarch64-linux-gnu
      done ;;
    *) echo "unknown stage $stage"; exit 2 ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
