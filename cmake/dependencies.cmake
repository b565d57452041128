# Required: threads, fmt (private), Boost.Intrusive (headers), libnuma.
# RDMA, CUDA and FUSE are detected when their layers arrive; nothing here needs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.71 REQUIRED)
find_library(NUMA_LIBRARY numa REQUIRED)
find_path(NUMA_INCLUDE_DIR numa.h REQUIRED)
add_library(hawser::numa INTERFACE IMPORTED)
target_link_libraries(hawser::numa INTERFACE "${NUMA_LIBRARY}")
target_include_directories(hawser::numa INTERFACE "${NUMA_INCLUDE_DIR}")

# fmt's compiled part, built here rather than in every file that formats.
add_library(hawser_fmt STATIC "${PROJECT_SOURCE_DIR}/ucs/log/fmt.cpp")
# Not fmt::fmt, which is the system's libfmt.so.
target_include_directories(hawser_fmt SYSTEM PUBLIC
  "$<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>")
if(HAWSER_LTO)
  set_property(TARGET hawser_fmt PROPERTY INTERPROCEDURAL_OPTIMIZATION ON)
endif()
