// SPDX-License-Identifier: Apache-2.0
// What the framework asks of a plug-in.
#pragma once
#include <cstddef>

struct Backend {
  const char *(*device)();
  // y = max(x, 0); returns an error message, or null.
  const char *(*relu)(const float *x, float *y, size_t count);
};

// The one function that a plug-in exports.
using GetBackend = const Backend *(*)();
