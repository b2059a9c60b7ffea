// SPDX-License-Identifier: Apache-2.0
#include "core/isa.h"

#include <cstdlib>
#include <cstring>

namespace emu {
namespace {

int processor_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt");
  if (!v3) return 0;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 2 : 1;
#else
  return 0;
#endif
}

int chosen_level() {
  const int most = processor_level();
  const char *wish = std::getenv("ACLNN_PY_ISA");
  if (wish == nullptr) return most;
  int level = most;
  if (std::strcmp(wish, "base") == 0) level = 0;
  if (std::strcmp(wish, "v3") == 0) level = 1;
  if (std::strcmp(wish, "v4") == 0) level = 2;
  return level < most ? level : most;
}

}  // namespace

int isa_level() {
  static const int level = chosen_level();
  return level;
}

const char *isa_name() {
  static const char *const names[] = {"base", "v3", "v4"};
  return names[isa_level()];
}

}  // namespace emu
