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
  # GCC sees unset members where the instrumentation hides that they are guarded (std::optional).
  add_compile_options(-Wno-maybe-uninitialized)
  if(HAWSER_SANITIZER MATCHES "undefined")
    # The check of an object's type opens a pipe to find out whether the type's table can be read, and
    # takes any object for a wrong one when there is no descriptor left: our tests make that happen.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()
