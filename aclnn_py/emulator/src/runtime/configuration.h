// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/status.h"

namespace emu {

// The JSON configuration of aclInit, aclnnInit and the dump calls, flattened: "dump.dump_path" ->
// text.
using Configuration = std::map<std::string, std::string>;

// Reads and checks a file. 100003 when it cannot be read, 100006 when it is not JSON or is nested
// deeper than ten brackets of a kind. `text` (may be null) gets the file as it is.
Status read_configuration(const char *path, const char *routine, Configuration *configuration,
                          std::string *text = nullptr);

// Starts the dumps of operators that the configuration of aclInit or aclnnInit asks for: 100009
// when it contradicts itself. They end with forget_dumps.
Status start_dumps(const char *routine, const Configuration &configuration);
void forget_dumps();

}  // namespace emu
