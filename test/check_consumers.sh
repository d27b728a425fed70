#!/bin/bash
# Uses an installed samebit from outside, as find_package and as pkg-config give it, in C99 and in C++17, static and
# shared. Prints one line per program.
#   check_consumers.sh PREFIX WORK_DIR      PREFIX is where `cmake --install` put the library
set -euo pipefail
prefix=$(realpath "$1") work=$2 root=$(realpath "$(dirname "$0")")
cc=${CC:-cc} cxx=${CXX:-c++}
programs=0
mkdir -p "$work"

for consumer in consumer_c99 consumer_cpp17; do
  cmake -S "$root/$consumer" -B "$work/$consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/$consumer.log"
  cmake --build "$work/$consumer" >>"$work/$consumer.log"
  for kind in static shared; do
    echo "find_package $consumer $kind: $("$work/$consumer/consumer_$kind")"
    programs=$((programs + 1))
  done
done

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name samebit.pc | head -1)")
export PKG_CONFIG_PATH
read -ra cflags <<<"$(pkg-config --cflags samebit)"
read -ra libs <<<"$(pkg-config --libs samebit)"
read -ra static_libs <<<"$(pkg-config --libs --static samebit)"
libdir=$(pkg-config --variable=libdir samebit)
warnings=(-Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off)
c99=("$cc" -std=c99 "${warnings[@]}" "${cflags[@]}" "$root/consumer_c99/main.c")
cpp17=("$cxx" -std=c++17 "${warnings[@]}" "${cflags[@]}" "$root/consumer_cpp17/main.cpp")
# -l:libsamebit.a: with both libraries in one folder -lsamebit means the shared one.
static_libs=("${static_libs[@]/#-lsamebit/-l:libsamebit.a}")
"${c99[@]}" "${libs[@]}" -Wl,-rpath,"$libdir" -o "$work/c99_shared"
"${c99[@]}" "${static_libs[@]}" -o "$work/c99_static"
"${cpp17[@]}" "${libs[@]}" -Wl,-rpath,"$libdir" -o "$work/cpp17_shared"
"${cpp17[@]}" "${static_libs[@]}" -o "$work/cpp17_static"
for program in c99_shared c99_static cpp17_shared cpp17_static; do
  if [[ $program == *_static ]] && ldd "$work/$program" | grep -q libsamebit; then
    echo "$program uses the shared library" >&2
    exit 1
  fi
  echo "pkg-config $program: $("$work/$program")"
  programs=$((programs + 1))
done
echo "consumers: $programs programs passed"
