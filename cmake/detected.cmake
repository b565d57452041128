# What this machine has beyond what the build needs: detected, never required. FUSE is used by the
# module that ucx_vfs needs, RDMA when a program runs, PMIx where a launcher starts the ranks of a group;
# CUDA is for transports that are not built yet.
# `ucx_info -b` shows it as DETECTED_<NAME>.
find_program(HAWSER_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin DOC "CUDA compiler")
find_library(HAWSER_CUDART cudart
  HINTS "$ENV{CUDA_HOME}/lib64" /usr/local/cuda/lib64 DOC "CUDA run time")
find_library(HAWSER_VERBS ibverbs DOC "libibverbs")
find_path(HAWSER_FUSE_HEADERS fuse3/fuse.h DOC "Headers of libfuse3")
find_library(HAWSER_FUSE fuse3 DOC "libfuse3")
find_path(HAWSER_PMIX_HEADERS pmix.h
  HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include DOC "Headers of PMIx")
mark_as_advanced(HAWSER_PMIX_HEADERS HAWSER_NVCC HAWSER_CUDART HAWSER_VERBS HAWSER_FUSE_HEADERS
  HAWSER_FUSE)

# hawser_detected(name text found...): one line of the summary; all of `found` must be there.
function(hawser_detected name text)
  set(all 1)
  set(state "${ARGN}")
  foreach(part IN LISTS ARGN)
    if(NOT part)
      set(all 0)
      set(state "not found")
    endif()
  endforeach()
  list(JOIN state ", " state)
  message(STATUS "  ${name} (${text}): ${state}")
  set(HAWSER_DETECTED_${name} ${all} PARENT_SCOPE)
endfunction()

message(STATUS "Detected, never required (FUSE is for ucx_vfs, RDMA for running, PMIX for groups; nothing uses CUDA yet):")
hawser_detected(CUDA "nvcc, libcudart" "${HAWSER_NVCC}" "${HAWSER_CUDART}")
hawser_detected(RDMA "libibverbs" "${HAWSER_VERBS}")
hawser_detected(FUSE "libfuse3" "${HAWSER_FUSE_HEADERS}" "${HAWSER_FUSE}")
hawser_detected(PMIX "pmix.h" "${HAWSER_PMIX_HEADERS}")
