# Optional features of this machine: detected, never required. The module of ucx_vfs uses FUSE, programs use RDMA at run
# time, launchers start ranks of a group by PMIx; CUDA is for transports that are not built yet. `ucx_info -b` shows
# each as DETECTED_<NAME>.
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

# hawser_detected(name text found...): prints one line of the summary. All values of `found` must be present.
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
