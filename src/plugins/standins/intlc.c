// Stands in for libintlc.so.5, which the TBB build of libdnnl names as needed. These two functions
// are all that libdnnl takes from it.
#include <string.h>

#define GW_EXPORT __attribute__((visibility("default")))

GW_EXPORT void* _intel_fast_memcpy(void* destination, const void* source, size_t size) {
  return memcpy(destination, source, size);
}

GW_EXPORT void* _intel_fast_memset(void* destination, int value, size_t size) {
  return memset(destination, value, size);
}
