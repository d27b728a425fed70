#!/bin/bash
# The shared library exports the functions of samebit.h and nothing else.
#   check_exports.sh NM LIBRARY [ROOT]
set -euo pipefail
nm=$1 library=$2 root=${3:-$(dirname "$0")/..}

exported=$("$nm" -D --defined-only "$library" | awk '$2 !~ /^[Aa]$/ { print $3 }' | sed 's/@.*//' | sort -u)
# A declaration is `SAMEBIT_API <type> sb_name(`, possibly over two lines.
declared=$(tr '\n' ' ' <"$root/include/samebit/samebit.h" | grep -oE 'SAMEBIT_API[^;(]*\bsb_[a-z0-9_]+ *\(' |
  grep -oE 'sb_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u)

failures=0
foreign=$(comm -23 <(echo "$exported") <(echo "$declared"))
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
[[ -z $foreign ]] || { echo "exported but not declared in samebit.h: ${foreign//$'\n'/ }"; failures=1; }
[[ -z $missing ]] || { echo "declared in samebit.h but not exported: ${missing//$'\n'/ }"; failures=1; }
count=$(wc -l <<<"$exported")
[[ $count -ge 20 ]] || { echo "only $count symbols found: this check checked nothing"; failures=1; }
echo "exports: $count symbols, all sb_* of samebit.h: $([[ $failures -eq 0 ]] && echo yes || echo no)"
exit $failures
