# The build type of the sanitizer presets: assertions, line numbers for the reports, and just enough
# optimisation: instrumented code compiles three times as long at -O2, and its tests gain nothing.
set(CMAKE_C_FLAGS_SANITIZER "-O1 -g1")
set(CMAKE_CXX_FLAGS_SANITIZER "-O1 -g1")

if(HAWSER_FUZZ)
  # All layers: each source is compiled once, with the feedback and the checks.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

if(HAWSER_SANITIZER)
  add_compile_options(-fsanitize=${HAWSER_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HAWSER_SANITIZER})
  # What GCC finds out while it optimises: here it sees unset members where the instrumentation hides
  # that they are guarded (std::optional), and in precompiled headers it does not know those of the
  # system, where it else keeps silent (std::string). The release preset has these warnings.
  add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
  if(HAWSER_SANITIZER MATCHES "undefined")
    # The check of an object's type opens a pipe to find out whether the type's table can be read, and
    # takes any object for a wrong one when there is no descriptor left: our tests make that happen.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()
