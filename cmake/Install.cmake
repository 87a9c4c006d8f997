# Two components: `python` fills a wheel, `devel` is the C++ library with its headers and CMake
# package.
if(GW_PYTHON)
  install(TARGETS _core LIBRARY DESTINATION graphwright COMPONENT python)
  install(PROGRAMS ${GW_RUNTIME_FILES} DESTINATION graphwright/lib COMPONENT python)
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
install(PROGRAMS ${GW_RUNTIME_FILES} DESTINATION "${CMAKE_INSTALL_LIBDIR}/graphwright"
        COMPONENT devel)
if(GW_PLUGIN_TARGETS)
  install(TARGETS ${GW_PLUGIN_TARGETS} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/graphwright"
          COMPONENT devel NAMELINK_SKIP)
endif()
install(EXPORT graphwrightTargets NAMESPACE graphwright:: FILE graphwrightConfig.cmake
        DESTINATION "${GW_CMAKE_DIR}" COMPONENT devel)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/graphwrightConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/graphwrightConfigVersion.cmake" DESTINATION "${GW_CMAKE_DIR}"
        COMPONENT devel)
