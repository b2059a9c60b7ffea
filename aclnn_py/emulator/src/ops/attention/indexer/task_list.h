// SPDX-License-Identifier: Apache-2.0
// The lists of tasks that the metadata operators make for cores: which core takes which tokens of
// the queries. The documents name the fields of a list and leave open how the work is divided; here
// every core takes a run of whole tokens, as even as they can be divided, with all of their keys.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// Numbers in a list.
constexpr int64_t kTaskNumbers = 1024, kFewTaskNumbers = 64;

// What a list says.
enum class TaskForm : uint8_t {
  kCores,   // of every core the tokens it takes, in `fields` numbers
  kStarts,  // the cores, all tokens, the most of a core, and the first token of every core
  kShares,  // all tokens, how many a core of the front and one of the rest takes, the cores of the
            // rest, and all that have any
};

// The lengths of a side: a list of the tokens in use, or of offsets, or one length for all.
struct TaskLengths {
  Named<aclTensor> offsets, used;
  const char *longest_name;
  int64_t longest;
  bool needed = true;
};

struct TaskCall {
  const char *op;
  TaskLengths query;
  TaskLengths key[2];  // the second one of compressed tokens
  Named<aclTensor> residuals;
  Named<aclTensor> unused[2];
  int64_t batch;
  const char *query_layout, *key_layout_name, *key_layout;
  bool residuals_needed;
  int fields;  // of a core
  Named<aclTensor> list;
  TaskForm form = TaskForm::kCores;
  int64_t numbers = kTaskNumbers;
};

// Phase one: the rules of the lengths and of the layouts behind those in `check`, and the plan.
Status plan_tasks(Check &check, const TaskCall &call, uint64_t *workspace_size,
                  aclOpExecutor **executor);

}  // namespace emu
