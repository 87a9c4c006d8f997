#include "ops/gather_support.h"

#include "base/status.h"
#include "kernels/gather.h"
#include "ops/op_support.h"

namespace graphwright {

std::string index_position(int64_t flat, std::span<const int64_t> dims) {
  if (dims.empty()) return "";
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    text = std::to_string(flat % dims[i]) + (text.empty() ? "" : ",") + text;
    flat /= dims[i];
  }
  return "[" + text + "]";
}

void gather_along(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
                  Tensor& output) {
  int64_t bad = kernels::gather(params, indices, axis, batch_dims, output);
  if (bad < 0) return;
  throw Error(Code::kInvalidArgument, "indices" + index_position(bad, indices.dims()) + " = " +
                                          std::to_string(integer_at(indices, bad)) +
                                          " is not in [0, " + std::to_string(params.dim(axis)) +
                                          ")")
      .with_argument("indices");
}

}  // namespace graphwright
