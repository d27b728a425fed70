// The subcommands of the program. Each registers its options and, as the parsed subcommand, runs and sets
// `status`.
#pragma once

#include <CLI/CLI.hpp>

namespace samebit::tools {

void add_info(CLI::App& app, int* status);
void add_explain(CLI::App& app, int* status);
void add_crosscheck(CLI::App& app, int* status);

}  // namespace samebit::tools
