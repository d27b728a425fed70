// samebit explain: one value through the reference formulas of every profile, step by step.
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "params/add.h"
#include "params/gemm.h"
#include "params/mul.h"
#include "params/quantize.h"
#include "params/requantize.h"
#include "samebit/samebit.h"
#include "tools/commands.h"
#include "tools/trace.h"

namespace samebit::tools {
namespace {

/// Text of the command line; numbers stay text until the operator reads them, so that errors can quote them.
struct Arguments {
  std::string type = "int8", profile, form = "vector";
  std::map<std::string, std::string> values;
  bool json = false;
  mutable std::vector<std::string> notes;  // numbers that were changed by reading them

  const std::string& get(const std::string& option) const { return values.at(option); }

  /// Text -> double -> float32, as numpy.float32(text) does: decimal, hexadecimal, nan or inf.
  float real(const std::string& option) const {
    const std::string& text = get(option);
    char* end = nullptr;
    const double v = std::strtod(text.c_str(), &end);
    if (text.empty() || *end) throw std::runtime_error(option + " is \"" + text + "\", not a number");
    const auto f = static_cast<float>(v);
    if (!std::isnan(v) && static_cast<double>(f) != v) {
      char used[96];
      std::snprintf(used, sizeof used, std::isfinite(f) ? "%.9g = %a" : "%g", static_cast<double>(f),
                    static_cast<double>(f));
      notes.push_back(option + " " + text + " is no float32; " + used + " is used");
    }
    return f;
  }
  int32_t integer(const std::string& option, int64_t lo, int64_t hi) const {
    const std::string& text = get(option);
    char* end = nullptr;
    const long long v = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end) throw std::runtime_error(option + " is \"" + text + "\", not an integer");
    if (v < lo || v > hi)
      throw std::runtime_error(option + " is " + text + "; it lies within [" + std::to_string(lo) + ", " +
                               std::to_string(hi) + "]");
    return static_cast<int32_t>(v);
  }
};

sb_type type_of(const std::string& name, bool int32_allowed) {
  if (name == "int8") return SB_INT8;
  if (name == "uint8") return SB_UINT8;
  if (name == "int32" && int32_allowed) return SB_INT32;
  throw std::runtime_error("--type is \"" + name + "\"; supported are int8, uint8" +
                           (int32_allowed ? ", int32" : ""));
}

/// Collects steps from the reference.
struct Recorder {
  std::vector<Step> steps;
  sb_ref_trace trace{[](void* user, sb_ref_kind kind, const char* name, double value) {
                       static_cast<Recorder*>(user)->steps.push_back({name, value, kind == SB_REF_ROUNDED});
                     },
                     this};
  void exchange_from(size_t first);
};

sb_error check_exact(sb_profile profile, std::initializer_list<std::pair<const char*, float>> scales) {
  sb_error error{};
  for (const auto& [name, scale] : scales) {
    // Only y is divided by.
    if (check_scale(name, profile, scale, *name == 'y', &error) != SB_OK) return error;
  }
  return error;
}

/// A step's name with the operands' roles exchanged, word by word: "fma(b, rb, fixed)" -> "fma(a, ra,
/// fixed)".
std::string exchange(const std::string& name) {
  static const std::map<std::string, std::string> other = {{"a", "b"},
                                                           {"b", "a"},
                                                           {"ra", "rb"},
                                                           {"rb", "ra"},
                                                           {"ma", "mb"},
                                                           {"mb", "ma"},
                                                           {"a_scale", "b_scale"},
                                                           {"b_scale", "a_scale"},
                                                           {"a_zero_point", "b_zero_point"},
                                                           {"b_zero_point", "a_zero_point"}};
  std::string result, word;
  for (const char c : name + '\n') {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    const auto found = other.find(word);
    result += (found == other.end() ? word : found->second) + c;
    word.clear();
  }
  result.pop_back();  // the line end that closed the last word
  return result;
}

void Recorder::exchange_from(size_t first) {
  for (size_t i = first; i < steps.size(); ++i) steps[i].name = exchange(steps[i].name);
}

/// One profile's trace, or a message why the profile has no answer.
using Run = std::function<std::string(sb_profile, Trace*)>;

Form form_of(const std::string& name) {
  if (name == "vector") return Form::vector;
  if (name == "scalar_a") return Form::scalar_a;
  if (name == "scalar_b") return Form::scalar_b;
  throw std::runtime_error("--form is \"" + name + "\"; it is vector, scalar_a or scalar_b");
}

sb_quant quant(const Arguments& args, const std::string& operand, Range range) {
  return {args.real("--" + operand + "-scale"),
          args.integer("--" + operand + "-zero-point", range.lo, range.hi)};
}

Run binary(const Arguments& args, bool is_add) {
  const Range range = range_of(type_of(args.type, false));
  const sb_quant a = quant(args, "a", range), b = quant(args, "b", range), y = quant(args, "y", range);
  const int32_t av = args.integer("--a", range.lo, range.hi), bv = args.integer("--b", range.lo, range.hi);
  const Form form = form_of(args.form);
  return [=](sb_profile profile, Trace* out) -> std::string {
    const sb_error error = check_exact(profile, {{"a", a.scale}, {"b", b.scale}, {"y", y.scale}});
    if (error.status != SB_OK) return error.message;
    Recorder recorder;
    if (is_add) {
      // The reference names its first operand a. Names are turned back to the operands given here:
      // prepare_add exchanges them for a scalar a, add_value where the parameters say so.
      const AddParams p = prepare_add(profile, form, a, b, y, &recorder.trace);
      if (form == Form::scalar_a) recorder.exchange_from(0);
      const size_t prepared = recorder.steps.size();
      out->rule = name(p.rule);
      out->result = add_value(p, av, bv, range, &recorder.trace);
      if (p.swapped) recorder.exchange_from(prepared);
    } else {
      const MulParams p = prepare_mul(profile, a, b, y, &recorder.trace);
      out->rule = name(p.rule);
      out->result = mul_value(p, av, bv, range, &recorder.trace);
    }
    out->steps = recorder.steps;
    out->zero_point = y.zero_point;
    return "";
  };
}

Run quantize(const Arguments& args) {
  const sb_type type = type_of(args.type, false);
  const Range range = range_of(type);
  const sb_quant y = quant(args, "y", range);
  const float x = args.real("--x");
  return [=](sb_profile profile, Trace* out) -> std::string {
    const sb_error error = check_exact(profile, {{"y", y.scale}});
    if (error.status != SB_OK) return error.message;
    Recorder recorder;
    const QuantizeParams p = prepare_quantize(profile, type, y);
    // The reciprocal is a faster way to the codes of the division, which is what the reference does.
    out->rule = name(p.rule == QuantizeRule::f32_reciprocal ? QuantizeRule::f32_divide : p.rule);
    out->result = quantize_value(p, x, range, &recorder.trace);
    out->zero_point = y.zero_point;
    out->steps = recorder.steps;
    return "";
  };
}

Run dequantize(const Arguments& args) {
  const sb_type type = type_of(args.type, true);
  const int64_t lo = type == SB_INT32 ? INT32_MIN : range_of(type).lo,
                hi = type == SB_INT32 ? INT32_MAX : range_of(type).hi;
  const sb_quant q{args.real("--x-scale"), args.integer("--x-zero-point", lo, hi)};
  const int32_t x = args.integer("--x", lo, hi);
  return [=](sb_profile profile, Trace* out) -> std::string {
    const sb_error error = check_exact(profile, {{"x", q.scale}});
    if (error.status != SB_OK) return error.message;
    Recorder recorder;
    const DequantizeParams p = prepare_dequantize(profile, type, q);
    out->rule = name(p.rule);
    out->result = dequantize_value(p, x, &recorder.trace);
    out->steps = recorder.steps;
    return "";
  };
}

Run requantize(const Arguments& args) {
  const Range range = range_of(type_of(args.type, false));
  const int32_t acc = args.integer("--acc", INT32_MIN, INT32_MAX),
                bias = args.integer("--bias", INT32_MIN, INT32_MAX);
  const float scale = args.real("--scale");
  const int32_t zero_point = args.integer("--y-zero-point", range.lo, range.hi);
  return [=](sb_profile profile, Trace* out) -> std::string {
    const sb_error error = check_exact(profile, {{"scale", scale}});
    if (error.status != SB_OK) return error.message;
    Recorder recorder;
    const RequantizeRule rule = prepare_requantize(profile, &scale, 1);
    out->rule = name(rule);
    out->result = requantize_value(rule, acc, bias, scale, zero_point, range, &recorder.trace);
    out->zero_point = zero_point;
    out->steps = recorder.steps;
    return "";
  };
}

/// "1,2,3" as codes.
std::vector<uint8_t> codes(const Arguments& args, const std::string& option, Range range) {
  std::vector<uint8_t> list;
  const std::string text = args.get(option) + ",";
  for (size_t at = 0, comma; (comma = text.find(',', at)) != std::string::npos; at = comma + 1) {
    Arguments one = args;
    one.values[option] = text.substr(at, comma - at);
    list.push_back(static_cast<uint8_t>(one.integer(option, range.lo, range.hi)));
  }
  return list;
}

/// One output of a matrix product: a row of A, a column of B, and what QGemm or MatMulIntegerToFloat adds.
Run matmul(const Arguments& args, bool to_float) {
  const sb_type a_type = type_of(args.type, false), b_type = type_of(args.get("--b-type"), false);
  const Range a_range = range_of(a_type), b_range = range_of(b_type);
  const std::vector<uint8_t> a = codes(args, "--a", a_range), b = codes(args, "--b", b_range);
  if (a.size() != b.size())
    throw std::runtime_error("--a has " + std::to_string(a.size()) + " codes and --b " +
                             std::to_string(b.size()));
  const int32_t za = args.integer("--a-zero-point", a_range.lo, a_range.hi),
                zb = args.integer("--b-zero-point", b_range.lo, b_range.hi);
  const float sa = args.real("--a-scale"), sb = args.real("--b-scale");
  const float alpha = to_float ? 1 : args.real("--alpha"), bias = to_float ? args.real("--bias") : 0;
  const int32_t c = to_float ? 0 : args.integer("--c", INT32_MIN, INT32_MAX);
  const sb_quant y = to_float ? sb_quant{1, 0} : quant(args, "y", a_range);
  return [=](sb_profile profile, Trace* out) -> std::string {
    const sb_error error =
        check_exact(profile, {{"alpha", alpha}, {"a", sa}, {"b", sb}, {"bias", bias}, {"y", y.scale}});
    if (error.status != SB_OK) return error.message;
    Recorder recorder;
    sb_ref_trace* trace = &recorder.trace;
    const DotRule dot = dot_rule(profile, a_type, b_type);
    // The wrapping rule multiplies int8 codes: a uint8 one is 128 less, and so is its zero point.
    const int32_t shift = dot == DotRule::pairwrap && a_type == SB_UINT8 ? 128 : 0;
    std::vector<uint8_t> used = a;
    for (uint8_t& code : used) code = static_cast<uint8_t>(code - shift);
    int32_t row_sum = 0, column_sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      row_sum += sb_ref_code(used[i], shift || a_type == SB_INT8);
      column_sum += sb_ref_code(b[i], b_type == SB_INT8);
    }
    const int32_t d = sb_ref_dot(static_cast<sb_ref_dot_rule>(dot), used.data(), 1,
                                 shift || a_type == SB_INT8, b.data(), 1, b_type == SB_INT8, a.size());
    const int32_t acc = sb_ref_gemm_acc(d, za - shift, zb, row_sum, column_sum, a.size(), trace);
    if (profile == SB_EXACT) {
      out->rule = "exact";
      out->result = to_float ? static_cast<double>(sb_ref_gemm_exact_float(acc, c, alpha, sa, sb, bias))
                             : sb_ref_gemm_exact_code(acc, c, alpha, sa, sb, y.scale, y.zero_point,
                                                      a_range.lo, a_range.hi);
    } else if (to_float) {
      const float scale = float_scale(alpha, sa, sb);
      sb_ref_step(trace, "scale = f32(a_scale * b_scale)", scale);
      const GemmOutput rule = float_output(profile, bias != 0);
      out->rule = std::string("dot_") + name(dot) + " + " + name(rule);
      out->result =
          sb_ref_gemm_to_float(acc, scale, bias != 0 ? &bias : nullptr, rule == GemmOutput::f32_fused, trace);
    } else {
      const float scale = codes_scale(alpha, sa, sb, y.scale);
      sb_ref_step(trace, "scale = f32(f32(f32(alpha * a_scale) * b_scale) / y_scale)", scale);
      const RequantizeRule rule = prepare_requantize(profile, &scale, 1);
      out->rule = std::string("dot_") + name(dot) + " + " + name(rule);
      out->result = requantize_value(rule, acc, c, scale, y.zero_point, a_range, trace);
    }
    out->zero_point = y.zero_point;
    out->steps = recorder.steps;
    return "";
  };
}

int explain(const char* op, const Arguments& args, const Run& run) {
  Explanation e{op, {}, args.notes};
  sb_profile only{};
  sb_error error{};
  if (!args.profile.empty() && sb_profile_from_name(args.profile.c_str(), &only, &error) != SB_OK)
    throw std::runtime_error(error.message);
  for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
    const auto profile = static_cast<sb_profile>(p);
    if (!args.profile.empty() && profile != only) continue;
    Trace t{profile, "", {}, 0, 0};
    const std::string problem = run(profile, &t);
    if (problem.empty()) e.traces.push_back(t);
    else if (!args.profile.empty()) throw std::runtime_error(problem);
    else e.notes.push_back(std::string(sb_profile_name(profile)) + " is left out: " + problem);
  }
  if (args.json) print_json(e);
  else print_text(e);
  return 0;
}

/// One operator: its options and defaults ("" means required), and what makes a Run of them.
struct Operator {
  const char* name;
  const char* description;
  std::vector<std::pair<std::string, std::string>> options;
  std::function<Run(const Arguments&)> make;
};

const std::vector<Operator>& operators() {
  const std::vector<std::pair<std::string, std::string>> two = {{"--a", ""},       {"--b", ""},
                                                                {"--a-scale", ""}, {"--a-zero-point", "0"},
                                                                {"--b-scale", ""}, {"--b-zero-point", "0"},
                                                                {"--y-scale", ""}, {"--y-zero-point", "0"}};
  static const std::vector<Operator> list = {
      {"QLinearAdd", "y = a + b on codes", two, [](const Arguments& a) { return binary(a, true); }},
      {"QLinearMul", "y = a * b on codes", two, [](const Arguments& a) { return binary(a, false); }},
      {"QuantizeLinear",
       "float32 to code",
       {{"--x", ""}, {"--y-scale", ""}, {"--y-zero-point", "0"}},
       quantize},
      {"DequantizeLinear",
       "code to float32",
       {{"--x", ""}, {"--x-scale", ""}, {"--x-zero-point", "0"}},
       dequantize},
      {"Requantize",
       "int32 accumulator to code",
       {{"--acc", ""}, {"--bias", "0"}, {"--scale", ""}, {"--y-zero-point", "0"}},
       requantize},
      {"QLinearMatMul",
       "a row of A (1,2,3) times a column of B to a code; QGemm with --alpha and --c",
       {{"--a", ""},
        {"--b", ""},
        {"--b-type", "int8"},
        {"--a-zero-point", "0"},
        {"--b-zero-point", "0"},
        {"--a-scale", ""},
        {"--b-scale", ""},
        {"--alpha", "1"},
        {"--c", "0"},
        {"--y-scale", ""},
        {"--y-zero-point", "0"}},
       [](const Arguments& a) { return matmul(a, false); }},
      {"MatMulIntegerToFloat",
       "a row of A (1,2,3) times a column of B to float32",
       {{"--a", ""},
        {"--b", ""},
        {"--b-type", "int8"},
        {"--a-zero-point", "0"},
        {"--b-zero-point", "0"},
        {"--a-scale", ""},
        {"--b-scale", ""},
        {"--bias", "0"}},
       [](const Arguments& a) { return matmul(a, true); }}};
  return list;
}

}  // namespace

void add_explain(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("explain", "Every step of one value under every profile");
  command->require_subcommand(1);
  for (const Operator& op : operators()) {
    CLI::App* sub = command->add_subcommand(op.name, op.description);
    auto args = std::make_shared<Arguments>();
    sub->add_option("--type", args->type, "int8 or uint8 (DequantizeLinear: int32 too)")
        ->capture_default_str();
    sub->add_option("--profile", args->profile, "only this profile; default: all");
    if (op.name == std::string("QLinearAdd"))
      sub->add_option("--form", args->form, "vector, scalar_a or scalar_b: which operand is a single value")
          ->capture_default_str();
    sub->add_flag("--json", args->json, "machine-readable");
    for (const auto& [option, fallback] : op.options) {
      std::string& value = args->values[option] = fallback;
      CLI::Option* o = sub->add_option(option, value, fallback.empty() ? "required" : "default " + fallback);
      if (fallback.empty()) o->required();
    }
    sub->callback([=, name = op.name, make = op.make] {
      const Run run = make(*args);  // first: reading the numbers makes the notes
      *status = explain(name, *args, run);
    });
  }
}

}  // namespace samebit::tools
