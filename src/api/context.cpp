// Contexts and the list of backends.
#include <cstdio>
#include <cstdlib>

#include "api/plan.h"

using namespace samebit;

namespace {

/// Index of a backend that a cap names, checked for this CPU.
sb_status find_cap(const char* source, const char* name, size_t* index, sb_error* error) {
  *index = find_backend(name);
  if (*index == backend_count()) {
    char list[120] = "";
    size_t used = 0;
    for (size_t i = 0; i < backend_count() && used < sizeof list; ++i)
      used += static_cast<size_t>(
          std::snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", backend(i).name));
    return fail(error, SB_UNSUPPORTED, "%s is \"%.40s\"; this build has %s", source, name, list);
  }
  if (const char* missing = backend(*index).missing(cpu()))
    return fail(error, SB_UNSUPPORTED, "%s is \"%s\"; this CPU lacks %s", source, name, missing);
  return SB_OK;
}

}  // namespace

extern "C" {

sb_status sb_context_init(sb_context* context, const sb_options* options, sb_error* error) {
  if (!context) return fail(error, SB_BAD_ARGUMENT, "context is null");
  std::memset(context->opaque, 0, sizeof context->opaque);
  const sb_profile profile = options ? options->profile : SB_ORT_X64_VNNI;
  if (!sb_profile_name(profile))
    return fail(error, SB_BAD_ARGUMENT, "profile is %d; valid are 0 to %d", static_cast<int>(profile),
                SB_PROFILE_COUNT - 1);
  size_t cap = backend_count() - 1;
  const char* const caps[2][2] = {{"backend", options ? options->backend : nullptr},
                                  {"SAMEBIT_BACKEND", std::getenv("SAMEBIT_BACKEND")}};
  for (const auto& [source, name] : caps) {
    if (!name || !*name) continue;
    size_t index = 0;
    const sb_status status = find_cap(source, name, &index, error);
    if (status != SB_OK) return status;
    if (index < cap) cap = index;
  }
  const ContextView view{kContextMagic, profile, static_cast<uint32_t>(best_backend(cap))};
  seal(view, context);
  return ok(error);
}

sb_profile sb_context_profile(const sb_context* context) {
  const ContextView view = context ? open<ContextView>(context) : ContextView{};
  return view.magic == kContextMagic ? view.profile : SB_ORT_X64_VNNI;
}

const char* sb_context_backend(const sb_context* context) {
  const ContextView view = context ? open<ContextView>(context) : ContextView{};
  return view.magic == kContextMagic ? backend(view.backend).name : nullptr;
}

size_t sb_backend_count(void) { return backend_count(); }

sb_status sb_backend_get(size_t index, sb_backend* out, sb_error* error) {
  if (!out) return fail(error, SB_BAD_ARGUMENT, "backend is null");
  if (index >= backend_count())
    return fail(error, SB_BAD_ARGUMENT, "index is %zu; this build has %zu backends", index, backend_count());
  const Backend& row = backend(index);
  const char* missing = row.missing(cpu());
  *out = {row.name, row.parent, missing == nullptr, missing ? missing : ""};
  return ok(error);
}

}  // extern "C"
