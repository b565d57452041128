# hawser_layer(name USES layer...): an object library for one layer. The build targets (and contrib/check-layers) keep
# layers separate; libucp.so.0 links them into one LTO unit.
function(hawser_layer name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  add_library(hawser_${name} OBJECT)
  target_include_directories(hawser_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(hawser_${name} PUBLIC Threads::Threads hawser_fmt Boost::headers)
  foreach(lower IN LISTS ARG_USES)
    target_link_libraries(hawser_${name} PUBLIC hawser_${lower})
  endforeach()
  hawser_lto(hawser_${name})
  hawser_warnings(hawser_${name})
  if(name STREQUAL "ucs")
    hawser_precompile(hawser_ucs)
  else()
    hawser_precompile(hawser_${name} FROM hawser_ucs)
  endif()
endfunction()

# hawser_library(name OBJECTS target... EXPORTS file): a public shared library libNAME.so.0
# whose dynamic symbols are exactly those of the version script EXPORTS.
function(hawser_library name)
  cmake_parse_arguments(ARG "" "EXPORTS" "OBJECTS;SOURCES" ${ARGN})
  add_library(${name} SHARED ${ARG_SOURCES})
  add_library(ucx::${name} ALIAS ${name})
  foreach(objects IN LISTS ARG_OBJECTS)
    target_link_libraries(${name} PRIVATE ${objects})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  set_target_properties(${name} PROPERTIES
    VERSION 0.0.0 SOVERSION 0
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    INSTALL_RPATH "$ORIGIN"
    LINK_DEPENDS "${ARG_EXPORTS}")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${ARG_EXPORTS}" -Wl,--no-undefined -Wl,-z,now)
  if(HAWSER_SANITIZER)
    target_link_options(${name} PRIVATE -Wl,-z,undefs)
  endif()
  hawser_lto(${name})
  hawser_warnings(${name})
  install(TARGETS ${name} EXPORT ucx-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endfunction()

# hawser_brings(name library...): a program that links libNAME.so.0 alone can use these libraries, too, because
# libNAME.so.0 lists them as needed, although it imports no symbol from them.
function(hawser_brings name)
  target_link_libraries(${name} PRIVATE
    -Wl,--push-state,--no-as-needed ${ARGN} -Wl,--pop-state)
endfunction()

# hawser_module(name SOURCES file... LINKS target...): lib/hawser/NAME.so, which the library loads on demand. It does
# not link our libraries and exports one symbol (ucs/sys/module.hpp).
function(hawser_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(hawser_module_${name} MODULE ${ARG_SOURCES})
  target_include_directories(hawser_module_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(hawser_module_${name} PRIVATE ${ARG_LINKS})
  set(exports "${PROJECT_SOURCE_DIR}/cmake/exports/module.map")
  target_link_options(hawser_module_${name} PRIVATE "-Wl,--version-script=${exports}" -Wl,-z,now)
  if(NOT HAWSER_SANITIZER)
    # A name that only our libraries define fails here, not when the module is loaded.
    target_link_options(hawser_module_${name} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(hawser_module_${name} PROPERTIES
    LINK_DEPENDS "${exports}" PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/hawser")
  hawser_warnings(hawser_module_${name})
  install(TARGETS hawser_module_${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/hawser")
endfunction()
