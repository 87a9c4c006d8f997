// What the tests of the public interface share.
#pragma once

#include <string>

#include <graphwright/graphwright.h>

// The error that a function throws; a test fails where it throws none.
template <class Function>
gw::Error error_of(Function function) {
  try {
    function();
  } catch (const gw::Error& error) {
    return error;
  }
  return gw::Error(gw::Code::kOk, "nothing was thrown");
}
inline bool mentions(const char* text, const char* part) {
  return std::string(text).find(part) != std::string::npos;
}
inline gw::TensorSpec scalar_spec() { return gw::TensorSpec({}, gw::float32); }
