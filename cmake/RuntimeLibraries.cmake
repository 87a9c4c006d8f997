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

set(GW_PLUGIN_TARGETS "")
if(GW_PLUGINS)
  # libdnnl names two libraries of a proprietary compiler as needed; these stand in for them.
  add_library(gw_imf SHARED "${PROJECT_SOURCE_DIR}/src/plugins/standins/imf.c")
  set_target_properties(gw_imf PROPERTIES OUTPUT_NAME imf)
  target_link_libraries(gw_imf PRIVATE m)
  target_link_options(gw_imf PRIVATE -Wl,--no-as-needed)
  add_library(gw_intlc SHARED "${PROJECT_SOURCE_DIR}/src/plugins/standins/intlc.c")
  set_target_properties(gw_intlc PROPERTIES OUTPUT_NAME intlc SOVERSION 5)

  # gw_add_plugin(<name> <library>): libgraphwright_<name>.so from src/plugins/<name>.
  function(gw_add_plugin name)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/plugins/${name}/*.cpp")
    add_library(graphwright_${name} MODULE ${sources})
    target_include_directories(graphwright_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(graphwright_${name} PRIVATE ${ARGN})
    add_dependencies(graphwright_${name} gw_runtime_files)
  endfunction()
  gw_add_plugin(dnn gw_dnnl)
  # Both must be loaded before libdnnl looks for them, although nothing here refers to them.
  target_link_options(graphwright_dnn PRIVATE "-Wl,-rpath-link,${GW_LIBRARY_DIR}")
  target_link_libraries(
    graphwright_dnn PRIVATE "-Wl,--push-state,--no-as-needed" gw_imf gw_intlc "-Wl,--pop-state")
  gw_add_plugin(lapack gw_openblas)
  set(GW_PLUGIN_TARGETS gw_imf gw_intlc graphwright_dnn graphwright_lapack)
  set_target_properties(${GW_PLUGIN_TARGETS} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${GW_LIBRARY_DIR}"
                                                        BUILD_WITH_INSTALL_RPATH ON
                                                        INSTALL_RPATH "$ORIGIN")
endif()
