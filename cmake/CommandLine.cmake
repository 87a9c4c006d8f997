# The program `graphwright`, built from the same objects as the library: passes on text.
add_executable(graphwright_cli "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
gw_compile_setup(graphwright_cli)
target_link_libraries(graphwright_cli PRIVATE graphwright_core)
set_target_properties(
  graphwright_cli PROPERTIES OUTPUT_NAME graphwright
                             RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
                             BUILD_RPATH "${GW_LIBRARY_DIR}")
add_dependencies(graphwright_cli gw_runtime_files)
