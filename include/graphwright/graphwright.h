// The C++ library in one header. `gw::` is short for `graphwright::api::`, whose inline namespace
// v1 is the version of the interface: names of another version never meet these.
//
// Define GW_NO_SHORT_NAMESPACE before including it to do without `gw`.
#pragma once

#include <graphwright/control_flow.h>
#include <graphwright/dtype.h>
#include <graphwright/error.h>
#include <graphwright/function.h>
#include <graphwright/gradient.h>
#include <graphwright/input.h>
#include <graphwright/list.h>
#include <graphwright/ops.h>
#include <graphwright/shape.h>
#include <graphwright/tensor.h>
#include <graphwright/variable.h>
#include <graphwright/version.h>

#ifndef GW_NO_SHORT_NAMESPACE
namespace gw = graphwright::api;
#endif
