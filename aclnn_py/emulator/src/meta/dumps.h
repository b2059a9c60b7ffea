// SPDX-License-Identifier: Apache-2.0
// Dumps of operators: what their tensors hold before and after a kernel, as files whose names,
// folders and contents follow CANN's documents, or as pieces for a function of the program. While
// nobody asks for dumps, a kernel costs one read of a flag.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_dump.h"
#include "meta/executor.h"

namespace emu {

struct DumpRequest {
  std::string folder;  // files go to FOLDER/time/device/
  bool inputs = false, outputs = true;
  bool operators = true;  // each one; otherwise only what aclDumpOpTensors names
};

using DumpListener = int32_t (*)(const acldumpChunk *, int32_t);

// What is dumped from now on. With a listener no files are written.
void request_dumps(std::optional<DumpRequest> request, DumpListener listener);

enum class DumpPart : uint8_t { inputs, outputs };

// Dumps one part of the tensors, if it is asked for. A file that cannot be written, and a piece
// that the listener refuses, are said on stderr once for a request: no program fails because of
// them.
void dump_tensors(const std::string &type, const std::string &name,
                  const std::vector<PlanTensor> &tensors, DumpPart part, const Stream &stream);

extern std::atomic<bool> g_dumps_operators;
inline bool dumps_operators() { return g_dumps_operators.load(std::memory_order_relaxed); }

}  // namespace emu
