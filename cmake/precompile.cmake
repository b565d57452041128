# Headers that most sources include, parsed once per kind of target instead of in every file. Parsing them takes about
# half of the time of a build without optimisation.
#
# The release preset does not use them: it proves that each source includes all headers that it needs, and most of its
# time is spent in the optimiser.
set(HAWSER_COMMON_HEADERS
  <algorithm> <array> <atomic> <cstddef> <cstdint> <cstring> <functional> <memory> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <vector> <chrono> <map> <mutex> <variant>
  <boost/intrusive/list.hpp> <boost/intrusive/set.hpp> <boost/intrusive/slist.hpp> <boost/intrusive/unordered_set.hpp>
  <fmt/format.h>)

# hawser_precompile(target FROM other | HEADERS header...): `target` precompiles the common headers and these, or uses
# the precompiled headers of `other`. Both must be compiled with the same options.
function(hawser_precompile target)
  cmake_parse_arguments(ARG "" "FROM" "HEADERS" ${ARGN})
  if(NOT HAWSER_PRECOMPILE)
    return()
  endif()
  # ccache needs this.
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
