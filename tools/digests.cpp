#include "tools/digests.h"

#include <xxhash.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "core/registry.h"

namespace samebit::tools {

using probe::Case;
using probe::Output;
using probe::Probe;

namespace {

/// Bytes of one output value: 1 for codes, 4 for float32.
size_t width(const Case& c, const Output& out) { return c.size ? out.bytes.size() / c.size : 1; }

}  // namespace

std::string digest(const std::vector<uint8_t>& bytes) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH64(bytes.data(), bytes.size(), 0)));
  return text;
}

const Probe& find_probe(const std::string& name) {
  for (const Probe& p : probe::probes())
    if (name == p.name) return p;
  throw std::runtime_error("no probe is named \"" + name + "\"; samebit info lists them as kernels");
}

std::string case_text(const std::string& probe, const Case& c) {
  return probe + " " + std::to_string(c.seed) + " " + std::to_string(c.size) + " " +
         std::to_string(c.variant);
}

std::vector<size_t> usable_backends(const std::string& only) {
  std::vector<size_t> list;
  if (!only.empty() && find_backend(only.c_str()) == backend_count())
    throw std::runtime_error("--backend is \"" + only +
                             "\", which this program does not have; see samebit info");
  for (size_t i = 1; i < backend_count(); ++i) {
    const bool wanted = only.empty() || only == backend(i).name;
    const char* missing = backend(i).missing(cpu());
    if (wanted && missing && !only.empty())
      throw std::runtime_error("--backend is \"" + only + "\"; this CPU lacks " + missing);
    if (wanted && !missing) list.push_back(i);
  }
  return list;
}

size_t first_difference(const Case& c, const Output& want, const Output& got) {
  size_t i = 0;
  while (i < want.bytes.size() && i < got.bytes.size() && want.bytes[i] == got.bytes[i]) ++i;
  return i / width(c, want);
}

std::string value_text(const Probe& p, const Case& c, const Output& out, size_t index) {
  const size_t bytes = width(c, out);
  if ((index + 1) * bytes > out.bytes.size()) return "no value";
  const uint8_t* at = out.bytes.data() + index * bytes;
  char text[64];
  if (bytes == sizeof(float)) {
    uint32_t bits;
    float value;
    std::memcpy(&bits, at, sizeof bits);
    std::memcpy(&value, at, sizeof value);
    std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(value), bits);
  } else {
    const bool is_signed = std::strstr(p.name, "_s8") != nullptr;
    std::snprintf(text, sizeof text, "%d", is_signed ? static_cast<int8_t>(*at) : *at);
  }
  return text;
}

std::string describe(const Probe& p, const Case& c, const Output& out, size_t index) {
  return p.describe(c, index * width(c, out));  // probes count output bytes
}

}  // namespace samebit::tools
