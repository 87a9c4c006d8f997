# Shared libraries that travel with the core: stripped copies of the third-party ones under their
# SONAMEs, and the folder in the build tree where they and our own shared objects lie.
include_guard(GLOBAL)

set(GW_LIBRARY_DIR "${PROJECT_BINARY_DIR}/lib")
file(MAKE_DIRECTORY "${GW_LIBRARY_DIR}")
set(GW_RUNTIME_FILES "")

# gw_copy_runtime(<library> <soname>): a stripped copy in GW_LIBRARY_DIR, listed in
# GW_RUNTIME_FILES.
function(gw_copy_runtime library soname)
  add_custom_command(
    OUTPUT "${GW_LIBRARY_DIR}/${soname}"
    COMMAND ${CMAKE_STRIP} --strip-unneeded -o "${GW_LIBRARY_DIR}/${soname}" "${library}"
    DEPENDS "${library}"
    COMMENT "Copying ${soname}"
    VERBATIM)
  set(GW_RUNTIME_FILES ${GW_RUNTIME_FILES} "${GW_LIBRARY_DIR}/${soname}" PARENT_SCOPE)
endfunction()

if(GW_THREADS STREQUAL "tbb")
  gw_copy_runtime("${GW_TBB_LIBRARY}" libtbb.so.12)
endif()
if(GW_PLUGINS)
  gw_copy_runtime("${GW_DNNL_LIBRARY}" libdnnl.so.3)
  gw_copy_runtime("${GW_OPENBLAS_LIBRARY}" libscipy_openblas.so)
endif()
add_custom_target(gw_runtime_files ALL DEPENDS ${GW_RUNTIME_FILES})
