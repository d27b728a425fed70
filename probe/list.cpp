#include "probe/lists.h"

namespace samebit::probe {

const std::vector<Probe>& probes() {
  static const std::vector<Probe> list = [] {
    std::vector<Probe> v;
    add_binary(&v);
    add_unary(&v);
    add_requantize(&v);
    add_gemm(&v);
    return v;
  }();
  return list;
}

}  // namespace samebit::probe
