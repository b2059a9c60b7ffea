// SPDX-License-Identifier: Apache-2.0
// Functions of the program that are called when a captured graph is destroyed.
#include "runtime/graph_callbacks.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/process.h"

namespace emu {
namespace {

using Functions = std::vector<std::pair<aclrtCallback, void *>>;

struct Registry {
  std::mutex mutex;
  std::map<uint32_t, Functions> by_graph;  // by number: handles are used again, numbers are not
};

Registry &registry() {
  // In place: who ends a graph needs no memory for it.
  alignas(Registry) static unsigned char place[sizeof(Registry)];
  static auto *const instance = ::new (static_cast<void *>(place)) Registry;
  return *instance;
}

Status find(const char *routine, aclmdlRI raw, aclrtCallback function, uint32_t *graph) {
  EMU_ENTER_AS(routine);
  if (function == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: func is null.", routine);
  GraphHandle *handle = nullptr;
  if (const Status s = find_graph(raw, routine, &handle)) return s;
  *graph = handle->graph->id;
  return 0;
}

}  // namespace

void tell_graph_end(uint32_t graph) {
  Functions functions;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    const auto at = registry().by_graph.find(graph);
    if (at == registry().by_graph.end()) return;
    functions = std::move(at->second);
    registry().by_graph.erase(at);
  }
  for (const auto &[function, data] : functions) function(data);
}

}  // namespace emu

using emu::Status;

EMU_EXPORT aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func,
                                                    void *userData) try {
  uint32_t graph = 0;
  if (const Status s = emu::find(__func__, modelRI, func, &graph)) return s;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  emu::registry().by_graph[graph].emplace_back(func, userData);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) try {
  uint32_t graph = 0;
  if (const Status s = emu::find(__func__, modelRI, func, &graph)) return s;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  auto &functions = emu::registry().by_graph[graph];
  const auto gone = std::remove_if(functions.begin(), functions.end(),
                                   [&](const auto &entry) { return entry.first == func; });
  if (gone == functions.end()) {
    return emu::fail(ACL_ERROR_INVALID_PARAM,
                     "aclmdlRIDestroyUnregisterCallback: the function is not registered.");
  }
  functions.erase(gone, functions.end());
  return 0;
}
EMU_CATCH
