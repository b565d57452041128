# Required: threads, fmt (private), Boost.Intrusive (headers), the headers of rdma-core, whose libraries are loaded on
# demand (uct/ib/base/device/verbs_library.hpp), and libsodium and libnuma (linked dynamically; few files include their
# headers).
# CUDA and FUSE are detected (cmake/detected.cmake) and not required; without FUSE the module of ucx_vfs is not built.
find_package(Threads REQUIRED)
find_package(Boost 1.71 REQUIRED)
# Boost::headers defines it, too. Targets that share precompiled headers must have the same definitions.
add_compile_definitions(BOOST_ALL_NO_LIB)

find_path(HAWSER_VERBS_HEADERS infiniband/verbs.h REQUIRED DOC "Headers of libibverbs")
find_path(HAWSER_RDMACM_HEADERS rdma/rdma_cma.h REQUIRED DOC "Headers of librdmacm")
mark_as_advanced(HAWSER_VERBS_HEADERS HAWSER_RDMACM_HEADERS)

find_path(HAWSER_SODIUM_HEADERS sodium.h DOC "Headers of libsodium")
find_library(HAWSER_SODIUM_LIBRARY sodium DOC "libsodium.so")
mark_as_advanced(HAWSER_SODIUM_HEADERS HAWSER_SODIUM_LIBRARY)
if(NOT HAWSER_SODIUM_HEADERS OR NOT HAWSER_SODIUM_LIBRARY)
  message(FATAL_ERROR "libsodium was not found; contrib/install-packages build installs it (Debian: libsodium-dev)")
endif()

find_path(HAWSER_NUMA_HEADERS numa.h DOC "Headers of libnuma")
find_library(HAWSER_NUMA_LIBRARY numa DOC "libnuma.so")
mark_as_advanced(HAWSER_NUMA_HEADERS HAWSER_NUMA_LIBRARY)
if(NOT HAWSER_NUMA_HEADERS OR NOT HAWSER_NUMA_LIBRARY)
  message(FATAL_ERROR "libnuma was not found; contrib/install-packages build installs it (Debian: libnuma-dev)")
endif()

# ucs/log/fmt.cpp compiles parts of fmt that are internal to its major version.
find_package(fmt REQUIRED)
if(fmt_VERSION VERSION_LESS 9 OR fmt_VERSION VERSION_GREATER_EQUAL 10)
  message(FATAL_ERROR "fmt ${fmt_VERSION} was found, version 9 is needed: ucs/log/fmt.cpp instantiates "
    "functions that other major versions have in another form. Set fmt_DIR to a fmt 9.")
endif()

# fmt's compiled part, built once instead of in every file that formats.
add_library(hawser_fmt STATIC "${PROJECT_SOURCE_DIR}/ucs/log/fmt.cpp")
# Not fmt::fmt, because that is the system's libfmt.so.
target_include_directories(hawser_fmt SYSTEM PUBLIC
  "$<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>")
hawser_lto(hawser_fmt)
