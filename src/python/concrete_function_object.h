// The Python type ConcreteFunction: one trace of a function, called with its own signature.
#pragma once

#include <memory>
#include <string>

#include "python/polymorphic_function.h"

namespace graphwright {

// A new ConcreteFunction; `instance` is kept alive by it where it is a method's.
PyObject* make_concrete_function(std::shared_ptr<PolymorphicFunction> function,
                                 std::shared_ptr<Trace> trace, PyObject* instance);

// "Input Parameters: ... Output Type: ... Captures: ...", as TensorFlow lays it out.
std::string trace_signature_text(PolymorphicFunction& function, const Trace& trace);

}  // namespace graphwright
