// samebit: information, explanations and cross-checks on the command line.
#include <cstdio>
#include <exception>

#include "samebit/samebit.h"
#include "tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app("samebit: kernels for quantized neural networks with the same bits on every CPU", "samebit");
  app.set_version_flag("--version", sb_version());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int status = 0;
  samebit::tools::add_info(app, &status);
  samebit::tools::add_explain(app, &status);
  samebit::tools::add_crosscheck(app, &status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;  // --help is no error; wrong usage is status 2
  } catch (const std::exception& e) {
    std::fprintf(stderr, "samebit: %s\n", e.what());
    return 2;
  }
  return status;
}
