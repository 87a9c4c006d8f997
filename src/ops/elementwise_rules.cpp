#include "ops/elementwise_rules.h"

namespace graphwright {

Expression conjugated(const Expression& x) { return is_complex(x.dtype()) ? x.apply("Conj") : x; }

Expression where(const Expression& condition, const Expression& x, const Expression& y) {
  return {condition.builder(), condition.builder().op("SelectV2", {condition, x, y})};
}

Expression zeros_like(const Expression& x) { return {x.builder(), zeros_like(x.builder(), x)}; }

}  // namespace graphwright
