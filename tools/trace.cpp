#include "tools/trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace samebit::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string format(const char* form, double v) {
  char text[48];
  std::snprintf(text, sizeof text, form, v);
  return text;
}
// 10 digits show a float32's neighbours apart; hexadecimal is the value itself.
std::string number(double v) { return format("%.10g", v); }
std::string hex(double v) { return format("%a", v); }

/// Distance to the nearest k + 1/2. Exact: every value that is rounded is below 2^52 or already an integer.
double tie_distance(double v) { return std::fabs(v - (std::floor(v) + 0.5)); }

/// The same bits, so that -0 and 0 are two answers; every NaN is one.
bool same_value(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

bool same_steps(const Trace& a, const Trace& b) {
  if (a.rule != b.rule || a.steps.size() != b.steps.size() || !same_value(a.result, b.result)) return false;
  for (size_t i = 0; i < a.steps.size(); ++i)
    if (a.steps[i].name != b.steps[i].name || !same_value(a.steps[i].value, b.steps[i].value)) return false;
  return true;
}

void append(std::string* list, const std::string& item, const char* separator = ", ") {
  if (!list->empty()) *list += separator;
  *list += item;
}

/// Profiles by result, in order of first appearance.
struct Group {
  double result;
  std::vector<const Trace*> traces;
  std::string names;
};

std::vector<Group> group(const std::vector<Trace>& traces) {
  std::vector<Group> groups;
  for (const Trace& t : traces) {
    Group* home = nullptr;
    for (Group& g : groups)
      if (same_value(g.result, t.result)) home = &g;
    if (!home) home = &groups.emplace_back(Group{t.result, {}, ""});
    home->traces.push_back(&t);
    append(&home->names, sb_profile_name(t.profile));
  }
  return groups;
}

/// The last value that was rounded to an integer, or null.
const Step* last_rounded(const Trace& t) {
  for (auto step = t.steps.rbegin(); step != t.steps.rend(); ++step)
    if (step->rounded) return &*step;
  return nullptr;
}

/// How a profile came to its result: the value it rounded, and how.
std::string reason(const Trace& t) {
  for (const Step& s : t.steps)
    if (std::isnan(s.value)) return "NaN becomes " + number(t.result);
  const Step* step = last_rounded(t);
  std::string text;
  if (!step) {
    for (const Step& s : t.steps) append(&text, s.name + ": " + number(s.value));
    return text + ", gives " + number(t.result);
  }
  const double v = step->value, distance = tie_distance(v);
  if (!std::isfinite(v)) return number(v) + " becomes " + number(t.result);
  bool away = false;
  for (const Step& s : t.steps) away = away || s.name.find("half away from zero") != std::string::npos;
  text = number(v) +
         (distance == 0 ? ", exactly on a tie" : ", " + format("%.3g", distance) + " from a tie") +
         (away ? ", rounded half away from zero" : ", rounded half to even");
  // Rules round before or after they add the zero point; the result tells which.
  if (t.zero_point != 0 && std::fabs(v - t.result) > 1 && std::fabs(v + t.zero_point - t.result) <= 1)
    text += ", plus the zero point " + number(t.zero_point);
  return text + ", gives " + number(t.result);
}

/// One sentence on why the results differ; empty when they do not.
std::string why(const std::vector<Trace>& traces, const std::vector<Group>& groups) {
  if (groups.size() < 2) return "";
  const Trace* exact = nullptr;
  for (const Trace& t : traces)
    if (t.profile == SB_EXACT) exact = &t;
  const Step* truth = exact ? last_rounded(*exact) : nullptr;
  struct Reason {
    std::string text;
    std::vector<std::string> rules;
  };
  std::vector<Reason> reasons;
  std::string moved;
  for (const Group& g : groups) {
    for (const Trace* t : g.traces) {
      const std::string text = reason(*t);
      Reason* home = nullptr;
      for (Reason& r : reasons)
        if (r.text == text) home = &r;
      if (!home) home = &reasons.emplace_back(Reason{text, {}});
      if (std::find(home->rules.begin(), home->rules.end(), t->rule) != home->rules.end()) continue;
      home->rules.push_back(t->rule);
      // A tie that is none in real numbers was made by an earlier rounding.
      const Step* step = last_rounded(*t);
      if (step && truth && !same_value(t->result, exact->result) && tie_distance(step->value) == 0 &&
          tie_distance(truth->value) != 0)
        append(&moved, t->rule);
    }
  }
  std::string sentence;
  for (const Reason& r : reasons) {
    std::string rules;
    for (const std::string& rule : r.rules) append(&rules, rule);
    append(&sentence, rules + ": " + r.text, "; ");
  }
  if (!moved.empty())
    sentence += "; in real numbers this is no tie, earlier roundings of " + moved + " make it one";
  return sentence;
}

}  // namespace

void print_text(const Explanation& e) {
  for (const std::string& note : e.notes) std::printf("note: %s\n", note.c_str());
  if (!e.notes.empty()) std::printf("\n");
  std::vector<bool> done(e.traces.size());
  for (size_t i = 0; i < e.traces.size(); ++i) {
    if (done[i]) continue;
    const Trace& t = e.traces[i];
    std::string names;  // profiles with the same rule and values share a paragraph
    for (size_t k = i; k < e.traces.size(); ++k) {
      if (!same_steps(e.traces[k], t)) continue;
      done[k] = true;
      append(&names, sb_profile_name(e.traces[k].profile));
    }
    std::printf("%s: rule %s\n", names.c_str(), t.rule.c_str());
    for (const Step& s : t.steps) {
      std::printf("  %-62s %18s  ", s.name.c_str(), number(s.value).c_str());
      if (s.rounded && std::isfinite(s.value))
        std::printf("%-22s  %s from a tie\n", hex(s.value).c_str(),
                    format("%.6g", tie_distance(s.value)).c_str());
      else std::printf("%s\n", hex(s.value).c_str());
    }
    std::printf("  %-62s %18s", "result", number(t.result).c_str());
    if (t.result != std::rint(t.result)) std::printf("  %s", hex(t.result).c_str());
    std::printf("\n\n");
  }
  const std::vector<Group> groups = group(e.traces);
  const std::string reasons = why(e.traces, groups);
  if (!reasons.empty()) std::printf("why: %s\n", reasons.c_str());
  std::string verdict;
  for (const Group& g : groups) append(&verdict, number(g.result) + ": " + g.names, "   ");
  std::printf("%s%s\n", groups.size() == 1 && e.traces.size() > 1 ? "all agree, " : "", verdict.c_str());
}

void print_json(const Explanation& e) {
  Json profiles = Json::array(), agree = Json::array();
  for (const Trace& t : e.traces) {
    Json steps = Json::array();
    for (const Step& s : t.steps) {
      // JSON has no NaN and no infinity (null); "hex" has every value.
      Json step = {{"name", s.name}, {"value", s.value}, {"hex", hex(s.value)}};
      if (s.rounded) step["tie_distance"] = tie_distance(s.value);
      steps.push_back(step);
    }
    profiles.push_back({{"profile", sb_profile_name(t.profile)},
                        {"rule", t.rule},
                        {"steps", steps},
                        {"result", t.result},
                        {"result_hex", hex(t.result)}});
  }
  const std::vector<Group> groups = group(e.traces);
  for (const Group& g : groups) {
    Json names = Json::array();
    for (const Trace* t : g.traces) names.push_back(sb_profile_name(t->profile));
    agree.push_back({{"result", g.result}, {"result_hex", hex(g.result)}, {"profiles", names}});
  }
  const Json all = {{"op", e.op},
                    {"notes", e.notes},
                    {"profiles", profiles},
                    {"agree", agree},
                    {"why", why(e.traces, groups)}};
  std::printf("%s\n", all.dump(2).c_str());
}

}  // namespace samebit::tools
