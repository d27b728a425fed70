#!/usr/bin/env bash
# Installs the Debian 12 packages that samebit is built and tested with. Quick and silent when all are there.
#
#   scripts/install_packages.sh         what the library, the programs, the benchmark and the native tests need
#   scripts/install_packages.sh --all   also clang, qemu, the arm64 cross compiler and libraries, and the libraries
#                                       that the benchmark compares with
set -euo pipefail

packages=(cmake g++ make pkg-config libxsimd-dev libcpuinfo-dev libgtest-dev libbenchmark-dev libcli11-dev
  nlohmann-json3-dev libxxhash-dev)
# libcpuinfo0:arm64 is enough for the cross build: the headers are those of the native -dev package.
all_packages=(clang qemu-user g++-aarch64-linux-gnu libgtest-dev:arm64 libbenchmark-dev:arm64 libxxhash-dev:arm64
  libcpuinfo0:arm64 libdnnl-dev libxnnpack-dev libpthreadpool-dev)

case "${1:-}" in
  '') ;;
  --all) packages+=("${all_packages[@]}") ;;
  *) echo "usage: $0 [--all]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "install_packages: not a Debian system; going on without installing: ${packages[*]}" >&2
  exit 0
fi

native=$(dpkg --print-architecture)
missing=()
for package in "${packages[@]}"; do
  # One line per installed architecture of the package; a name without architecture means the native one.
  architecture=$native
  [[ $package == *:* ]] && architecture=${package#*:}
  dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
    grep -xE "($architecture|all) installed" >/dev/null || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

root=()
[[ $(id -u) -eq 0 ]] || root=(sudo)
echo "installing ${missing[*]}"
if [[ ${missing[*]} == *:arm64* ]]; then
  # Adds the architecture to the package manager's list; nothing is installed by it.
  "${root[@]}" dpkg --add-architecture arm64
fi
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
