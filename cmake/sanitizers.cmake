# The build type of the sanitizer presets: assertions, line numbers for the reports, and just enough
# optimisation: instrumented code compiles three times as long at -O2, and its tests gain nothing.
set(CMAKE_C_FLAGS_SANITIZER "-O1 -g1")
set(CMAKE_CXX_FLAGS_SANITIZER "-O1 -g1")

if(HAWSER_FUZZ)
  # All layers, for the tests as well: each source is compiled once, with the feedback and the checks.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(HAWSER_SANITIZER)
  add_compile_options(-fsanitize=${HAWSER_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HAWSER_SANITIZER})
  # What GCC finds out while it optimises: here it sees unset members where the instrumentation hides
  # that they are guarded (std::optional), and in precompiled headers it does not know those of the
  # system, where it else keeps silent (std::string). The release preset has these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
      -Wno-stringop-overread)
  endif()
  if(HAWSER_SANITIZER MATCHES "undefined")
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # A program has the run time linked in, and the libraries in C++ call its half for C++: the programs in
      # C need it as well, and what it is made of.
      add_link_options(-fsanitize-link-c++-runtime)
      link_libraries($<$<LINK_LANGUAGE:C>:stdc++>)
    endif()
    # The check of an object's type opens a pipe to find out whether the type's table can be read, and
    # takes any object for a wrong one when there is no descriptor left: our tests make that happen.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()

# hawser_coroutines(): for the targets of a folder whose sources have coroutines. Clang 14 puts what
# -fsanitize=function looks at in front of each part of one, and then cannot assemble it.
function(hawser_coroutines)
  if(HAWSER_SANITIZER MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fno-sanitize=function)
  endif()
endfunction()
