// A row of the op table as an OpDef message: names, types and attributes, without documentation.
#pragma once

#include <string>
#include <string_view>

namespace graphwright {

struct OpDef;

namespace serial {

// `name`: the op's name in the exported form, where that differs (StatelessIf).
std::string encode_op_def(const OpDef& op, std::string_view name);

}  // namespace serial
}  // namespace graphwright
