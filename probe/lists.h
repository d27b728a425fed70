// The functions that append an operator's probes to the list, one per file.
#pragma once

#include <vector>

#include "probe/probe.h"

namespace samebit::probe {

void add_binary(std::vector<Probe>* list);
void add_unary(std::vector<Probe>* list);
void add_requantize(std::vector<Probe>* list);
void add_gemm(std::vector<Probe>* list);

}  // namespace samebit::probe
