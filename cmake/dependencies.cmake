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
