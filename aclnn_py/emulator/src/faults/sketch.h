// SPDX-License-Identifier: Apache-2.0
// The arguments of an operator's call as a record has them, and where its tensors lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/gate.h"
#include "faults/values.h"
#include "meta/tensor.h"

namespace emu::faults {

struct SketchTensor {
  aclTensor tensor;     // a copy
  int32_t list = 0;     // its argument among those that are tensors or lists
  int32_t member = -1;  // in a list
  bool written = false;
  size_t memory = 0;
};

// The part of an allocation that tensors of the call cover.
struct SketchMemory {
  uintptr_t block = 0, start = 0, end = 0;  // block 0: no device memory
  bool written = false;
  std::string before, after;  // names in the archive; empty: not kept

  size_t bytes() const { return end - start; }
};

struct Sketch {
  std::string op, arguments, group;
  std::vector<SketchTensor> tensors;
  std::vector<SketchMemory> memories;
};

// Phase one's arguments. False with the reason in `why` for what a record cannot hold.
bool sketch_arguments(const Call &call, const Signature &signature, Sketch *sketch,
                      std::string *why);
// The memory under the tensors, at the addresses they have now.
bool find_memories(Sketch *sketch, std::string *why);

std::string json_text(const std::string &text);
std::string views_text(const Sketch &sketch);
std::string memories_text(const Sketch &sketch);

}  // namespace emu::faults
