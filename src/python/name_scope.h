// The name scopes of this thread: those of the graph that is being built, and in eager mode the
// path that names of variables start with.
#pragma once

#include <string>
#include <string_view>

namespace graphwright {

// "layer/dense/" while those scopes are entered; "" at the top.
std::string current_scope_path();

// Enters a scope of the current context and returns the new path. A name that ends in "/" is that
// path itself; an empty one is the top. ValueError for characters that node names must not have.
std::string enter_name_scope(std::string_view name);
// Leaves the scope entered last.
void leave_name_scope();

}  // namespace graphwright
