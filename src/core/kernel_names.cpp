#include "core/kernel_names.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "core/registry.h"

namespace samebit {
namespace {

template <class F>
AnyKernel any(F kernel) {
  return reinterpret_cast<AnyKernel>(reinterpret_cast<uintptr_t>(kernel));  // a function or a GemmKernel
}
AnyKernel any(const GemmKernel* kernel) { return any(const_cast<GemmKernel*>(kernel)); }

constexpr Entry kEntries[] = {
    {"add_s8.f32_fma", [](const KernelTable& k) { return any(k.s8.add_f32_fma); }},
    {"add_s8.f32_mul_add", [](const KernelTable& k) { return any(k.s8.add_f32_mul_add); }},
    {"add_s8.fixed21", [](const KernelTable& k) { return any(k.s8.add_fixed21); }},
    {"add_s8.f32_divide", [](const KernelTable& k) { return any(k.s8.add_f32_divide); }},
    {"add_s8.exact", [](const KernelTable& k) { return any(k.s8.add_exact); }},
    {"mul_s8.f32_mul_add", [](const KernelTable& k) { return any(k.s8.mul_f32_mul_add); }},
    {"mul_s8.f32_fma", [](const KernelTable& k) { return any(k.s8.mul_f32_fma); }},
    {"mul_s8.exact", [](const KernelTable& k) { return any(k.s8.mul_exact); }},
    {"quantize_s8.f32_divide", [](const KernelTable& k) { return any(k.s8.quantize_f32_divide); }},
    {"quantize_s8.f32_reciprocal", [](const KernelTable& k) { return any(k.s8.quantize_f32_reciprocal); }},
    {"quantize_s8.exact", [](const KernelTable& k) { return any(k.s8.quantize_exact); }},
    {"dequantize_s8.f32", [](const KernelTable& k) { return any(k.s8.dequantize_f32); }},
    {"dequantize_s8.f32_infinite", [](const KernelTable& k) { return any(k.s8.dequantize_f32_infinite); }},
    {"requantize_s8.f32_clamp", [](const KernelTable& k) { return any(k.s8.requantize_f32_clamp); }},
    {"requantize_s8.f32_saturate", [](const KernelTable& k) { return any(k.s8.requantize_f32_saturate); }},
    {"requantize_s8.exact", [](const KernelTable& k) { return any(k.s8.requantize_exact); }},
    {"lookup256_s8.table", [](const KernelTable& k) { return any(k.s8.lookup256); }},
    {"add_u8.f32_fma", [](const KernelTable& k) { return any(k.u8.add_f32_fma); }},
    {"add_u8.f32_mul_add", [](const KernelTable& k) { return any(k.u8.add_f32_mul_add); }},
    {"add_u8.fixed21", [](const KernelTable& k) { return any(k.u8.add_fixed21); }},
    {"add_u8.f32_divide", [](const KernelTable& k) { return any(k.u8.add_f32_divide); }},
    {"add_u8.exact", [](const KernelTable& k) { return any(k.u8.add_exact); }},
    {"mul_u8.f32_mul_add", [](const KernelTable& k) { return any(k.u8.mul_f32_mul_add); }},
    {"mul_u8.f32_fma", [](const KernelTable& k) { return any(k.u8.mul_f32_fma); }},
    {"mul_u8.exact", [](const KernelTable& k) { return any(k.u8.mul_exact); }},
    {"quantize_u8.f32_divide", [](const KernelTable& k) { return any(k.u8.quantize_f32_divide); }},
    {"quantize_u8.f32_reciprocal", [](const KernelTable& k) { return any(k.u8.quantize_f32_reciprocal); }},
    {"quantize_u8.exact", [](const KernelTable& k) { return any(k.u8.quantize_exact); }},
    {"dequantize_u8.f32", [](const KernelTable& k) { return any(k.u8.dequantize_f32); }},
    {"dequantize_u8.f32_infinite", [](const KernelTable& k) { return any(k.u8.dequantize_f32_infinite); }},
    {"requantize_u8.f32_clamp", [](const KernelTable& k) { return any(k.u8.requantize_f32_clamp); }},
    {"requantize_u8.f32_saturate", [](const KernelTable& k) { return any(k.u8.requantize_f32_saturate); }},
    {"requantize_u8.exact", [](const KernelTable& k) { return any(k.u8.requantize_exact); }},
    {"lookup256_u8.table", [](const KernelTable& k) { return any(k.u8.lookup256); }},
    {"dequantize_s32.f32", [](const KernelTable& k) { return any(k.dequantize_s32_f32); }},
    {"dequantize_s32.f32_infinite", [](const KernelTable& k) { return any(k.dequantize_s32_f32_infinite); }},
    {"dequantize_s32.exact", [](const KernelTable& k) { return any(k.dequantize_s32_exact); }},
    {"min_max.f32", [](const KernelTable& k) { return any(k.min_max_f32); }},
    {"gemm.exact", [](const KernelTable& k) { return any(k.gemm_exact); }},
    {"gemm.pairsat", [](const KernelTable& k) { return any(k.gemm_pairsat); }},
    {"gemm.pairwrap", [](const KernelTable& k) { return any(k.gemm_pairwrap); }},
};
constexpr size_t kEntryCount = sizeof kEntries / sizeof kEntries[0];
static_assert(sizeof(KernelTable) == (kEntryCount + 2) * sizeof(AnyKernel),
              "every kernel of the table has a name");

constexpr size_t kMaxBackends = 8;

struct Names {
  char text[kMaxBackends][kEntryCount][48];
};

Names build() {
  Names names{};
  for (size_t b = 0; b < backend_count() && b < kMaxBackends; ++b) {
    for (size_t i = 0; i < kEntryCount; ++i)
      std::snprintf(names.text[b][i], sizeof names.text[b][i], "%s/%s", backend(b).name, kEntries[i].name);
  }
  return names;
}

}  // namespace

size_t entry_count() { return kEntryCount; }

const Entry& entry(size_t index) { return kEntries[index]; }

size_t find_entry(const char* op, const char* type, const char* rule) {
  char name[48];
  if (type) std::snprintf(name, sizeof name, "%s_%s.%s", op, type, rule);
  else std::snprintf(name, sizeof name, "%s.%s", op, rule);
  size_t i = 0;
  while (i < kEntryCount && std::strcmp(kEntries[i].name, name) != 0) ++i;
  return i;
}

size_t owner(size_t index, size_t which) {
  while (const char* parent = backend(index).parent) {
    const size_t above = find_backend(parent);
    if (kEntries[which].get(table_for(above)) != kEntries[which].get(table_for(index))) break;
    index = above;
  }
  return index;
}

const char* kernel_name(size_t index, size_t which) {
  static const Names names = build();
  return names.text[owner(index, which)][which];
}

}  // namespace samebit
