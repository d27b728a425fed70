#!/bin/bash
# README.md shows the examples as they are: every block after a line `<!-- file: PATH -->` equals that file.
#   check_readme.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

failures=0 blocks=0
while IFS= read -r path; do
  blocks=$((blocks + 1))
  # Between the first ``` line after the marker and the next one.
  shown=$(awk -v marker="<!-- file: $path -->" '
    $0 == marker { armed = 1; next }
    armed && /^```/ { if (inside) exit; inside = 1; next }
    inside { print }' README.md)
  if ! diff <(cat "$path") <(echo "$shown") >/dev/null; then
    echo "README.md: the block of $path differs from the file:"
    diff "$path" <(echo "$shown") | head -20 || true
    failures=$((failures + 1))
  fi
done < <(sed -nE 's/^<!-- file: (.*) -->$/\1/p' README.md)

# Paths and links that the documents name exist.
while IFS=: read -r document target; do
  path=$(dirname "$document")/${target%%#*}
  [[ -e $path ]] || { echo "$document: link to $target, which does not exist"; failures=$((failures + 1)); }
done < <(grep -oHE '\]\([^)#:]+(#[^)]*)?\)' README.md CONTRIBUTING.md docs/*.md | sed -E 's/:\]\(/:/; s/\)$//')

[[ $blocks -gt 0 ]] || { echo "README.md has no block marked with a file: this check checked nothing"; failures=1; }
echo "readme: $blocks blocks compared, $failures violations"
[[ $failures -eq 0 ]]
