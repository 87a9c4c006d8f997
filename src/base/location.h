// Interned source locations: (code object, instruction, parent) triples. Making one costs a hash
// look-up; file, line and function are resolved only when somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphwright {

using Location = uint32_t;
inline constexpr Location kNoLocation = 0;

struct LocationKey {
  const void* code = nullptr;     // a code object that the table keeps alive through the resolver
  int32_t instruction = 0;        // byte offset of the instruction in that code object
  Location parent = kNoLocation;  // the calling frame's location
  bool operator==(const LocationKey&) const = default;
};

struct SourceFrame {
  std::string file;
  int line = 0;
  std::string function;
  bool converted = false;  // the frame ran code that AutoGraph converted
};

// How the language front end turns keys into text. Set once when the front end is loaded.
struct LocationResolver {
  SourceFrame (*resolve)(const LocationKey&) = nullptr;
  void (*retain)(const void* code) = nullptr;  // called once per code object, on first interning
};

void set_location_resolver(LocationResolver resolver);
Location intern_location(const LocationKey& key);  // thread safe
LocationKey location_key(Location location);
// Innermost frame last, as Python prints tracebacks. Empty for kNoLocation or without a resolver.
std::vector<SourceFrame> resolve_location(Location location);
// "file.py:12" of the innermost frame, or "".
std::string location_summary(Location location);

}  // namespace graphwright
