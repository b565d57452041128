# Files that "cmake --install" installs besides the libraries, which layer.cmake installs: public headers, pkg-config
# files, the CMake package "ucx" and an example of ucx.conf.
include(CMakePackageConfigHelpers)

# In these folders every .h is public; all other headers end in .hpp.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/ucm/*.h" "${PROJECT_SOURCE_DIR}/ucs/*.h" "${PROJECT_SOURCE_DIR}/uct/*.h"
  "${PROJECT_SOURCE_DIR}/ucp/*.h" "${PROJECT_SOURCE_DIR}/ucg/*.h")
foreach(header IN LISTS public_headers)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()

foreach(package IN ITEMS ucx ucx-uct ucx-ucs ucg)
  configure_file("${PROJECT_SOURCE_DIR}/contrib/packaging/${package}.pc.in"
    "${PROJECT_BINARY_DIR}/pkgconfig/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${package}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ucx")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ucx-config.cmake.in"
  "${PROJECT_BINARY_DIR}/ucx-config.cmake" INSTALL_DESTINATION "${package_folder}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ucx-config-version.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ucx-config.cmake"
  "${PROJECT_BINARY_DIR}/ucx-config-version.cmake" DESTINATION "${package_folder}")
install(EXPORT ucx-targets NAMESPACE ucx:: DESTINATION "${package_folder}")

install(FILES "${PROJECT_SOURCE_DIR}/contrib/packaging/ucx.conf" DESTINATION etc/ucx)
