// Names of the table's entries, and which backend an entry's kernel comes from.
#pragma once

#include <cstddef>

#include "table/kernel_table.h"

namespace samebit {

using AnyKernel = void (*)();

struct Entry {
  const char* name;  // "<op>_<type>.<rule>", e.g. "add_s8.f32_fma"
  AnyKernel (*get)(const KernelTable&);
};

size_t entry_count();
const Entry& entry(size_t index);
/// Index of "<op>_<type>.<rule>" ("<op>.<rule>" when type is null), or entry_count().
size_t find_entry(const char* op, const char* type, const char* rule);

/// The backend whose own kernel `index` is, seen from a usable backend: parents are followed while the
/// pointer is equal.
size_t owner(size_t backend, size_t index);

/// "<owner>/<name>" in static storage.
const char* kernel_name(size_t backend, size_t index);

}  // namespace samebit
