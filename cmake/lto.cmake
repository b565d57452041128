# Link-time optimisation, where speed is what people get: the libraries and ucx_perftest. An object of a
# layer is in each of them, in the tests and in the other tools; optimising it anew for every one of these is
# most of the time of a release build, so GCC puts machine code beside the code for the linker, and
# whoever does not ask for the optimisation links that. Clang's objects have one or the other: there all ask.
if(HAWSER_LTO)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(asks $<BOOL:$<TARGET_PROPERTY:INTERPROCEDURAL_OPTIMIZATION>>)
    add_compile_options($<${asks}:-ffat-lto-objects>)
    add_link_options($<$<NOT:${asks}>:-fno-lto>)
  else()
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endif()

# hawser_lto(target): the target asks.
function(hawser_lto target)
  if(HAWSER_LTO)
    set_property(TARGET ${target} PROPERTY INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()
