// samebit crosscheck --compare: two digest files, of two machines for example.
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/registry.h"
#include "tools/digests.h"

namespace samebit::tools {
namespace {

using probe::Case;
using probe::Output;
using probe::Probe;

struct CaseLine {
  Case c;
  std::string digest;
};

struct File {
  std::string path, effort;
  std::vector<std::string> probes;                          // in file order
  std::map<std::string, std::string> lines;                 // probe -> "digest cases values"
  std::map<std::string, std::vector<CaseLine>> cases;       // with --cases
  std::map<std::string, std::vector<std::string>> bad;      // probe -> differences that the run itself found
  std::vector<std::pair<std::string, std::string>> values;  // of a replay: "case, value index" -> text
};

File read(const std::string& path) {
  File f;
  f.path = path;
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  for (std::string text; std::getline(stream, text);) {
    std::istringstream in(text);
    std::string word, probe, rest;
    in >> word;
    if (word.empty()) continue;
    if (word == "#") {
      for (std::string last; in >> word; last = word)
        if (last == "effort") f.effort = word.substr(0, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    } else if (word == "case") {
      CaseLine line{};
      if (!(in >> probe >> line.c.seed >> line.c.size >> line.c.variant >> line.digest))
        throw std::runtime_error(path + ": not a case line: " + text);
      f.cases[probe].push_back(line);
    } else if (word == "differs") {
      in >> probe;
      std::getline(in, rest);
      f.bad[probe].push_back(rest);
    } else if (word == "value") {
      Case c{};
      std::string index;
      if (!(in >> probe >> c.seed >> c.size >> c.variant >> index) || !std::getline(in, rest))
        throw std::runtime_error(path + ": not a value line: " + text);
      f.values.emplace_back(case_text(probe, c) + "\", value " + index, rest);
    } else {
      std::string digest;
      size_t cases, values;
      std::istringstream line(text);
      if (!(line >> probe >> digest >> cases >> values) || digest.size() != 16)
        throw std::runtime_error(path + ": not a crosscheck line: " + text);
      if (!f.lines.emplace(probe, text.substr(probe.size() + 1)).second)
        throw std::runtime_error(path + ": two lines for " + probe);
      f.probes.push_back(probe);
    }
  }
  if (f.lines.empty() && f.values.empty()) throw std::runtime_error(path + " holds no digests");
  return f;
}

/// The case on this CPU: which file scalar agrees with, and the value when a backend gives the other answer.
void localize(const Probe& p, const File& a, const File& b, const CaseLine& in_a, const CaseLine& in_b) {
  const Case& c = in_a.c;
  const Output scalar = p.run(table_for(0), c);
  const std::string own = digest(scalar.bytes);
  const bool is_a = own == in_a.digest, is_b = own == in_b.digest;
  if (is_a || is_b) std::printf("  scalar on this CPU agrees with %s\n", (is_a ? a : b).path.c_str());
  else std::printf("  scalar on this CPU agrees with neither: %s\n", own.c_str());
  for (const size_t k : usable_backends("")) {
    const Output got = p.run(table_for(k), c);
    const std::string other = digest(got.bytes);
    if (other == own || (other != in_a.digest && other != in_b.digest)) continue;
    const size_t i = first_difference(c, scalar, got);
    std::printf("  %s on this CPU agrees with the other; first differing value %zu: scalar %s, %s %s\n  %s\n",
                backend(k).name, i, value_text(p, c, scalar, i).c_str(), backend(k).name,
                value_text(p, c, got, i).c_str(), describe(p, c, scalar, i).c_str());
    return;
  }
  std::printf(
      "  for the first differing value run this on both machines, then compare the two outputs:\n"
      "  samebit crosscheck --replay \"%s\" --out FILE\n",
      case_text(p.name, c).c_str());
}

void first_case(const std::string& probe, const File& a, const File& b) {
  const auto in_a = a.cases.find(probe), in_b = b.cases.find(probe);
  if (in_a == a.cases.end() || in_b == b.cases.end()) {
    std::printf("  the first differing case is named when both files are made with --cases\n");
    return;
  }
  for (size_t i = 0; i < in_a->second.size() && i < in_b->second.size(); ++i) {
    const CaseLine &x = in_a->second[i], &y = in_b->second[i];
    const bool same_case = x.c.seed == y.c.seed && x.c.size == y.c.size && x.c.variant == y.c.variant;
    if (same_case && x.digest == y.digest) continue;
    if (!same_case) {
      std::printf("  case %zu is another one: the files come from different versions or efforts\n", i);
      return;
    }
    std::printf("  first differing case: seed %llu size %zu variant %d, %s and %s\n",
                static_cast<unsigned long long>(x.c.seed), x.c.size, x.c.variant, x.digest.c_str(),
                y.digest.c_str());
    localize(find_probe(probe), a, b, x, y);
    return;
  }
  std::printf("  the case lines are equal as far as both files have them\n");
}

/// Differences that one file's run found itself, between a backend and scalar.
size_t found_by_run(const File& f) {
  size_t n = 0;
  for (const auto& [probe, list] : f.bad)
    for (const std::string& text : list) {
      std::printf("DIFFERS %s within %s:%s\n", probe.c_str(), f.path.c_str(), text.c_str());
      ++n;
    }
  return n;
}

/// Outputs of one replayed case.
int compare_values(const File& a, const File& b) {
  for (size_t i = 0; i < a.values.size() || i < b.values.size(); ++i) {
    const bool both = i < a.values.size() && i < b.values.size();
    if (both && a.values[i] == b.values[i]) continue;
    const std::string& where = (i < a.values.size() ? a : b).values[i].first;
    std::printf("DIFFERS samebit crosscheck --replay \"%s\n", where.c_str());
    for (const File* f : {&a, &b})
      std::printf("  %s:%s\n", f->path.c_str(),
                  i < f->values.size() && f->values[i].first == where ? f->values[i].second.c_str()
                                                                      : " no such value");
    return 1;
  }
  std::printf("%zu values compared, 0 differing\n", a.values.size());
  return 0;
}

}  // namespace

int compare(const std::string& a_path, const std::string& b_path) {
  const File a = read(a_path), b = read(b_path);
  if (a.values.empty() != b.values.empty())
    throw std::runtime_error("one file is of --replay, the other is not: " + a_path + ", " + b_path);
  if (!a.values.empty()) return compare_values(a, b);
  if (!a.effort.empty() && !b.effort.empty() && a.effort != b.effort)
    throw std::runtime_error(a_path + " has effort " + a.effort + ", " + b_path + " has " + b.effort +
                             ": their cases differ, and so do all digests");
  size_t differing = found_by_run(a) + found_by_run(b), compared = 0;
  for (const std::string& probe : a.probes) {
    const auto other = b.lines.find(probe);
    const std::string& line = a.lines.at(probe);
    compared += other != b.lines.end();
    if (other != b.lines.end() && other->second == line) continue;
    ++differing;
    std::printf("DIFFERS %s\n  %s: %s\n  %s: %s\n", probe.c_str(), a_path.c_str(), line.c_str(),
                b_path.c_str(), other == b.lines.end() ? "missing" : other->second.c_str());
    if (other != b.lines.end()) first_case(probe, a, b);
  }
  for (const std::string& probe : b.probes) {
    if (a.lines.count(probe)) continue;
    ++differing;
    std::printf("DIFFERS %s\n  %s: missing\n  %s: %s\n", probe.c_str(), a_path.c_str(), b_path.c_str(),
                b.lines.at(probe).c_str());
  }
  std::printf("%zu probes compared, %zu differing\n", compared, differing);
  return differing ? 1 : 0;
}

}  // namespace samebit::tools
