# Optional features of this machine: detected, never required. The module of ucx_vfs uses FUSE, programs use RDMA at run
# time, launchers start ranks of a group by PMIx, and nvcc compiles the kernels of ucg/cuda. The CUDA driver is loaded at
# run time and not detected here. `ucx_info -b` shows each as DETECTED_<NAME>.

# contrib/make-venv installs third-party programs there.
if(DEFINED ENV{HAWSER_CLIENT_VENVS})
  set(client_venvs "$ENV{HAWSER_CLIENT_VENVS}")
else()
  set(client_venvs "$ENV{HOME}/.cache/hawser/venvs")
endif()
set(HAWSER_CLIENT_VENVS "${client_venvs}" CACHE PATH
  "Where contrib/make-venv has made virtual environments")

# An installed CUDA Toolkit comes first, then the environment that "contrib/make-venv nvcc" makes. The kernels need C++20.
file(GLOB nvcc_folders "${HAWSER_CLIENT_VENVS}/nvcc/lib/python3*/site-packages/nvidia/cu*/bin")
find_program(HAWSER_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin PATHS ${nvcc_folders} DOC "CUDA compiler")
set(nvcc_version "")
if(HAWSER_NVCC)
  execute_process(COMMAND "${HAWSER_NVCC}" --version OUTPUT_VARIABLE answer ERROR_QUIET)
  if(answer MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12)
    set(nvcc_version ${CMAKE_MATCH_1})
  else()
    message(STATUS "${HAWSER_NVCC} is not used: the kernels need CUDA 12 or newer")
  endif()
endif()
find_library(HAWSER_VERBS ibverbs DOC "libibverbs")
find_path(HAWSER_FUSE_HEADERS fuse3/fuse.h DOC "Headers of libfuse3")
find_library(HAWSER_FUSE fuse3 DOC "libfuse3")
find_path(HAWSER_PMIX_HEADERS pmix.h
  HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include DOC "Headers of PMIx")
mark_as_advanced(HAWSER_PMIX_HEADERS HAWSER_NVCC HAWSER_VERBS HAWSER_FUSE_HEADERS
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

message(STATUS "Detected, never required (FUSE is for ucx_vfs, RDMA for running, PMIX for groups, CUDA for kernels of groups):")
hawser_detected(CUDA "nvcc" "${HAWSER_NVCC}" "${nvcc_version}")
hawser_detected(RDMA "libibverbs" "${HAWSER_VERBS}")
hawser_detected(FUSE "libfuse3" "${HAWSER_FUSE_HEADERS}" "${HAWSER_FUSE}")
hawser_detected(PMIX "pmix.h" "${HAWSER_PMIX_HEADERS}")
