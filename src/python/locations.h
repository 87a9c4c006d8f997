// Where the running Python program is: the line of the user's that each node of a graph remembers.
#pragma once

#include "base/location.h"
#include "python/python_api.h"

namespace graphwright {

// Makes Python's frames known to src/base and src/ir. Called once by the module.
void install_locations();

// Where Python is now, frames of this package left out. kNoLocation without a frame.
Location current_python_location();

// While it lives, locations within it hang below the one where it was made: a trace looks at the
// frames outside it once, not for every node.
class LocationScope {
 public:
  LocationScope();
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

 private:
  const void* previous_frame_;
  Location previous_location_;
};

}  // namespace graphwright
