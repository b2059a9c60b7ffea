// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace emu {

// The local time to the second, as CANN's tools name folders by it: 20260131235959.
std::string date_and_time();

}  // namespace emu
