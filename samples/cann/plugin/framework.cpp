// SPDX-License-Identifier: Apache-2.0
// Loads the plug-in named on the command line and uses its device.
#include <dlfcn.h>

#include <cstdio>

#include "backend.h"

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: framework PLUGIN\n"), 2;
  void *plugin = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto get = reinterpret_cast<GetBackend>(dlsym(plugin, "get_backend"));
  if (get == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;

  const Backend *backend = get();
  std::printf("device: %s\n", backend->device());
  const float x[] = {-2.0f, -0.5f, 0.0f, 0.5f, 2.0f};
  float y[5] = {9, 9, 9, 9, 9};
  if (const char *error = backend->relu(x, y, 5)) {
    std::fprintf(stderr, "relu: %s\n", error);
    return 1;
  }
  for (const float value : y) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  return 0;
}
