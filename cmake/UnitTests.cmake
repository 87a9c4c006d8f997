# The C++ unit tests: one executable.
find_path(GW_DOCTEST_INCLUDE_DIR doctest/doctest.h)
if(NOT GW_DOCTEST_INCLUDE_DIR)
  message(FATAL_ERROR "doctest's header is missing (Debian: apt-get install doctest-dev)")
endif()
file(GLOB test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpp/*.cpp")
add_executable(graphwright_tests ${test_sources})
gw_compile_setup(graphwright_tests)
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/cpp/passes_golden_test.cpp" PROPERTIES
                            COMPILE_DEFINITIONS
                            GW_PASS_GOLDENS="${PROJECT_SOURCE_DIR}/tests/passes")
target_include_directories(graphwright_tests SYSTEM PRIVATE "${GW_DOCTEST_INCLUDE_DIR}")
target_link_libraries(graphwright_tests PRIVATE graphwright_core)
target_sources(graphwright_tests PRIVATE $<TARGET_OBJECTS:gw_api>)
target_include_directories(graphwright_tests PRIVATE "${GW_GENERATED_INCLUDE_DIR}")
set_target_properties(
  graphwright_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
                               BUILD_RPATH "${GW_LIBRARY_DIR}")
add_dependencies(graphwright_tests gw_ops_header gw_runtime_files ${GW_PLUGIN_TARGETS})
if(GW_PLUGINS)
  target_compile_definitions(graphwright_tests PRIVATE GW_HAS_PLUGINS=1)
endif()
add_test(NAME unit COMMAND graphwright_tests)

add_test(NAME layers COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/check_layers")
