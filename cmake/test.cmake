# hawser_unit_test(name SOURCES file... USES layer-or-target...): a Catch2 program. ctest lists its test cases one by
# one under the label "unit". The name of a layer links all objects of the layer and of those below it. In a build with
# a sanitizer the program is one test of ctest, because the sanitizer's run time takes longer to start than a case to
# run.
include_guard(GLOBAL)
find_package(Catch2 2.13 REQUIRED)
include(Catch)

# hawser_link_layers(target layer-or-target...): an object library passes its objects only to targets that link it
# directly, so the layers below the named ones are linked by name, too.
function(hawser_link_layers target)
  set(pending ${ARGN})
  set(done)
  while(pending)
    list(POP_FRONT pending layer)
    if(layer IN_LIST done)
      continue()
    endif()
    list(APPEND done ${layer})
    if(NOT TARGET hawser_${layer})
      target_link_libraries(${target} PRIVATE ${layer})
      continue()
    endif()
    target_link_libraries(${target} PRIVATE hawser_${layer})
    get_target_property(linked hawser_${layer} LINK_LIBRARIES)
    foreach(lower IN LISTS linked)
      if(lower MATCHES "^hawser_(.+)$")
        list(APPEND pending ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endwhile()
endfunction()

# FOLDERS: all sources of these folders and of those below them, except the files of EXCEPT.
# THREADED: names of the test cases with threads; ThreadSanitizer builds run only these.
function(hawser_unit_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT;THREADED" "FOLDERS;EXCEPT;SOURCES;USES" ${ARGN})
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB_RECURSE found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${folder}/*.cpp")
    list(APPEND ARG_SOURCES ${found})
  endforeach()
  foreach(file IN LISTS ARG_EXCEPT)
    list(REMOVE_ITEM ARG_SOURCES "${file}")
  endforeach()
  if(NOT ARG_SOURCES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: no sources, or unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE hawser_test_main)
  hawser_link_layers(${name} ${ARG_USES})
  hawser_warnings(${name})
  hawser_precompile(${name} FROM hawser_test_main)
  if(HAWSER_SANITIZER)
    set(cases "")
    if(HAWSER_SANITIZER STREQUAL "thread")
      set(cases ${ARG_THREADED})
    endif()
    add_test(NAME ${name} COMMAND ${name} ${cases})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT 1800)
  else()
    catch_discover_tests(${name} TEST_PREFIX "${name}: "
      PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()

# hawser_test(name LABELS label... TIMEOUT seconds [ENVIRONMENT NAME=value...] [PROPERTIES name value...]
# COMMAND word...): a test of ctest.
function(hawser_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "LABELS;ENVIRONMENT;PROPERTIES;COMMAND")
  if(NOT ARG_COMMAND OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: no command, or unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  add_test(NAME "${name}" COMMAND ${ARG_COMMAND})
  set_tests_properties("${name}" PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${ARG_ENVIRONMENT}" ${ARG_PROPERTIES})
endfunction()

# hawser_unavailable(name labels reason): a test that is always skipped, in place of tests that this machine lacks
# the packages for.
function(hawser_unavailable name labels reason)
  message(STATUS "Tests ${name}: skipped, ${reason}")
  add_test(NAME ${name}.unavailable COMMAND "${CMAKE_COMMAND}" -E echo "SKIP: ${reason}")
  set_tests_properties(${name}.unavailable PROPERTIES LABELS "${labels}" SKIP_REGULAR_EXPRESSION "^SKIP: ")
endfunction()

# hawser_test_program(name SOURCES file... [LINKS target...]): a program of tests that ctest runs by other commands.
function(hawser_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  hawser_warnings(${name})
endfunction()
