// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/status.h"

// Host memory the device knows: pinned by aclrtMallocHost, or the program's own that it registered.
namespace emu {

Status host_malloc(size_t size, void **address, const char *routine);
Status host_free(void *address, const char *routine);

// `mapped`: kernels may use the memory through its device address (which is the host address here).
// All of the range has to be memory that the process may read and write.
Status host_register(void *address, size_t size, bool mapped, const char *routine);
Status host_unregister(void *address, const char *routine);

// Whether [p, p + size) is pinned or registered memory. Copies of any other host memory are
// pageable.
bool host_known(const void *p, size_t size);
bool host_mapped(const void *p, size_t size);

// Whether kernels of `device` may use the range: device memory in reach, or mapped host memory.
bool kernel_may_use(const void *p, size_t size, int device, int *owner);

}  // namespace emu
