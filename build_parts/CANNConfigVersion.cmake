# SPDX-License-Identifier: Apache-2.0
# The release is that of the headers. A newer one serves requests for an older one of the same major.
get_filename_component(_cann_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
file(STRINGS "${_cann_root}/include/version/cann_version.h" PACKAGE_VERSION
  REGEX "^#define CANN_VERSION_STR ")
string(REGEX REPLACE "^[^\"]*\"([0-9]+)[.]([0-9]+)[.](RC)?([0-9]+)\"$" "\\1.\\2.\\4"
  PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+" _cann_major "${PACKAGE_VERSION}")

if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL _cann_major
    AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
