# Options for persons who build Hawser; the presets set them.
option(HAWSER_TESTS "Build the tests, the fuzz drivers and the benchmarks" OFF)
option(HAWSER_LTO "Link-time optimisation across ucs, uct and ucp" OFF)
option(HAWSER_COVERAGE "Instrument for gcov" OFF)
option(HAWSER_FUZZ "Build libFuzzer targets (needs Clang)" OFF)
option(HAWSER_PRECOMPILE "Parse common headers once (cmake/precompile.cmake)" ON)
set(HAWSER_SANITIZER "" CACHE STRING "Sanitizers for -fsanitize=, comma separated; empty for none")

# Plain lib/, never lib/<multiarch>, because users set LD_LIBRARY_PATH to PREFIX/lib.
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Library folder below the prefix" FORCE)
include(GNUInstallDirs)
