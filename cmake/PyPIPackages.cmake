# Finds the native dependencies that pip installed beside the interpreter and wraps them as
# targets: gw_fmt, gw_tbb, gw_dnnl, gw_openblas. The paths are set by force, so that a library
# that happens to be installed on the machine is never picked up instead.
include_guard(GLOBAL)

execute_process(
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/pypi_packages.py"
  OUTPUT_VARIABLE _gw_lines
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" _gw_lines "${_gw_lines}")
foreach(_line IN LISTS _gw_lines)
  if(_line MATCHES "^([A-Za-z_]+)=(.*)$")
    set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" CACHE PATH "from the Python environment" FORCE)
  endif()
endforeach()

function(gw_require variable distribution)
  if(NOT ${variable} OR NOT EXISTS "${${variable}}")
    message(FATAL_ERROR "The Python package ${distribution} is missing from ${Python_EXECUTABLE}'s "
                        "environment; `./dev` installs every build dependency into .venv.")
  endif()
endfunction()

gw_require(GW_FMT_INCLUDE_DIR cmeel-fmt)
add_library(gw_fmt INTERFACE)
target_include_directories(gw_fmt SYSTEM INTERFACE "${GW_FMT_INCLUDE_DIR}")
target_compile_definitions(gw_fmt INTERFACE FMT_HEADER_ONLY=1)

function(gw_import_library target include_dir library)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(
    ${target} PROPERTIES IMPORTED_LOCATION "${library}"
                         INTERFACE_INCLUDE_DIRECTORIES "${include_dir}"
                         INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include_dir}")
endfunction()

if(GW_THREADS STREQUAL "tbb")
  gw_require(GW_TBB_INCLUDE_DIR tbb-devel)
  gw_require(GW_TBB_LIBRARY tbb4u)
  gw_import_library(gw_tbb "${GW_TBB_INCLUDE_DIR}" "${GW_TBB_LIBRARY}")
endif()

if(GW_PLUGINS)
  gw_require(GW_DNNL_INCLUDE_DIR onednn-devel-cpu-tbb)
  gw_require(GW_DNNL_LIBRARY onednn-cpu-tbb)
  gw_import_library(gw_dnnl "${GW_DNNL_INCLUDE_DIR}" "${GW_DNNL_LIBRARY}")
  gw_require(GW_OPENBLAS_INCLUDE_DIR scipy-openblas32)
  gw_require(GW_OPENBLAS_LIBRARY scipy-openblas32)
  gw_import_library(gw_openblas "${GW_OPENBLAS_INCLUDE_DIR}" "${GW_OPENBLAS_LIBRARY}")
endif()
