# Language level, visibility and optimisation shared by every target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# All symbols are hidden except those that public headers declare (ucs/sys/compiler_def.h).
add_compile_definitions(HAWSER_EXPORT_C_DECLS)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG -g1 -fno-semantic-interposition")
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG -g1 -fno-semantic-interposition")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache needs these relaxed checks for precompiled headers. The compiler itself lists the headers, so files that are
  # not in the cache are preprocessed only once. Clones and worktrees share compiled objects: paths are relative to the
  # source folder, and a debugger may show the clone that compiled an object first.
  set(ccache "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${ccache}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ccache}")
endif()
if(HAWSER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
