// samebit crosscheck: every probe on every usable backend against scalar, one digest per probe.
#include <unistd.h>
#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/registry.h"
#include "probe/probe.h"
#include "samebit/samebit.h"
#include "tools/commands.h"

namespace samebit::tools {
namespace {

using probe::Case;
using probe::Effort;
using probe::Output;
using probe::Probe;

struct Options {
  std::string out, effort = "small", backend, replay;
  std::vector<std::string> compare;
  bool progress = false;
};

std::string hex(uint64_t v) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(v));
  return text;
}

Effort effort_of(const std::string& name) {
  if (name == "small") return Effort::small;
  if (name == "quick") return Effort::quick;
  if (name == "full") return Effort::full;
  throw std::runtime_error("--effort is \"" + name + "\"; it is small, quick or full");
}

const Probe& find_probe(const std::string& name) {
  for (const Probe& p : probe::probes())
    if (name == p.name) return p;
  throw std::runtime_error("no probe is named \"" + name + "\"");
}

/// Backends to check: all usable ones, or scalar and the one asked for.
std::vector<size_t> backends(const std::string& only) {
  std::vector<size_t> list;
  if (!only.empty() && find_backend(only.c_str()) == backend_count())
    throw std::runtime_error("--backend is \"" + only + "\"; see samebit info");
  for (size_t i = 1; i < backend_count(); ++i) {
    const bool wanted = only.empty() || only == backend(i).name;
    const char* missing = backend(i).missing(cpu());
    if (wanted && missing && !only.empty())
      throw std::runtime_error("backend " + only + ": this CPU lacks " + missing);
    if (wanted && !missing) list.push_back(i);
  }
  return list;
}

/// The case and both outputs around the first differing byte.
void report(const Probe& p, const Case& c, const char* name, const Output& want, const Output& got) {
  size_t i = 0;
  while (i < want.bytes.size() && want.bytes[i] == got.bytes[i]) ++i;
  std::printf("DIFFERS %s on %s: seed %llu size %zu variant %d\n", p.name, name,
              static_cast<unsigned long long>(c.seed), c.size, c.variant);
  if (!got.guards_intact) std::printf("  bytes outside the output were written\n");
  if (i < want.bytes.size())
    std::printf("  byte %zu: scalar %d, %s %d\n  %s\n", i, want.bytes[i], name, got.bytes[i],
                p.describe(c, i).c_str());
  std::printf("  samebit crosscheck --replay \"%s %llu %zu %d\"\n", p.name,
              static_cast<unsigned long long>(c.seed), c.size, c.variant);
}

struct Line {
  std::string digest;
  size_t cases = 0;
  uint64_t values = 0;
};

/// Runs one probe on scalar and the backends. Returns the number of backends that differ.
int check(const Probe& p, Effort effort, const std::vector<size_t>& list, Line* line) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  std::map<size_t, bool> failed;
  for (const Case& c : p.cases(effort)) {
    const Output want = p.run(table_for(0), c);
    if (!want.bytes.empty()) XXH64_update(&state, want.bytes.data(), want.bytes.size());
    ++line->cases;
    line->values += c.size;
    for (const size_t b : list) {
      if (failed[b] || p.same(table_for(b), table_for(find_backend(backend(b).parent)))) continue;
      const Output got = p.run(table_for(b), c);
      if (got.bytes == want.bytes && got.guards_intact) continue;
      failed[b] = true;
      report(p, c, backend(b).name, want, got);
    }
  }
  line->digest = hex(XXH64_digest(&state));
  int n = 0;
  for (const auto& [b, bad] : failed) n += bad;
  return n;
}

int run(const Options& o) {
  const Effort effort = effort_of(o.effort);
  const std::vector<size_t> list = backends(o.backend);
  const bool progress = o.progress || isatty(STDERR_FILENO);
  std::ostringstream file;
  file << "# samebit crosscheck, effort " << o.effort << ": probe, XXH64 of all outputs, cases, values\n";
  int differing = 0;
  uint64_t values = 0;
  size_t done = 0;
  const size_t count = probe::probes().size();
  for (const Probe& p : probe::probes()) {
    if (progress) {
      std::string bar(40 * done / count, '=');
      bar.resize(40, ' ');
      std::fprintf(stderr, "\r[%s] %zu/%zu %-30s", bar.c_str(), done, count, p.name);
    }
    Line line;
    differing += check(p, effort, list, &line);
    file << p.name << ' ' << line.digest << ' ' << line.cases << ' ' << line.values << '\n';
    values += line.values;
    ++done;
  }
  if (progress) std::fprintf(stderr, "\r%-90s\r", "");
  if (o.out.empty()) {
    std::fputs(file.str().c_str(), stdout);
  } else {
    std::ofstream stream(o.out);
    stream << file.str();
    if (!stream.flush()) throw std::runtime_error("cannot write " + o.out);
  }
  std::string names;
  for (const size_t b : list) names += std::string(" ") + backend(b).name;
  std::printf("%zu probes, %llu values, backends scalar%s: %d differing\n", count,
              static_cast<unsigned long long>(values), names.c_str(), differing);
  return differing ? 1 : 0;
}

std::map<std::string, std::string> read(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::map<std::string, std::string> lines;
  for (std::string text; std::getline(stream, text);) {
    if (text.empty() || text[0] == '#') continue;
    const size_t space = text.find(' ');
    if (space == std::string::npos) throw std::runtime_error(path + ": not a crosscheck line: " + text);
    lines[text.substr(0, space)] = text.substr(space + 1);
  }
  if (lines.empty()) throw std::runtime_error(path + " holds no digests");
  return lines;
}

/// Two machines' files. For a differing probe this machine tells which of the two it agrees with.
int compare(const std::string& a_path, const std::string& b_path) {
  const auto a = read(a_path), b = read(b_path);
  int differing = 0;
  for (const auto& [name, line] : a) {
    const auto other = b.find(name);
    if (other != b.end() && other->second == line) continue;
    ++differing;
    std::printf("DIFFERS %s\n  %s: %s\n  %s: %s\n", name.c_str(), a_path.c_str(), line.c_str(),
                b_path.c_str(), other == b.end() ? "missing" : other->second.c_str());
  }
  for (const auto& [name, line] : b) {
    if (a.count(name)) continue;
    ++differing;
    std::printf("DIFFERS %s\n  %s: missing\n  %s: %s\n", name.c_str(), a_path.c_str(), b_path.c_str(),
                line.c_str());
  }
  if (differing)
    std::printf("find the first differing value on each machine: samebit crosscheck --effort full\n");
  std::printf("%zu probes compared, %d differing\n", a.size(), differing);
  return differing ? 1 : 0;
}

/// Every byte of one case on every usable backend that differs from scalar.
int replay(const std::string& text) {
  std::istringstream in(text);
  std::string name;
  unsigned long long seed;
  size_t size;
  int variant;
  if (!(in >> name >> seed >> size >> variant))
    throw std::runtime_error("--replay is \"" + text + "\"; it is \"PROBE SEED SIZE VARIANT\"");
  const Probe& p = find_probe(name);
  const Case c{seed, size, variant};
  const Output want = p.run(table_for(0), c);
  std::printf("%s seed %llu size %zu variant %d: %zu bytes, XXH64 %s\n", p.name, seed, size, variant,
              want.bytes.size(), hex(XXH64(want.bytes.data(), want.bytes.size(), 0)).c_str());
  int status = 0;
  for (const size_t b : backends("")) {
    const Output got = p.run(table_for(b), c);
    if (got.bytes == want.bytes && got.guards_intact) {
      std::printf("%s: equal\n", backend(b).name);
    } else {
      report(p, c, backend(b).name, want, got);
      status = 1;
    }
  }
  return status;
}

}  // namespace

void add_crosscheck(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("crosscheck", "Proves every kernel of this CPU bit-identical to the reference");
  auto o = std::make_shared<Options>();
  command->add_option("--out", o->out, "write the digests to a file; equal on every machine");
  command->add_option("--effort", o->effort, "small, quick or full")->capture_default_str();
  command->add_option("--backend", o->backend, "only this backend");
  command->add_option("--compare", o->compare, "compare two files of --out")->expected(2);
  command->add_option("--replay", o->replay, "one case: \"PROBE SEED SIZE VARIANT\"");
  command->add_flag("--progress", o->progress, "progress bar even when the output is no terminal");
  command->callback([=] {
    if (!o->compare.empty()) *status = compare(o->compare[0], o->compare[1]);
    else if (!o->replay.empty()) *status = replay(o->replay);
    else *status = run(*o);
  });
}

}  // namespace samebit::tools
