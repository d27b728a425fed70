#!/bin/bash
# Builds and tests everything on one x86-64 machine: this CPU, older x86 CPUs and arm64 CPUs under emulation, two
# compilers, an installed copy used from outside, and the digests that are equal on every machine. Stops at the first
# stage that fails. Last line: 'N passed, N failed'.
#
#   scripts/test.sh              all stages
#   scripts/test.sh native arm64 only these: native haswell nehalem clang arm64 install
#
# BUILD_DIR (default: build) holds the builds; JOBS (default: all CPUs) limits parallel work.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=${BUILD_DIR:-$root/build}
jobs=${JOBS:-$(nproc)}
stages=("$@")
passed=0 failed=0 values=0
summary=()

for stage in "$@"; do
  case $stage in native | haswell | nehalem | clang | arm64 | install) ;; *) echo "unknown stage $stage" >&2; exit 2 ;; esac
done
wanted() { [[ ${#stages[@]} -eq 0 || " ${stages[*]} " == *" $1 "* ]]; }
say() { printf '\n== %s\n' "$*"; }

finish() {
  printf '\n== summary (%d min %02d s)\n' $((SECONDS / 60)) $((SECONDS % 60))
  ((${#summary[@]} == 0)) || printf '%s\n' "${summary[@]}"
  printf '%s values compared\n' "$values"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}

# Adds a stage to the summary: name, tests passed, failed, skipped, values compared.
record() {
  passed=$((passed + $2)) failed=$((failed + $3)) values=$((values + $5))
  summary+=("$(printf '%-22s %5d passed %3d failed %4d skipped %14d values' "$@")")
  [[ $3 -eq 0 ]] || finish
}

# A step that is no test of its own; the log is shown only when it fails.
step() {
  local log=$build/$1.log
  shift
  mkdir -p "$build"
  "$@" >"$log" 2>&1 && return
  echo "failed: $*"
  tail -n 60 "$log"
  record "${log##*/}" 0 1 0 0
}

# configure_and_build FOLDER cmake arguments...
configure_and_build() {
  local folder=$build/$1
  shift
  step "${folder##*/}-configure" cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release "$@"
  step "${folder##*/}-build" cmake --build "$folder" -j "$jobs"
}

# run_tests NAME FOLDER REQUIRED_BACKENDS EFFORT: ctest, then the numbers that its programs printed.
run_tests() {
  local folder=$build/$2 status=0 log program_tests plain
  say "tests: $1"
  SAMEBIT_REQUIRE=$3 SAMEBIT_EFFORT=$4 ctest --test-dir "$folder" -j "$jobs" --output-on-failure || status=$?
  log=$folder/Testing/Temporary/LastTest.log
  [[ -f $log ]] || { record "$1" 0 1 0 0; return; }
  # One line per backend or CPU class, printed by the programs that count.
  grep -aE '^(compared|golden|skipped) ' "$log" | sort -u
  local gtest_passed gtest_failed gtest_skipped compared
  gtest_passed=$(awk '/^\[  PASSED  \]/ { n += $4 } END { print n + 0 }' "$log")
  gtest_failed=$(awk '/^ *[0-9]+ FAILED TESTS?/ { n += $1 } END { print n + 0 }' "$log")
  gtest_skipped=$(awk '/^\[  SKIPPED \] [0-9]+ tests?/ { n += $4 } END { print n + 0 }' "$log")
  compared=$(grep -aE '^(compared|golden) ' "$log" | grep -oE '[0-9]+ values' | awk '{ n += $1 } END { print n + 0 }')
  # Programs and scripts without GoogleTest count as one test each.
  program_tests=$(grep -acE '^\[==========\] .* ran\.' "$log")
  plain=$(($(grep -acE '^Test Passed\.' "$log") - program_tests))
  ((plain >= 0)) || plain=0
  ((status == 0 || gtest_failed > 0)) || gtest_failed=1
  record "$1" $((gtest_passed + plain)) "$gtest_failed" "$gtest_skipped" "$compared"
}

# crosscheck NAME FOLDER [emulator...]: all digests, compared with the committed ones.
crosscheck() {
  local name=$1 folder=$build/$2 out=$build/crosscheck-$1.txt golden=$root/test/golden/crosscheck.txt effort lines
  effort=$(sed -nE '1s/.*effort ([a-z]+).*/\1/p' "$golden")  # the golden file says what it was made with
  shift 2
  say "crosscheck: $name"
  rm -f "$out"
  if "$@" "$folder/tools/samebit" crosscheck --effort "$effort" --out "$out" &&
    "$@" "$folder/tools/samebit" crosscheck --compare "$golden" "$out"; then
    lines=$(grep -cvE '^(#|$)' "$out")
    record "crosscheck $name" "$lines" 0 0 "$(awk '!/^#/ { n += $4 } END { print n + 0 }' "$out")"
  else
    record "crosscheck $name" 0 1 0 0
  fi
}

say "packages"
scripts/install_packages.sh --all || { record packages 0 1 0 0; }

if wanted native || wanted haswell || wanted nehalem || wanted install; then
  say "build: native, $(${CXX:-c++} --version | head -1)"
  # samebit.pc holds the prefix that was configured.
  configure_and_build native -DCMAKE_CROSSCOMPILING_EMULATOR= "-DCMAKE_INSTALL_PREFIX=$build/installed"
fi
if wanted native; then
  run_tests native native scalar quick
  crosscheck native native
fi

# The same binaries on emulated CPUs: an instruction that such a CPU does not have ends the program.
# CMake puts the emulator before every test program; scripts run as they are.
emulated() {
  step "native-$1" cmake -S "$root" -B "$build/native" "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-x86_64;-cpu;$1"
  run_tests "x86-64 $1" native "$2" small
  step "native-$1" cmake -S "$root" -B "$build/native" -DCMAKE_CROSSCOMPILING_EMULATOR=
  crosscheck "$1" native qemu-x86_64 -cpu "$1"
}
wanted haswell && emulated Haswell scalar,avx2
wanted nehalem && emulated Nehalem scalar

if wanted clang; then
  say "build: clang, $(clang++ --version | head -1)"
  configure_and_build clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
  run_tests clang clang scalar small
  crosscheck clang clang
fi

if wanted arm64; then
  say "build: arm64, $(aarch64-linux-gnu-g++ --version | head -1)"
  configure_and_build arm64 "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/arm64-toolchain.cmake"
  for cpu in cortex-a53 neoverse-n1 max; do
    case $cpu in
      cortex-a53) backends=scalar,neon ;;
      neoverse-n1) backends=scalar,neon,neon_dot ;;
      *) backends=scalar,neon,neon_dot,neon_i8mm ;;
    esac
    step "arm64-$cpu" cmake -S "$root" -B "$build/arm64" "-DSAMEBIT_QEMU_CPU=$cpu"
    run_tests "arm64 $cpu" arm64 "$backends" small
    crosscheck "$cpu" arm64 qemu-aarch64 -cpu "$cpu" -L /usr/aarch64-linux-gnu \
      -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:/usr/lib/aarch64-linux-gnu
  done
fi

if wanted install; then
  say "install: the library used from outside, C99 and C++17, static and shared"
  rm -rf "$build/installed" "$build/consumers"
  step install cmake --install "$build/native"
  if test/check_consumers.sh "$build/installed" "$build/consumers" | tee "$build/consumers.log"; then
    record consumers "$(grep -c ': 0 failures$' "$build/consumers.log")" 0 0 0
  else
    record consumers 0 1 0 0
  fi
fi

finish
