#!/bin/bash
# Objects of an instruction set (path .../src/x86/<isa>.cpp.o or .../src/arm/<isa>.cpp.o) define exactly one global text
# symbol, samebit::fill_<isa>, and no weak or unique one: a weak inline function compiled with -mavx512f could replace
# the baseline's copy at link time and crash an older CPU. All other objects are baseline code and use no ymm or zmm
# register.
#   check_isa_objects.sh NM OBJDUMP OBJECT...
set -euo pipefail
nm=$1 objdump=$2
shift 2

isa_objects=0 base_objects=0 failures=0
complain() {
  echo "$*"
  failures=$((failures + 1))
}

for object in "$@"; do
  case "$object" in
    */src/x86/* | */src/arm/*)
      isa_objects=$((isa_objects + 1))
      name=$(basename "$object") name=${name%%.*}
      defined=$("$nm" --defined-only "$object")
      # T global text, W and V weak, u unique; w and v are undefined weak and do not appear here.
      globals=$(awk '$2 == "T" { print $3 }' <<<"$defined")
      want=_ZN7samebit$((5 + ${#name}))fill_${name}ERNS_11KernelTableE
      [[ $globals == "$want" ]] ||
        complain "$object: global text symbols are: ${globals//$'\n'/ }; expected only $want"
      weak=$(awk '$2 ~ /^[WVu]$/ { print $3 }' <<<"$defined")
      [[ -z $weak ]] || complain "$object: weak symbols: ${weak//$'\n'/ }"
      data=$(awk '$2 ~ /^[BDGSR]$/ { print $3 }' <<<"$defined" | grep -v '^DW\.ref\.' || true)
      [[ -z $data ]] || complain "$object: global data: ${data//$'\n'/ }"
      ;;
    *)
      base_objects=$((base_objects + 1))
      wide=$("$objdump" -d "$object" | grep -cE '%(y|z)mm[0-9]' || true)
      [[ $wide -eq 0 ]] || complain "$object: $wide instructions use ymm or zmm registers in baseline code"
      ;;
  esac
done

[[ $isa_objects -gt 0 ]] || complain "no object of an instruction set was given: this check checked nothing"
[[ $base_objects -gt 0 ]] || complain "no baseline object was given: this check checked half"
echo "objects: $isa_objects of instruction sets, $base_objects baseline, $failures violations"
[[ $failures -eq 0 ]]
