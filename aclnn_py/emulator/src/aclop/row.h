// SPDX-License-Identifier: Apache-2.0
// The table of operator types, which the build writes from aclnn_py/facts/aclop.json.
#pragma once

#include <cstddef>

#include "aclnn/acl_meta.h"
#include "aclop/attributes.h"
#include "core/status.h"

namespace emu::aclop {

class Call;

// Positions in a row. A type each, so that the generated calls say what they mean.
struct In {
  size_t at;
};
struct Out {
  size_t at;
};
struct At {
  size_t at;
};

struct Port {
  const char *name;
  bool optional, dynamic;
  bool refused;  // the aclnn form has no such input
};

struct AttributeRow {
  const char *name;
  Kind kind;
  const char *fallback;  // null: required
  const char *only;      // the one value that is taken, or null
  bool any;              // has no effect here, or follows from the tensors
};

template <class T>
struct Span {
  const T *items;
  size_t count;
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
  size_t size() const { return count; }
  const T &operator[](size_t i) const { return items[i]; }
};

struct Row {
  const char *type;
  Span<Port> inputs, outputs;
  Span<AttributeRow> attributes;
  Status (*phase_one)(Call &call, uint64_t *workspace, aclOpExecutor **executor);
};

// Null when the table has no such type.
const Row *find_row(const char *type);

}  // namespace emu::aclop
