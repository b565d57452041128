if(HAWSER_SANITIZER)
  add_compile_options(-fsanitize=${HAWSER_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HAWSER_SANITIZER})
  # GCC sees unset members where the instrumentation hides that they are guarded (std::optional).
  add_compile_options(-Wno-maybe-uninitialized)
  if(HAWSER_SANITIZER MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
