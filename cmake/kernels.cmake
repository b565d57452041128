# The image of the kernels is a source of the assembler.
if(HAWSER_DETECTED_CUDA)
  enable_language(ASM)
endif()

# hawser_kernels(target): compiles the kernels of ucg/cuda/kernels by nvcc to one file and adds its bytes to the target
# (ucg/cuda/image.hpp). Without nvcc, the target has no kernels.
#
# nvcc links nothing and no CUDA library is used: the driver loads the image at run time.
function(hawser_kernels target)
  set_source_files_properties(cuda/image.cpp TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_DEFINITIONS "HAWSER_HAS_KERNELS=${HAWSER_DETECTED_CUDA}" SKIP_PRECOMPILE_HEADERS ON)
  if(NOT HAWSER_DETECTED_CUDA)
    return()
  endif()
  hawser_device_code(architectures)
  set(source "${PROJECT_SOURCE_DIR}/ucg/cuda/kernels/kernels.cu")
  set(image "${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin")
  # Products and sums are rounded separately (-fmad=false), as in ucg/reduce, whose constexpr functions the kernels call.
  # The host compiler only preprocesses here, so its version does not matter.
  add_custom_command(OUTPUT "${image}"
    COMMAND "${HAWSER_NVCC}" -fatbin -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr --threads 2
      -Werror all-warnings -allow-unsupported-compiler -ccbin "${CMAKE_CXX_COMPILER}" ${architectures}
      "-I${PROJECT_SOURCE_DIR}" -MD -MF "${image}.d" -MT "${image}" -o "${image}" "${source}"
    DEPENDS "${source}" DEPFILE "${image}.d"
    COMMENT "Compiling the kernels of ucg/cuda" VERBATIM)
  set_source_files_properties(cuda/image.S TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_DEFINITIONS "HAWSER_FATBIN=\"${image}\"" OBJECT_DEPENDS "${image}" SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE cuda/image.S "${image}")
endfunction()

# hawser_device_code(result): options of nvcc for the generations of devices that it knows, and PTX of the oldest one for
# all others.
function(hawser_device_code result)
  execute_process(COMMAND "${HAWSER_NVCC}" --list-gpu-code OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
  set(options "")
  foreach(wanted IN ITEMS 80:80 90:90a 100:100)
    string(REPLACE ":" ";" parts ${wanted})
    list(GET parts 0 generation)
    list(GET parts 1 code)
    if(NOT known MATCHES "sm_${generation}\n")
      continue()
    endif()
    if(options)
      list(APPEND options "-gencode=arch=compute_${code},code=sm_${code}")
    else()
      list(APPEND options "-gencode=arch=compute_${code},code=[sm_${code},compute_${code}]")
    endif()
  endforeach()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()
