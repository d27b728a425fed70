#!/bin/bash
# The program `samebit`: texts, exit status, and files of its subcommands.
#   cli_test.sh [EMULATOR...] PROGRAM
# SAMEBIT_CLI_PROBES lists the kernels that crosscheck runs here, or "all"; the default is one per operator.
set -uo pipefail
[[ $# -gt 0 ]] || { echo "usage: $0 [EMULATOR...] PROGRAM" >&2; exit 2; }
program=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
checks=0 failures=0

# run STATUS ARGUMENTS...: runs the program; its two outputs are in $text.
run() {
  local want=$1 status=0
  shift
  text=$("${program[@]}" "$@" 2>&1) || status=$?
  line="samebit $*"
  checks=$((checks + 1))
  [[ $status -eq $want ]] && return
  failures=$((failures + 1))
  printf 'FAILED %s\n  status %s, expected %s\n%s\n' "$line" "$status" "$want" "$text"
}
# has TEXT, lacks TEXT: whether the last run's output contains TEXT.
has() {
  checks=$((checks + 1))
  [[ $text == *"$1"* ]] && return
  failures=$((failures + 1))
  printf 'FAILED %s\n  lacks: %s\n%s\n' "$line" "$1" "$text"
}
lacks() {
  checks=$((checks + 1))
  [[ $text != *"$1"* ]] && return
  failures=$((failures + 1))
  printf 'FAILED %s\n  has: %s\n%s\n' "$line" "$1" "$text"
}

# ---- program
run 0 --version && has .
run 0 --help && has crosscheck
run 2 && has "subcommand is required"
run 2 nonsense

# ---- info
run 0 info
for word in samebit backends "scalar      usable" add_s8.f32_fma dequantize_s32.exact ort_arm64_neon fixed21; do
  has "$word"
done
run 0 info --json && has '"kernels"'
run 0 info --markdown && has '| `add_s8.f32_fma` |' && has '| QLinearAdd | f32_fma |'
run 2 info --json --markdown

# ---- explain: the reported disagreement
reported=(--type int8 --a -8 --b -64 --a-scale 0.008010663092136383 --a-zero-point 7
  --b-scale 0.00622713053599 --b-zero-point -128 --y-scale 0.006873490754514933 --y-zero-point -128)
run 0 explain QLinearAdd "${reported[@]}"
has "-88: ort_x64_vnni, ort_x64_avx2, ort_x64_sse   -87: ort_arm64_dot, ort_arm64_neon, exact"
has "ort_x64_vnni, ort_x64_avx2: rule f32_fma"
has "ort_arm64_dot, ort_arm64_neon: rule fixed21"
has "-0x1.5ep+6              0 from a tie"
has "why: f32_fma, f32_mul_add: -87.5, exactly on a tie, rounded half to even, gives -88; fixed21: 40.50000763,"
has "in real numbers this is no tie, earlier roundings of f32_fma, f32_mul_add make it one"
run 0 explain QLinearAdd "${reported[@]}" --profile ort_arm64_dot && has "-87: ort_arm64_dot" && lacks f32_fma
run 0 explain QLinearAdd "${reported[@]}" --json && has '"why"' && has '"tie_distance"' && has '"hex": "-0x1.5ep+6"'

# Every form names the operands that were given: a_scale / y_scale is 1/2, b_scale / y_scale is 1/4.
for form in vector scalar_a scalar_b; do
  run 0 explain QLinearAdd --form $form --a 10 --b 20 --a-scale 0.5 --b-scale 0.25 --y-scale 1
  has "ra = f32(a_scale / y_scale)                                                   0.5  0x1p-1"
  has "rb = f32(b_scale / y_scale)                                                  0.25  0x1p-2"
  has "all agree, 10: "
done

# ---- explain: the other operators, special values, numbers that are no float32
run 0 explain QLinearMul --type uint8 --a 200 --b 3 --a-scale 0.5 --b-scale 0.25 --y-scale 1 && has "all agree, 75"
run 0 explain QuantizeLinear --type uint8 --x 2.5 --y-scale 1 --y-zero-point 1 && has "all agree, 3" && lacks note
run 0 explain QuantizeLinear --x 0x1.8p1 --y-scale 0.1 && has "note: --y-scale 0.1 is no float32; 0.100000001"
run 0 explain QuantizeLinear --x -inf --y-scale 1 && has "all agree, -128"
run 0 explain QuantizeLinear --x nan --y-scale 1 && has "all agree, -128"
run 0 explain DequantizeLinear --type int32 --x 16777217 --x-scale 0.5 && has "all agree, 8388608"
run 0 explain DequantizeLinear --x 5 --x-scale nan && has "exact is left out" &&
  has "all agree, nan: ort_x64_vnni, ort_x64_avx2, ort_x64_sse, ort_arm64_dot, ort_arm64_neon"
run 0 explain Requantize --acc 100 --bias -1 --scale 0.5 --y-zero-point 3 && has "all agree, 53"
run 0 explain Requantize --acc 100 --scale nan --y-zero-point 3 &&
  has "-128: ort_x64_vnni, ort_x64_avx2, ort_x64_sse   3: ort_arm64_dot, ort_arm64_neon" && has "NaN becomes"

run 0 explain QLinearMatMul --type uint8 --a 210,198,234 --b=-81,-80,127 --a-scale 1 --b-scale 1 --y-scale 100 --y-zero-point 60 &&
  has "pairsat" && has "30: ort_x64_avx2" && has "29: ort_x64_vnni, ort_x64_sse"
run 0 explain QLinearMatMul --a 117 --b 5 --a-scale 0.05296124517917633 --b-scale 0.024093778803944588 \
  --y-scale 0.11484327912330627 --y-zero-point -126 && has "-119: exact" && has "-120: ort_x64_vnni"
run 0 explain MatMulIntegerToFloat --a 3 --b 1 --a-scale 0.1 --b-scale 1 --bias=-0.3000000119209290 &&
  has "f32_fused" && has "0: ort_x64_vnni" && has "-7.45058"
run 2 explain QLinearMatMul --a 1,2 --b 1 --a-scale 1 --b-scale 1 --y-scale 1 && has "--a has 2 codes and --b 1"
run 2 explain QLinearMatMul --a 1,200 --b 1,1 --a-scale 1 --b-scale 1 --y-scale 1 && has "--a is 200"

# ---- explain: errors are a sentence that names the argument, and status 2
run 2 explain && run 2 explain Nonsense && run 2 explain QLinearAdd --a 1
run 2 explain QuantizeLinear --x 1 --y-scale 1 --y-zero-point 128 && has "--y-zero-point is 128"
run 2 explain DequantizeLinear --type uint8 --x -1 --x-scale 1 && has "--x is -1; it lies within [0, 255]"
run 2 explain QuantizeLinear --x abc --y-scale 1 && has '--x is "abc", not a number'
run 2 explain QuantizeLinear --type int32 --x 1 --y-scale 1 && has '--type is "int32"'
run 2 explain QuantizeLinear --x 1 --y-scale 1 --profile ort && has ort_x64_vnni
run 2 explain QuantizeLinear --x 1 --y-scale 0 --profile exact && has "profile exact"

# ---- crosscheck: equal to scalar, files
some=(--effort small)
if [[ ${SAMEBIT_CLI_PROBES:-} != all ]]; then
  for probe in ${SAMEBIT_CLI_PROBES:-add_s8.f32_fma requantize_u8.exact dequantize_s32.f32}; do some+=(--probe "$probe"); done
fi
good=$folder/good edited=$folder/edited
run 0 crosscheck "${some[@]}" --out "$good" --cases && has " 0 differing"
run 0 crosscheck --compare "$good" "$good" && has " 0 differing"
grep -q '^add_s8.f32_fma [0-9a-f]\{16\} [0-9]* [0-9]*$' "$good" || { echo "FAILED no digest line"; failures=$((failures + 1)); }
checks=$((checks + 1))

# Another digest of one probe and of its third case.
third=$(grep '^case add_s8.f32_fma ' "$good" | sed -n 3p)
spot=${third% *} spot=${spot#case }
sed -E "s/^(case $spot) .*/\1 0000000000000000/; s/^add_s8.f32_fma [0-9a-f]*/add_s8.f32_fma 0000000000000000/" "$good" >"$edited"
run 1 crosscheck --compare "$good" "$edited"
has "DIFFERS add_s8.f32_fma" && has "1 differing" && has "--replay \"$spot\"" && has "scalar on this CPU agrees with $good"
lacks "DIFFERS requantize"
grep -v ^case "$good" >"$folder/plain"
grep -v ^case "$edited" | sed '/^requantize/d' >"$folder/short"
run 1 crosscheck --compare "$folder/plain" "$folder/short" && has missing && has "made with --cases"
sed 's/effort small/effort full/' "$good" >"$folder/full"
run 2 crosscheck --compare "$good" "$folder/full" && has "has full: their cases differ"
printf 'no digests\n' >"$folder/broken"
run 2 crosscheck --compare "$good" "$folder/broken"
run 2 crosscheck --compare "$good" "$folder/absent" && has "cannot read"

# ---- crosscheck: replay
run 0 crosscheck --replay "$spot" --out "$folder/replay" && has "samebit explain QLinearAdd" && has "value 0: scalar"
explanation=$(grep -m1 '^samebit explain' <<<"$text")
read -ra words <<<"${explanation#samebit }"
run 0 "${words[@]}" && has ort_x64_vnni
run 0 crosscheck --compare "$folder/replay" "$folder/replay" && has " 0 differing"
sed '3s/$/9/' "$folder/replay" >"$folder/replay2"
run 1 crosscheck --compare "$folder/replay" "$folder/replay2" && has "value 1"
run 2 crosscheck --replay "add_s8.f32_fma 1" && run 2 crosscheck --replay "nonsense 1 2 3"
run 2 crosscheck --replay "requantize_s8.f32_clamp 1 100 0" && has "no such case"
run 2 crosscheck --effort nonsense && run 2 crosscheck --backend nonsense && run 2 crosscheck --probe nonsense
run 2 crosscheck --cases
run 2 crosscheck "${some[@]}" --out "$folder/absent/file" && has "cannot write"

echo "cli: $checks checks, $failures failures"
[[ $failures -eq 0 && $checks -gt 100 ]]
