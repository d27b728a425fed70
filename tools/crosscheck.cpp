// samebit crosscheck: every probe on every usable backend against scalar, one digest per probe.
#include <unistd.h>
#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "core/registry.h"
#include "samebit/samebit.h"
#include "tools/commands.h"
#include "tools/digests.h"

namespace samebit::tools {
namespace {

using probe::Case;
using probe::Effort;
using probe::Output;
using probe::Probe;

struct Options {
  std::string out, effort = "small", backend, replay;
  std::vector<std::string> compare, probes;
  bool progress = false, cases = false;
};

Effort effort_of(const std::string& name) {
  return name == "small" ? Effort::small : name == "quick" ? Effort::quick : Effort::full;
}

/// A bar on stderr, drawn when a percent has passed.
class Progress {
 public:
  explicit Progress(bool on) : on_(on) {}
  ~Progress() {
    if (on_) std::fprintf(stderr, "\r%-90s\r", "");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(double share, const char* name) {
    const int percent = static_cast<int>(100 * share);
    if (!on_ || percent == last_) return;
    last_ = percent;
    std::string bar(static_cast<size_t>(40 * share), '=');
    bar.resize(40, ' ');
    std::fprintf(stderr, "\r[%s] %3d %% %-34s", bar.c_str(), percent, name);
  }

 private:
  bool on_;
  int last_ = -1;
};

/// What was run on one backend, all probes together.
struct Tally {
  size_t kernels = 0, differing = 0;
  uint64_t values = 0;
};

bool equal(const Output& want, const Output& got) { return got.guards_intact && got.bytes == want.bytes; }

/// The case, the first differing value, and how to see it again. Returns the file's line.
std::string report(const Probe& p, const Case& c, const char* name, const Output& want, const Output& got) {
  std::ostringstream line, screen;
  line << "differs " << p.name << ' ' << name << " seed " << c.seed << " size " << c.size << " variant "
       << c.variant;
  if (!got.guards_intact) line << ", bytes outside the output were written";
  const size_t i = first_difference(c, want, got);
  if (i < c.size)
    line << ", value " << i << ": scalar " << value_text(p, c, want, i) << ", " << name << ' '
         << value_text(p, c, got, i);
  std::printf("DIFFERS %s\n", line.str().c_str() + sizeof "differs");
  if (i < c.size) std::printf("  %s\n", describe(p, c, want, i).c_str());
  std::printf("  samebit crosscheck --replay \"%s\"\n", case_text(p.name, c).c_str());
  return line.str() + "\n";
}

/// Backends with a kernel of their own: inherited ones are checked where they come from.
std::vector<size_t> owners(const Probe& p, const std::vector<size_t>& list) {
  std::vector<size_t> result;
  for (const size_t b : list) {
    bool known = p.same(table_for(b), table_for(0));
    for (const size_t r : result) known = known || p.same(table_for(b), table_for(r));
    if (!known) result.push_back(b);
  }
  return result;
}

std::vector<const Probe*> selected(const std::vector<std::string>& names) {
  std::vector<const Probe*> list;
  for (const std::string& name : names) list.push_back(&find_probe(name));
  if (names.empty())
    for (const Probe& p : probe::probes()) list.push_back(&p);
  return list;
}

int run(const Options& o) {
  const std::vector<size_t> list = usable_backends(o.backend);
  const std::vector<const Probe*> probes = selected(o.probes);
  std::ofstream stream;
  if (!o.out.empty()) {
    stream.open(o.out);
    if (!stream) throw std::runtime_error("cannot write " + o.out);
  }
  std::ostream& file = o.out.empty() ? std::cout : stream;
  // Only these lines depend on the machine; --compare skips them, the effort apart.
  file << "# samebit crosscheck, effort " << o.effort << ": probe, XXH64 of all outputs, cases, values\n"
       << "# version " << sb_version() << ", CPU " << (cpu().name[0] ? cpu().name : "unknown")
       << ", compiler " << __VERSION__ << '\n';
  std::map<size_t, Tally> tallies;
  uint64_t values = 0;
  size_t differing = 0;
  {
    Progress progress(o.progress || isatty(STDERR_FILENO));
    for (size_t k = 0; k < probes.size(); ++k) {
      const Probe& p = *probes[k];
      const std::vector<Case> cases = p.cases(effort_of(o.effort));
      const std::vector<size_t> own = owners(p, list);
      std::map<size_t, bool> failed;
      for (const size_t b : own) ++tallies[b].kernels;
      XXH64_state_t state;
      XXH64_reset(&state, 0);
      uint64_t probe_values = 0;
      for (size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        progress.show((static_cast<double>(k) + static_cast<double>(i) / static_cast<double>(cases.size())) /
                          static_cast<double>(probes.size()),
                      p.name);
        const Output want = p.run(table_for(0), c);
        if (!want.bytes.empty()) XXH64_update(&state, want.bytes.data(), want.bytes.size());
        if (o.cases) file << "case " << case_text(p.name, c) << ' ' << digest(want.bytes) << '\n';
        probe_values += c.size;
        for (const size_t b : own) {
          if (failed[b]) continue;  // one report per kernel
          const Output got = p.run(table_for(b), c);
          tallies[b].values += c.size;
          if (equal(want, got)) continue;
          failed[b] = true;
          ++tallies[b].differing;
          ++differing;
          file << report(p, c, backend(b).name, want, got);
        }
      }
      char hex[20];
      std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(XXH64_digest(&state)));
      file << p.name << ' ' << hex << ' ' << cases.size() << ' ' << probe_values << std::endl;
      values += probe_values;
    }
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + o.out);
  std::string names;
  for (const size_t b : list) {
    const Tally& t = tallies[b];
    names += std::string(" ") + backend(b).name;
    std::printf("%s: %zu kernels of its own, %llu values against scalar, %zu kernels differing\n",
                backend(b).name, t.kernels, static_cast<unsigned long long>(t.values), t.differing);
  }
  if (list.empty()) std::printf("only scalar is usable on this CPU: nothing to compare, digests only\n");
  std::printf("%zu probes, %llu values, backends scalar%s: %zu differing\n", probes.size(),
              static_cast<unsigned long long>(values), names.c_str(), differing);
  return differing ? 1 : 0;
}

/// A case that the probe has in some effort: sizes and variants of a probe hang together.
Case parse_case(const std::string& text, const Probe** p) {
  std::istringstream in(text);
  std::string name, rest;
  Case c{};
  if (!(in >> name >> c.seed >> c.size >> c.variant) || in >> rest)
    throw std::runtime_error("--replay is \"" + text + "\"; it is \"PROBE SEED SIZE VARIANT\"");
  *p = &find_probe(name);
  for (const Effort effort : {Effort::small, Effort::quick, Effort::full})
    for (const Case& known : (*p)->cases(effort))
      if (known.seed == c.seed && known.size == c.size && known.variant == c.variant) return c;
  throw std::runtime_error("--replay is \"" + text + "\"; " + name + " has no such case");
}

/// The first values of one case on every usable backend; with --out all values of scalar.
int replay(const Options& o) {
  const Probe* found = nullptr;
  const Case c = parse_case(o.replay, &found);
  const Probe& p = *found;
  const std::vector<size_t> list = usable_backends(o.backend);
  const Output want = p.run(table_for(0), c);
  std::printf("%s seed %llu size %zu variant %d: %zu bytes, XXH64 %s\n", p.name,
              static_cast<unsigned long long>(c.seed), c.size, c.variant, want.bytes.size(),
              digest(want.bytes).c_str());
  int status = 0;
  size_t first = 0;
  std::vector<Output> outputs;
  for (const size_t b : list) {
    outputs.push_back(p.run(table_for(b), c));
    if (equal(want, outputs.back())) {
      std::printf("%s: equal\n", backend(b).name);
    } else {
      report(p, c, backend(b).name, want, outputs.back());
      if (!status) first = first_difference(c, want, outputs.back());
      status = 1;
    }
  }
  constexpr size_t kShown = 8;
  if (first < c.size) std::printf("%s\n", describe(p, c, want, first).c_str());
  for (size_t i = first; i < c.size && i < first + kShown; ++i) {
    std::printf("value %zu: scalar %s", i, value_text(p, c, want, i).c_str());
    for (size_t k = 0; k < list.size(); ++k)
      std::printf(", %s %s", backend(list[k]).name, value_text(p, c, outputs[k], i).c_str());
    std::printf("\n");
  }
  if (!o.out.empty()) {
    std::ofstream stream(o.out);
    stream << "# samebit crosscheck --replay: probe, seed, size, variant, index, value of scalar\n";
    for (size_t i = 0; i < c.size; ++i)
      stream << "value " << case_text(p.name, c) << ' ' << i << ' ' << value_text(p, c, want, i) << '\n';
    if (!stream.flush()) throw std::runtime_error("cannot write " + o.out);
  }
  return status;
}

}  // namespace

void add_crosscheck(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(
      "crosscheck", "Compares every kernel of this CPU, byte for byte, with the reference");
  command->footer("Status 0: all equal; 1: something differs; 2: wrong usage or an unusable file.");
  auto o = std::make_shared<Options>();
  CLI::Option* out = command->add_option("--out", o->out, "write the digests to a file; equal on every CPU");
  CLI::Option* effort =
      command
          ->add_option("--effort", o->effort, "small (seconds, emulated CPUs too), quick or full (minutes)")
          ->check(CLI::IsMember({"small", "quick", "full"}))
          ->capture_default_str();
  command->add_option("--backend", o->backend, "only this backend against scalar");
  CLI::Option* probes = command->add_option("--probe", o->probes, "only this kernel; may be repeated");
  CLI::Option* cases = command->add_flag("--cases", o->cases,
                                         "a digest per case too: --compare then names the case and value");
  cases->needs(out);
  CLI::Option* compare_option = command->add_option("--compare", o->compare, "compare two files of --out");
  compare_option->expected(2)->excludes(out)->excludes(effort)->excludes(cases)->excludes(probes);
  command->add_option("--replay", o->replay, "one case again: \"PROBE SEED SIZE VARIANT\"")
      ->excludes(compare_option)
      ->excludes(effort)
      ->excludes(cases)
      ->excludes(probes);
  command->add_flag("--progress", o->progress, "progress bar even when stderr is no terminal");
  command->callback([=] {
    if (!o->compare.empty()) *status = compare(o->compare[0], o->compare[1]);
    else if (!o->replay.empty()) *status = replay(*o);
    else *status = run(*o);
  });
}

}  // namespace samebit::tools
