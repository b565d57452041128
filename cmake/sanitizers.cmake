# The build type of the sanitizer presets: assertions, line numbers for the reports, and little optimisation, because
# instrumented code compiles three times as long at -O2 and tests do not become faster.
set(CMAKE_C_FLAGS_SANITIZER "-O1 -g1")
set(CMAKE_CXX_FLAGS_SANITIZER "-O1 -g1")

if(HAWSER_FUZZ)
  # All layers, and therefore all tests: each source is compiled once, with the coverage feedback and the checks.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(HAWSER_SANITIZER)
  add_compile_options(-fsanitize=${HAWSER_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HAWSER_SANITIZER})
  # GCC's warnings that depend on optimisation. Here GCC reports unset members, because instrumentation hides that they
  # are guarded (std::optional), and with precompiled headers it does not recognise system headers, in which it normally
  # suppresses warnings (std::string). The release preset has these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
      -Wno-stringop-overread)
  endif()
  if(HAWSER_SANITIZER MATCHES "undefined")
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # Programs contain the run time, and the libraries in C++ call its part for C++. So programs in C need that part
      # and its dependencies, too.
      add_link_options(-fsanitize-link-c++-runtime)
      link_libraries($<$<LINK_LANGUAGE:C>:stdc++>)
    endif()
    # The check of an object's type opens a pipe to test whether the type's table is readable. Without a free descriptor
    # it reports any object as wrong, and our tests exhaust descriptors.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()

# hawser_coroutines(): for the targets of a folder whose sources have coroutines. Clang 14 writes the data of
# -fsanitize=function in front of each part of a coroutine, and then cannot assemble it.
function(hawser_coroutines)
  if(HAWSER_SANITIZER MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fno-sanitize=function)
  endif()
endfunction()
