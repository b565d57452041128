# Link-time optimisation for targets whose speed matters to users: the libraries and ucx_perftest. Each of them, the
# tests and the other tools contain the objects of the layers, and optimising these for every target would be most of
# the time of a release build. So GCC writes machine code next to the intermediate code, and targets without this
# optimisation link the machine code. Clang's objects contain only one of both, so there all targets use the
# optimisation.
if(HAWSER_LTO)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(asks $<BOOL:$<TARGET_PROPERTY:INTERPROCEDURAL_OPTIMIZATION>>)
    add_compile_options($<${asks}:-ffat-lto-objects>)
    add_link_options($<$<NOT:${asks}>:-fno-lto>)
  else()
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endif()

# hawser_lto(target): enables link-time optimisation for the target.
function(hawser_lto target)
  if(HAWSER_LTO)
    set_property(TARGET ${target} PROPERTY INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()
