#!/usr/bin/env bash
# Installs what the build needs on Debian 12; with --all also what the whole test run needs.
set -euo pipefail
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
packages=(cmake make g++ pkg-config libxsimd-dev libcpuinfo-dev libgtest-dev libbenchmark-dev libcli11-dev
          nlohmann-json3-dev libxxhash-dev)
foreign=()
if [ "${1:-}" = --all ]; then
  packages+=(clang qemu-user g++-aarch64-linux-gnu libdnnl-dev libxnnpack-dev)
  # libcpuinfo-dev exists for one architecture at a time; its headers are shared, the library is enough.
  foreign=(libgtest-dev:arm64 libbenchmark-dev:arm64 libxxhash-dev:arm64 libcpuinfo0:arm64)
fi
missing=()
for package in "${packages[@]}" "${foreign[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0
echo "installing ${missing[*]}"
[ "${#foreign[@]}" -eq 0 ] || $sudo dpkg --add-architecture arm64
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
