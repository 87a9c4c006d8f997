// The table of rules that verify_graph (graph.h) runs, by name.
#pragma once

#include <string_view>
#include <vector>

namespace graphwright {

// Every rule has a test that breaks it: tests/cpp/ir_verify_test.cpp.
std::vector<std::string_view> verifier_rules();

}  // namespace graphwright
