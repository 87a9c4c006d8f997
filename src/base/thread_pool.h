// One pool for the whole process. The implementation is oneTBB, or an instrumented std::thread pool
// where GW_STD_THREAD_POOL is defined (the tsan preset: the packaged TBB is not instrumented).
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace graphwright {

// How many threads work at once, the caller's included; at least 1. GRAPHWRIGHT_NUM_THREADS limits
// it.
int thread_count();

// Calls body(begin, end) for consecutive ranges that cover [0, count), each at least `grain` long
// except the last; the ranges depend on count and grain only, never on the number of threads, so
// that per-range results combine to the same bits. Runs inline when count <= grain. body must not
// throw. Once the run that the caller works for is stopped (run_control.h), ranges are left out.
void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

}  // namespace graphwright
