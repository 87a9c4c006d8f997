# The public C++ interface: src/api, which only the C++ library and the tests link (the Python
# module has no use for it), and the header of functions that is made from the tables.
include_guard(GLOBAL)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/api/*.cpp")
add_library(gw_api OBJECT ${sources})
gw_compile_setup(gw_api)
# What a public header does not declare would silently not be exported.
target_compile_options(gw_api PRIVATE -Wmissing-declarations)

add_executable(gw_ops_header_writer "${PROJECT_SOURCE_DIR}/src/api/generator/ops_header.cpp")
gw_compile_setup(gw_ops_header_writer)
target_link_libraries(gw_ops_header_writer PRIVATE graphwright_core)
set_target_properties(gw_ops_header_writer PROPERTIES BUILD_RPATH "${GW_LIBRARY_DIR}")
add_dependencies(gw_ops_header_writer gw_runtime_files)

set(GW_GENERATED_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
set(GW_OPS_HEADER "${GW_GENERATED_INCLUDE_DIR}/graphwright/ops.h")
file(MAKE_DIRECTORY "${GW_GENERATED_INCLUDE_DIR}/graphwright")
add_custom_command(
  OUTPUT "${GW_OPS_HEADER}"
  COMMAND gw_ops_header_writer "${GW_OPS_HEADER}"
  DEPENDS gw_ops_header_writer
  COMMENT "Writing graphwright/ops.h from the tables"
  VERBATIM)
add_custom_target(gw_ops_header DEPENDS "${GW_OPS_HEADER}")
