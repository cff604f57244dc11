# What stand-ins for libibverbs have in common, as sources: each hides the symbols of its own copy.
set(verbs_common_sources
  "${CMAKE_CURRENT_LIST_DIR}/attributes.c"
  "${CMAKE_CURRENT_LIST_DIR}/completions.c"
  "${CMAKE_CURRENT_LIST_DIR}/devices.c"
  "${CMAKE_CURRENT_LIST_DIR}/dma-buf.c"
  "${CMAKE_CURRENT_LIST_DIR}/events.c"
  "${CMAKE_CURRENT_LIST_DIR}/memory.c"
  "${CMAKE_CURRENT_LIST_DIR}/not-modelled.c"
  "${CMAKE_CURRENT_LIST_DIR}/ordered-copy.c"
  "${CMAKE_CURRENT_LIST_DIR}/strings.c")
set(verbs_common_map "${CMAKE_CURRENT_LIST_DIR}/verbs.map")
