// Vector widths. Files that hold formulas are compiled once per width with GW_ISA defined to its
// name, and once without for recording; everything they define lives in a namespace of that name,
// so that the linker can never put one width's code where another's is meant.
#pragma once

#include <cstdint>
#include <string_view>

// GW_NUMBERS is the namespace of the number types of this compilation: graphwright::sse42, avx2,
// avx512 or generic (vectors), or graphwright::recording.
#ifdef GW_ISA
#define GW_NUMBERS GW_ISA
#else
#define GW_NUMBERS recording
#endif

// GW_FOR_EACH_ISA(X) applies X to the names of the widths this build has, narrowest first.
#if defined(__x86_64__)
#define GW_FOR_EACH_ISA(X) X(sse42) X(avx2) X(avx512)
#else
#define GW_FOR_EACH_ISA(X) X(generic)
#endif

namespace graphwright {

#define GW_ISA_ENUMERATOR(name) name,
enum class Isa : uint8_t { GW_FOR_EACH_ISA(GW_ISA_ENUMERATOR) kCount };
#undef GW_ISA_ENUMERATOR
inline constexpr int kIsaCount = static_cast<int>(Isa::kCount);

std::string_view isa_name(Isa isa);
// Whether this machine can run code of that width.
bool cpu_supports(Isa isa);
// The width in use: the widest that the CPU supports, or what the environment variable
// GRAPHWRIGHT_ISA names. Chosen once, on first use. Throws Error(kInvalidArgument) where the
// variable names an unknown width or one that the CPU lacks.
Isa current_isa();

}  // namespace graphwright
