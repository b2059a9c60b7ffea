# SPDX-License-Identifier: Apache-2.0
# find_package(CANN [COMPONENTS ascendcl opapi ...]): one imported target per library, CANN::ascendcl
# and so on, and CANN::CANN for runtime, operators and communication together.
#
# Sets CANN_INCLUDE_DIRS, CANN_LIBRARY_DIRS, CANN_LIBRARIES, CANN_ROOT.

get_filename_component(CANN_LIBRARY_DIRS "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(CANN_ROOT "${CANN_LIBRARY_DIRS}/.." ABSOLUTE)
set(CANN_INCLUDE_DIRS "${CANN_ROOT}/include")

file(GLOB _cann_files "${CANN_LIBRARY_DIRS}/lib*.so")
list(FILTER _cann_files EXCLUDE REGEX "/libaclnn_py_")
foreach(_cann_file IN LISTS _cann_files)
  get_filename_component(_cann_name "${_cann_file}" NAME_WE)
  string(REGEX REPLACE "^lib" "" _cann_name "${_cann_name}")
  if(NOT TARGET CANN::${_cann_name})
    add_library(CANN::${_cann_name} SHARED IMPORTED)
    set_target_properties(CANN::${_cann_name} PROPERTIES
      IMPORTED_LOCATION "${_cann_file}"
      IMPORTED_SONAME "lib${_cann_name}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${CANN_INCLUDE_DIRS}")
  endif()
  set(CANN_${_cann_name}_FOUND TRUE)
endforeach()

set(CANN_LIBRARIES CANN::opapi CANN::nnopbase CANN::hccl CANN::ascendcl)
if(TARGET CANN::hcomm)  # from CANN 8.5 on it has what makes communicators
  list(APPEND CANN_LIBRARIES CANN::hcomm)
endif()
if(NOT TARGET CANN::CANN)
  add_library(CANN::CANN INTERFACE IMPORTED)
  set_target_properties(CANN::CANN PROPERTIES INTERFACE_LINK_LIBRARIES "${CANN_LIBRARIES}")
endif()

foreach(_cann_name IN LISTS CANN_FIND_COMPONENTS)
  if(NOT CANN_${_cann_name}_FOUND AND CANN_FIND_REQUIRED_${_cann_name})
    set(CANN_FOUND FALSE)
    set(CANN_NOT_FOUND_MESSAGE "${CANN_LIBRARY_DIRS} holds no lib${_cann_name}.so")
  endif()
endforeach()

unset(_cann_files)
unset(_cann_file)
unset(_cann_name)
