// Opens the heavy libraries on first need. They lie beside the core, so no search path is
// consulted.
#pragma once

#include <string>

#include "plugins/dnn_interface.h"
#include "plugins/lapack_interface.h"

namespace graphwright {

// The functions of oneDNN and of OpenBLAS. The first call loads the library (several milliseconds);
// later calls cost one load. Throws Error(kUnavailable) that names the file and the folders
// searched.
const GwDnnInterface& dnn_library();
const GwLapackInterface& lapack_library();

// Opens `file_name` from the folders where our shared objects may lie relative to the core (an
// installed package, an installed C++ library, a build tree). Throws as above; `purpose` completes
// "needed for ...".
void* open_library(const std::string& file_name, const std::string& purpose);

}  // namespace graphwright
