#include "formulas/isa.h"

#include <cstdlib>
#include <string>

#include "base/status.h"

namespace graphwright {

namespace {

Isa choose_isa() {
  std::string known;
  const char* forced = std::getenv("GRAPHWRIGHT_ISA");
  for (int i = kIsaCount - 1; i >= 0; --i) {
    Isa isa = static_cast<Isa>(i);
    if (forced && *forced) {
      if (isa_name(isa) == forced) {
        if (cpu_supports(isa)) return isa;
        throw_invalid_argument("GRAPHWRIGHT_ISA=" + std::string(forced) +
                               ": this CPU does not have these instructions");
      }
      known = std::string(isa_name(isa)) + (known.empty() ? "" : ", ") + known;
    } else if (cpu_supports(isa)) {
      return isa;
    }
  }
  if (forced && *forced) {
    throw_invalid_argument("GRAPHWRIGHT_ISA=" + std::string(forced) + ": must be one of " + known);
  }
  return static_cast<Isa>(0);
}

}  // namespace

std::string_view isa_name(Isa isa) {
#define GW_ISA_NAME(name) #name,
  static constexpr std::string_view kNames[] = {GW_FOR_EACH_ISA(GW_ISA_NAME)};
#undef GW_ISA_NAME
  return kNames[static_cast<int>(isa)];
}

bool cpu_supports(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::sse42:
      return __builtin_cpu_supports("sse4.2");
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    case Isa::avx512:
      return cpu_supports(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    default:
      return false;
  }
#else
  return isa == Isa::generic;
#endif
}

Isa current_isa() {
  static const Isa chosen = choose_isa();
  return chosen;
}

}  // namespace graphwright
