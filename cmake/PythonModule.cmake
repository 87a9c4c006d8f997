# The extension module graphwright._core: nanobind in split mode, so that one file serves every
# Python from 3.10 on.
find_package(nanobind CONFIG REQUIRED)
file(GLOB python_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/python/*.cpp")
nanobind_add_module(_core NOMINSIZE NOSTRIP NB_SUPPRESS_WARNINGS BACKEND_MODULE nanobind_backend
                    ${python_sources})
gw_compile_setup(_core)
target_link_libraries(_core PRIVATE graphwright_core)
# Only the module's entry point is exported; the C++ library's symbols stay private to it.
set(exports "${PROJECT_SOURCE_DIR}/cmake/python_module.map")
target_link_options(_core PRIVATE "-Wl,--version-script=${exports}")
set_property(TARGET _core APPEND PROPERTY LINK_DEPENDS "${exports}")

# In the build tree, <build>/python is an importable copy of the package: the module itself beside
# links to the sources.
set(GW_PACKAGE_DIR "${PROJECT_BINARY_DIR}/python/graphwright")
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${GW_PACKAGE_DIR}"
                                       BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/lib")
add_custom_target(
  gw_python_package ALL
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/link_package.py"
          "${PROJECT_SOURCE_DIR}/python/graphwright" "${GW_PACKAGE_DIR}" "${GW_LIBRARY_DIR}"
  COMMENT "Linking the Python package"
  VERBATIM)

# Type stubs of the functions that are made from the tables, which no source file names. A module
# under a sanitizer cannot simply be imported, and needs none.
if(NOT GW_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(GW_STUBS_DIR "${PROJECT_BINARY_DIR}/stubs")
  add_custom_command(
    OUTPUT "${GW_STUBS_DIR}/__init__.pyi"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${GW_STUBS_DIR}"
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_BINARY_DIR}/python"
            "${Python_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tools/generate_stubs"
            "${GW_STUBS_DIR}"
    DEPENDS _core gw_python_package gw_runtime_files "${PROJECT_SOURCE_DIR}/tools/generate_stubs"
            "${PROJECT_SOURCE_DIR}/python/graphwright/_namespace.py"
    COMMENT "Writing type stubs from the tables"
    VERBATIM)
  add_custom_target(gw_stubs ALL DEPENDS "${GW_STUBS_DIR}/__init__.pyi")
endif()
