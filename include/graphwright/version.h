// The library's version.
#pragma once

#include <graphwright/export.h>

namespace graphwright {

// "major.minor.patch", a static string.
GW_API const char* version();

}  // namespace graphwright
