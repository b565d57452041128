# Required: threads, fmt (private), Boost.Intrusive (headers).
# RDMA, CUDA and FUSE are detected when their layers arrive; nothing here needs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.71 REQUIRED)

# fmt's compiled part, built here rather than in every file that formats.
add_library(hawser_fmt STATIC "${PROJECT_SOURCE_DIR}/ucs/log/fmt.cpp")
# Not fmt::fmt, which is the system's libfmt.so.
target_include_directories(hawser_fmt SYSTEM PUBLIC
  "$<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>")
if(HAWSER_LTO)
  set_property(TARGET hawser_fmt PROPERTY INTERPROCEDURAL_OPTIMIZATION ON)
endif()
