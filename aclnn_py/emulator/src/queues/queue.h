// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "queues/buffer.h"

// What acltdtCreateQueueAttr makes.
struct tagMemQueueAttr {
  std::string name;
  uint32_t depth = 8;
};

namespace emu {

struct Queue {
  std::string name;
  size_t depth = 0;
  std::deque<Chain> chains;
  bool has_room() const { return chains.size() < depth; }
};

// What enters `source` goes on to `target`.
struct Route {
  uint32_t source = 0, target = 0;
  int32_t status = ACL_TDT_QUEUE_ROUTE_UNBIND;
};

// All queues of the process and the routes between them. One mutex guards them: a chain moves along
// a route in the call that makes room for it.
struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint32_t, Queue> queues;
  std::vector<Route> routes;
  uint32_t next_id = 0;

  Queue *find(uint32_t id);
  // Moves chains along the routes as far as there is room, and wakes those who wait. A queue with
  // several targets gives each the same memory.
  void settle();
  // Moves the first chain of the queue along its routes, if each target has room.
  bool forward(uint32_t id, Queue *queue);
  // Whether what enters `from` may come to `to`.
  bool leads(uint32_t from, uint32_t to) const;
};

Queues &queues();

Status say_no_queue(const char *routine, uint32_t id);

}  // namespace emu
