# hawser_python_test(name script [ARGUMENTS class...] LABELS label... [TIMEOUT seconds] [ENVIRONMENT NAME=value...]): a
# test of ctest that runs the classes of a script, or all of them. The script finds the programs of the build in its
# environment, and can import the modules that scripts share.
include(test)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

function(hawser_python_test name script)
  cmake_parse_arguments(ARG "" "TIMEOUT" "ARGUMENTS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set(modules "${PROJECT_SOURCE_DIR}/test")
  set(environment PYTHONDONTWRITEBYTECODE=1
    "PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}:${modules}/support:${modules}/integration/robustness:${modules}/adversary/stranger")
  foreach(program IN ITEMS PEER:robustness_peer INFO:ucx_info PERFTEST:ucx_perftest COLLECTIVES:ucg_perf SIM:ucg_sim
      VFS:ucx_vfs RUN_WITHOUT:run_without RANK:oob_rank HOSTS:ucg_hosts)
    string(REPLACE ":" ";" parts ${program})
    list(GET parts 0 variable)
    list(GET parts 1 target)
    list(APPEND environment "${variable}_PROGRAM=$<$<TARGET_EXISTS:${target}>:$<TARGET_FILE:${target}>>")
  endforeach()
  hawser_test("${name}" LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT ${environment} ${ARG_ENVIRONMENT}
    PROPERTIES SKIP_RETURN_CODE 77
    COMMAND "${Python3_EXECUTABLE}" -m processes ${script} ${ARG_ARGUMENTS})
endfunction()
