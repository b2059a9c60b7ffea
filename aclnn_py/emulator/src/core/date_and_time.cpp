// SPDX-License-Identifier: Apache-2.0
#include "core/date_and_time.h"

#include <ctime>

namespace emu {

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts);
  return text;
}

}  // namespace emu
