// Every kernel of every usable backend against the scalar one, on every case of its probe, byte for byte.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "core/registry.h"
#include "probe/probe.h"

namespace samebit {
namespace {

using probe::Case;
using probe::Output;
using probe::Probe;

struct Count {
  uint64_t kernels = 0, values = 0, differences = 0;
};
std::map<std::string, Count> g_counts;

probe::Effort effort() {
  const char* text = std::getenv("SAMEBIT_EFFORT");
  const std::string name = text ? text : "quick";
  return name == "full" ? probe::Effort::full : name == "small" ? probe::Effort::small : probe::Effort::quick;
}

/// Backends named in SAMEBIT_REQUIRE (comma separated) must run; the others may be missing.
bool required(const std::string& name) {
  const char* text = std::getenv("SAMEBIT_REQUIRE");
  std::istringstream list(text ? text : "");
  for (std::string item; std::getline(list, item, ',');)
    if (item == name) return true;
  return false;
}

class Backends : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(Backends, EqualScalar) {
  const Backend& row = backend(std::get<1>(GetParam()));
  if (const char* missing = row.missing(cpu())) {
    if (required(row.name)) FAIL() << row.name << " is required, but this CPU lacks " << missing;
    GTEST_SKIP() << "this CPU lacks " << missing;
  }
  const Probe& p = probe::probes()[std::get<0>(GetParam())];
  const KernelTable& scalar = table_for(0);
  const KernelTable& table = table_for(std::get<1>(GetParam()));
  if (p.same(table, table_for(find_backend(row.parent)))) GTEST_SKIP() << "inherited from " << row.parent;

  uint64_t values = 0;
  for (const Case& c : p.cases(effort())) {
    const Output want = p.run(scalar, c), got = p.run(table, c);
    ASSERT_TRUE(want.guards_intact && got.guards_intact)
        << "written outside the output: seed " << c.seed << " size " << c.size << " variant " << c.variant;
    ASSERT_EQ(want.bytes.size(), got.bytes.size());
    for (size_t i = 0; i < want.bytes.size(); ++i) {
      if (want.bytes[i] != got.bytes[i]) {
        ++g_counts[row.name].differences;
        FAIL() << "seed " << c.seed << " size " << c.size << " variant " << c.variant << " byte " << i
               << ": scalar " << int(want.bytes[i]) << ", " << row.name << " " << int(got.bytes[i]) << "\n"
               << p.describe(c, i);
      }
    }
    values += c.size;
  }
  ASSERT_GT(values, 100000u) << "a test that compared nothing fails";
  ++g_counts[row.name].kernels;
  g_counts[row.name].values += values;
}

std::string test_name(const testing::TestParamInfo<Backends::ParamType>& info) {
  std::string name = std::string(probe::probes()[std::get<0>(info.param)].name) + "_" +
                     backend(std::get<1>(info.param)).name;
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Backends,
                         testing::Combine(testing::Range<size_t>(0, probe::probes().size()),
                                          testing::Range<size_t>(1, backend_count())),
                         test_name);

/// Prints what was really compared, after all tests.
class Summary : public testing::Environment {
 public:
  /// Stores that bypass the caches are for sizes that depend on the CPU; here they begin where the probes go.
  void SetUp() override {
    for (size_t i = 0; i < backend_count(); ++i) {
      if (backend(i).missing(cpu())) continue;
      KernelTable copy = table_for(i);
      copy.stream_bytes = size_t{12} << 20;
      backend(i).fill(copy);
    }
  }
  void TearDown() override {
    for (size_t i = 1; i < backend_count(); ++i) {
      const char* name = backend(i).name;
      if (const char* missing = backend(i).missing(cpu())) {
        std::printf("skipped  %-10s this CPU lacks %s\n", name, missing);
      } else {
        const Count& c = g_counts[name];
        std::printf("compared %-10s %3llu kernels, %12llu values, %llu differences\n", name,
                    static_cast<unsigned long long>(c.kernels), static_cast<unsigned long long>(c.values),
                    static_cast<unsigned long long>(c.differences));
      }
    }
  }
};
const testing::Environment* const g_summary = testing::AddGlobalTestEnvironment(new Summary);

TEST(Tables, EveryEntryIsFilledOnEveryUsableBackend) {
  for (size_t i = 0; i < backend_count(); ++i) {
    if (backend(i).missing(cpu())) continue;
    const KernelTable& t = table_for(i);
    const auto* words = reinterpret_cast<const uintptr_t*>(&t);
    for (size_t w = 0; w < sizeof t / sizeof *words; ++w)
      EXPECT_NE(words[w], 0u) << backend(i).name << " " << w;
    for (const GemmKernel* kernel : {t.gemm_exact, t.gemm_pairsat, t.gemm_pairwrap}) {
      // What the driver's arrays and blocks rely on.
      EXPECT_TRUE(kernel->nr >= 1 && kernel->nr <= 64 && kernel->mr >= 1) << backend(i).name;
      EXPECT_EQ(kernel->row_bytes(65) % 64, 0u) << backend(i).name;
      EXPECT_EQ(kernel->panel_bytes(kernel->nr, 65) % 64, 0u) << backend(i).name;
    }
  }
}

}  // namespace
}  // namespace samebit
