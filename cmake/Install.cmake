# Two components: `python` fills a wheel, `devel` is the C++ library with its headers and CMake
# package.
set(notices "${PROJECT_BINARY_DIR}/THIRD_PARTY_NOTICES.txt")
add_custom_command(
  OUTPUT "${notices}"
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/third_party_notices.py" "${notices}"
  DEPENDS "${PROJECT_SOURCE_DIR}/cmake/third_party_notices.py"
  COMMENT "Collecting third-party notices"
  VERBATIM)
add_custom_target(gw_notices ALL DEPENDS "${notices}")

if(GW_PYTHON)
  install(TARGETS _core LIBRARY DESTINATION graphwright COMPONENT python)
  install(PROGRAMS ${GW_RUNTIME_FILES} DESTINATION graphwright/lib COMPONENT python)
  install(FILES "${notices}" DESTINATION graphwright COMPONENT python)
  if(GW_STUBS_DIR)
    install(DIRECTORY "${GW_STUBS_DIR}/" DESTINATION graphwright COMPONENT python)
  endif()
  if(GW_PLUGIN_TARGETS)
    install(TARGETS ${GW_PLUGIN_TARGETS} LIBRARY DESTINATION graphwright/lib COMPONENT python
            NAMELINK_SKIP)
  endif()
endif()

include(CMakePackageConfigHelpers)
set(GW_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/graphwright")
install(TARGETS graphwright EXPORT graphwrightTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT devel)
install(FILES "${GW_OPS_HEADER}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/graphwright"
        COMPONENT devel)
install(PROGRAMS ${GW_RUNTIME_FILES} DESTINATION "${CMAKE_INSTALL_LIBDIR}/graphwright"
        COMPONENT devel)
if(GW_PLUGIN_TARGETS)
  install(TARGETS ${GW_PLUGIN_TARGETS} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/graphwright"
          COMPONENT devel NAMELINK_SKIP)
endif()
install(FILES "${notices}" "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT devel)
install(EXPORT graphwrightTargets NAMESPACE graphwright:: FILE graphwrightConfig.cmake
        DESTINATION "${GW_CMAKE_DIR}" COMPONENT devel)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/graphwrightConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/graphwrightConfigVersion.cmake" DESTINATION "${GW_CMAKE_DIR}"
        COMPONENT devel)
