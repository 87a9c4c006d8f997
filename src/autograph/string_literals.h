// Python string literals: the quotes and escapes that Python 3.11's `ast.unparse` and repr choose.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograph/node_table.h"

namespace graphwright::autograph {

const std::vector<std::string>& all_quotes();
const std::vector<std::string>& multi_quotes();  // the triple ones

// The inside of a literal of `text` (UTF-8) with few escapes, and which of `quote_types` may
// surround it, the best first. Newlines and tabs are escaped only if asked for.
std::pair<std::string, std::vector<std::string>> string_literal(
    const NodeTable& table, const std::string& text, const std::vector<std::string>& quote_types,
    bool escape_special_whitespace);
// The whole literal, with newlines and tabs as they are.
std::string avoid_backslash_literal(const NodeTable& table, const std::string& text,
                                    const std::vector<std::string>& quote_types);

// As repr writes them.
std::string string_repr(const NodeTable& table, const std::string& utf8);
std::string bytes_repr(const std::string& bytes);

}  // namespace graphwright::autograph
