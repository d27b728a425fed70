// The dispatch of the library: one row per backend, weakest first.
#pragma once

#include "core/cpu.h"
#include "table/kernel_table.h"

namespace samebit {

struct Backend {
  const char* name;
  const char* parent;                  // whose kernels are inherited; null for scalar
  const char* (*missing)(const Cpu&);  // first missing CPU feature, null when usable
  void (*fill)(KernelTable&);
};

size_t backend_count();
const Backend& backend(size_t index);
/// Index of a name, or backend_count().
size_t find_backend(const char* name);
/// Index of the strongest usable backend that is `cap` or weaker (cap = backend_count() - 1: no cap).
size_t best_backend(size_t cap);
/// Parent's table, then the backend's own entries. Built once, thread-safe, immutable. Requires a usable
/// backend.
const KernelTable& table_for(size_t index);

}  // namespace samebit
