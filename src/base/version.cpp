#include <graphwright/version.h>

namespace graphwright {

const char* version() { return GW_VERSION; }

}  // namespace graphwright
