// samebit info: CPU, backends, and where every kernel comes from.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/kernel_names.h"
#include "core/registry.h"
#include "params/add.h"
#include "params/mul.h"
#include "params/quantize.h"
#include "params/requantize.h"
#include "samebit/samebit.h"
#include "tools/commands.h"

namespace samebit::tools {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> features(const Cpu& c) {
  const std::pair<const char*, bool> all[] = {{"avx2", c.avx2},
                                              {"fma", c.fma},
                                              {"avxvnni", c.avxvnni},
                                              {"avx512f", c.avx512f},
                                              {"avx512bw", c.avx512bw},
                                              {"avx512dq", c.avx512dq},
                                              {"avx512vl", c.avx512vl},
                                              {"avx512cd", c.avx512cd},
                                              {"avx512vnni", c.avx512vnni},
                                              {"avx512vbmi", c.avx512vbmi},
                                              {"neon", c.neon},
                                              {"dotprod", c.dotprod},
                                              {"i8mm", c.i8mm}};
  std::vector<std::string> names;
  for (const auto& [name, present] : all)
    if (present) names.push_back(name);
  return names;
}

/// The rule of every operator under a profile, for ordinary parameters.
Json rules(sb_profile profile) {
  const sb_quant q{0.1f, 0};
  const float scale = 0.1f;
  return {{"QLinearAdd", name(prepare_add(profile, Form::vector, q, q, q).rule)},
          {"QLinearMul", name(prepare_mul(profile, q, q, q).rule)},
          {"QuantizeLinear", name(prepare_quantize(profile, SB_INT8, q).rule)},
          {"DequantizeLinear int8, uint8", name(prepare_dequantize(profile, SB_INT8, q).rule)},
          {"DequantizeLinear int32", name(prepare_dequantize(profile, SB_INT32, q).rule)},
          {"requantize", name(prepare_requantize(profile, &scale, 1))}};
}

Json collect() {
  const Cpu& c = cpu();
  const size_t best = best_backend(backend_count() - 1);
  Json j;
  j["version"] = sb_version();
  j["cpu"] = {{"name", c.name}, {"features", features(c)}, {"l1d", c.l1d}, {"l2", c.l2}, {"l3", c.l3}};
  for (size_t i = 0; i < backend_count(); ++i) {
    const char* missing = backend(i).missing(c);
    j["backends"].push_back(
        {{"name", backend(i).name}, {"usable", missing == nullptr}, {"missing", missing ? missing : ""}});
  }
  j["best"] = backend(best).name;
  for (size_t i = 0; i < entry_count(); ++i) {
    Json row = {{"kernel", entry(i).name}};
    for (size_t b = 0; b < backend_count(); ++b)
      row[backend(b).name] = backend(b).missing(c) ? "-" : backend(owner(b, i)).name;
    j["kernels"].push_back(row);
  }
  for (int p = 0; p < SB_PROFILE_COUNT; ++p)
    j["rules"][sb_profile_name(static_cast<sb_profile>(p))] = rules(static_cast<sb_profile>(p));
  return j;
}

void print(const Json& j) {
  const auto text = [](const Json& v) { return v.get<std::string>(); };
  const Json& c = j["cpu"];
  std::printf("samebit %s\nCPU       %s\nfeatures ", text(j["version"]).c_str(),
              text(c["name"]).empty() ? "unknown" : text(c["name"]).c_str());
  for (const auto& f : c["features"]) std::printf(" %s", text(f).c_str());
  std::printf("\ncaches    L1d %zu KiB, L2 %zu KiB, L3 %zu KiB (0: unknown)\n\nbackends\n",
              c["l1d"].get<size_t>() >> 10, c["l2"].get<size_t>() >> 10, c["l3"].get<size_t>() >> 10);
  for (const auto& b : j["backends"])
    std::printf("  %-11s %s%s\n", text(b["name"]).c_str(), b["usable"].get<bool>() ? "usable" : "missing ",
                text(b["missing"]).c_str());
  std::printf("\nkernels: the backend whose code runs when the column's backend is chosen\n  %-28s", "");
  for (const auto& b : j["backends"]) std::printf(" %-11s", text(b["name"]).c_str());
  for (const auto& row : j["kernels"]) {
    std::printf("\n  %-28s", text(row["kernel"]).c_str());
    for (const auto& b : j["backends"]) std::printf(" %-11s", text(row[text(b["name"])]).c_str());
  }
  std::printf("\n\nrules: the arithmetic of an operator under a profile, for ordinary parameters\n  %-30s",
              "");
  for (const auto& [profile, table] : j["rules"].items()) std::printf(" %-14s", profile.c_str());
  for (const auto& [op, first] : j["rules"].begin()->items()) {
    std::printf("\n  %-30s", op.c_str());
    for (const auto& [profile, table] : j["rules"].items()) std::printf(" %-14s", text(table[op]).c_str());
  }
  std::printf("\n");
}

/// The two tables, for documents.
void print_markdown(const Json& j) {
  const auto text = [](const Json& v) { return v.get<std::string>(); };
  std::string head = "| kernel |", line = "|---|";
  for (const auto& b : j["backends"]) {
    head +=
        " " + text(b["name"]) + (b["usable"].get<bool>() ? " |" : " (missing " + text(b["missing"]) + ") |");
    line += "---|";
  }
  std::printf("%s\n%s\n", head.c_str(), line.c_str());
  for (const auto& row : j["kernels"]) {
    std::printf("| `%s` |", text(row["kernel"]).c_str());
    for (const auto& b : j["backends"]) std::printf(" %s |", text(row[text(b["name"])]).c_str());
    std::printf("\n");
  }
  head = "| operator |", line = "|---|";
  for (const auto& [profile, table] : j["rules"].items()) {
    head += " `" + profile + "` |";
    line += "---|";
  }
  std::printf("\n%s\n%s\n", head.c_str(), line.c_str());
  for (const auto& [op, first] : j["rules"].begin()->items()) {
    std::printf("| %s |", op.c_str());
    for (const auto& [profile, table] : j["rules"].items()) std::printf(" %s |", text(table[op]).c_str());
    std::printf("\n");
  }
}

}  // namespace

void add_info(CLI::App& app, int* status) {
  CLI::App* info = app.add_subcommand("info", "CPU, backends, and which kernel every operator uses");
  auto json = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  CLI::Option* json_flag = info->add_flag("--json", *json, "machine-readable");
  info->add_flag("--markdown", *markdown, "the tables of kernels and rules, for documents")
      ->excludes(json_flag);
  info->callback([=] {
    const Json j = collect();
    if (*json) std::printf("%s\n", j.dump(2).c_str());
    else if (*markdown) print_markdown(j);
    else print(j);
    *status = 0;
  });
}

}  // namespace samebit::tools
