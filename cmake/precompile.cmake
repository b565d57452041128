# Headers that most sources include, parsed once per kind of target instead of in every file. They
# are about half of the time that a build without optimisation takes.
#
# Not in the release preset: it proves that each source names what it uses, and its time is the
# optimiser's.
set(HAWSER_COMMON_HEADERS
  <algorithm> <array> <atomic> <cstddef> <cstdint> <cstring> <functional> <memory> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <vector>
  <fmt/format.h>)

# hawser_precompile(target FROM other | HEADERS header...): `target` parses the common headers and
# these, or uses what `other` has parsed. Both must be compiled by the same options.
function(hawser_precompile target)
  cmake_parse_arguments(ARG "" "FROM" "HEADERS" ${ARGN})
  if(NOT HAWSER_PRECOMPILE)
    return()
  endif()
  # For ccache.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  if(ARG_FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARG_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${HAWSER_COMMON_HEADERS} ${ARG_HEADERS})
  endif()
endfunction()
