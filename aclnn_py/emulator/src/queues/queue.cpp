// SPDX-License-Identifier: Apache-2.0
// Queues of shared buffers.
#include "queues/queue.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/export.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/slots.h"
#include "core/undo.h"
#include "queues/patience.h"
#include "runtime/copy.h"

namespace emu {
namespace {

constexpr size_t kMostName = 127;
constexpr size_t kMostQueues = 4096;
constexpr uint32_t kAllPermissions = ACL_TDT_QUEUE_PERMISSION_MANAGE |
                                     ACL_TDT_QUEUE_PERMISSION_DEQUEUE |
                                     ACL_TDT_QUEUE_PERMISSION_ENQUEUE;

Slots<acltdtQueueAttr> &attributes() {
  static auto *const all = new Slots<acltdtQueueAttr>(1 << 12);
  return *all;
}

Status find_attribute(const char *routine, const acltdtQueueAttr *raw, acltdtQueueAttr **attr) {
  EMU_ENTER_AS(routine);
  *attr = attributes().find(raw);
  if (*attr != nullptr) return 0;
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: attr is null.", routine);
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %p is not a live attribute.", routine,
              static_cast<const void *>(raw));
}

Status say_bad_type(const char *routine, int type) {
  return fail(ACL_ERROR_INVALID_PARAM,
              "%s: type is %d; allowed are ACL_TDT_QUEUE_NAME_PTR and ACL_TDT_QUEUE_DEPTH_UINT32.",
              routine, type);
}

Status check_room(const char *routine, const void *param, size_t len, size_t wanted) {
  if (param == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: param is null.", routine);
  if (len >= wanted) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: len is %zu; the attribute has %zu bytes.", routine, len,
              wanted);
}

// Puts the chain into the queue when there is room. `make` builds it once the room is sure.
template <class Make>
Status enqueue(const char *routine, uint32_t id, int32_t timeout, Make make) {
  if (const Status s = Patience::check(routine, timeout)) return s;
  const Patience patience(timeout);
  Queues &all = queues();
  std::unique_lock<std::mutex> lock(all.mutex);
  all.settle();
  const auto ready = [&] {
    const Queue *queue = all.find(id);
    return queue == nullptr || queue->has_room();
  };
  const bool in_time = patience.wait(all.changed, lock, ready);
  Queue *queue = all.find(id);
  if (queue == nullptr) return say_no_queue(routine, id);
  if (!in_time) {
    return fail(ACL_ERROR_RT_QUEUE_FULL, "%s: queue %u holds %zu buffers, its depth.", routine, id,
                queue->depth);
  }
  queue->chains.emplace_back();
  Undo place([&] { queue->chains.pop_back(); });
  if (const Status s = make(&queue->chains.back())) return s;
  place.keep();
  all.settle();
  return 0;
}

// Takes the first chain out of the queue after `use` was content with it.
template <class Use>
Status dequeue(const char *routine, uint32_t id, int32_t timeout, Use use) {
  if (const Status s = Patience::check(routine, timeout)) return s;
  const Patience patience(timeout);
  Queues &all = queues();
  std::unique_lock<std::mutex> lock(all.mutex);
  all.settle();
  const auto ready = [&] {
    const Queue *queue = all.find(id);
    return queue == nullptr || !queue->chains.empty();
  };
  const bool in_time = patience.wait(all.changed, lock, ready);
  Queue *queue = all.find(id);
  if (queue == nullptr) return say_no_queue(routine, id);
  if (!in_time) return fail(ACL_ERROR_RT_QUEUE_EMPTY, "%s: queue %u is empty.", routine, id);
  if (const Status s = use(queue->chains.front())) return s;
  queue->chains.pop_front();
  all.settle();
  return 0;
}

Status check_user_data(const char *routine, const void *user, size_t size) {
  if (size > kUserDataBytes) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: userDataSize is %zu; allowed are 0 to %zu.", routine,
                size, kUserDataBytes);
  }
  if (user != nullptr || size == 0) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: userData is null and userDataSize %zu.", routine, size);
}

Status check_data(const char *routine, const void *data, size_t size) {
  if (data == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: data is null.", routine);
  if (size == 0) return fail(ACL_ERROR_INVALID_PARAM, "%s: dataSize is 0.", routine);
  Place place;
  return place_of(routine, "data", data, size, &place);
}

}  // namespace

Queues &queues() {
  static auto *const all = new Queues;
  return *all;
}

Queue *Queues::find(uint32_t id) {
  const auto at = queues.find(id);
  return at == queues.end() ? nullptr : &at->second;
}

void Queues::settle() {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto &[id, queue] : queues)
      moved = (!queue.chains.empty() && forward(id, &queue)) || moved;
  }
  changed.notify_all();
}

bool Queues::forward(uint32_t id, Queue *queue) {
  size_t given = 0;
  const auto targets = [&](auto use) {
    for (const Route &route : routes) {
      if (route.source == id && route.status == ACL_TDT_QUEUE_ROUTE_BIND) use(*find(route.target));
    }
  };
  size_t count = 0, ready = 0;
  targets([&](const Queue &target) { ++count, ready += target.has_room() ? 1 : 0; });
  if (count == 0 || ready < count) return false;
  try {
    targets([&](Queue &target) {
      target.chains.push_back(queue->chains.front());
      ++given;
    });
  } catch (const std::bad_alloc &) {
    // The host has no memory for it now: it stays here until a later call.
    targets([&](Queue &target) {
      if (given > 0) target.chains.pop_back(), --given;
    });
    return false;
  }
  queue->chains.pop_front();
  return true;
}

bool Queues::leads(uint32_t from, uint32_t to) const {
  if (from == to) return true;
  return std::any_of(routes.begin(), routes.end(), [&](const Route &route) {
    return route.source == from && route.status == ACL_TDT_QUEUE_ROUTE_BIND &&
           leads(route.target, to);
  });
}

Status say_no_queue(const char *routine, uint32_t id) {
  return fail(ACL_ERROR_INVALID_QUEUE_ID,
              "%s: there is no queue %u; acltdtCreateQueue gives the number of one.", routine, id);
}

}  // namespace emu

using namespace emu;

EMU_EXPORT acltdtQueueAttr *acltdtCreateQueueAttr() try {
  if (check_process(__func__) != 0) return nullptr;
  acltdtQueueAttr *made = attributes().create();
  if (made == nullptr) fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many attributes.", __func__);
  return made;
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr) try {
  acltdtQueueAttr *found = nullptr;
  if (const Status s = find_attribute(__func__, attr, &found)) return s;
  if (attributes().retire(found)) attributes().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
                                       const void *param) try {
  acltdtQueueAttr *found = nullptr;
  if (const Status s = find_attribute(__func__, attr, &found)) return s;
  if (type == ACL_TDT_QUEUE_NAME_PTR) {
    if (const Status s = check_room(__func__, param, len, sizeof(char *))) return s;
    const char *name = nullptr;
    std::memcpy(&name, param, sizeof name);
    if (name == nullptr || std::strlen(name) > kMostName) {
      return fail(ACL_ERROR_INVALID_PARAM, "%s: the name is %s; give at most %zu characters.",
                  __func__, name == nullptr ? "null" : "too long", kMostName);
    }
    found->name = name;
    return 0;
  }
  if (type != ACL_TDT_QUEUE_DEPTH_UINT32) return say_bad_type(__func__, type);
  if (const Status s = check_room(__func__, param, len, sizeof(uint32_t))) return s;
  uint32_t depth = 0;
  std::memcpy(&depth, param, sizeof depth);
  if (depth < 2) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the depth is %u; allowed are 2 and more.", __func__,
                depth);
  }
  found->depth = depth;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type,
                                       size_t len, size_t *paramRetSize, void *param) try {
  acltdtQueueAttr *found = nullptr;
  if (const Status s = find_attribute(__func__, attr, &found)) return s;
  if (paramRetSize == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: paramRetSize is null.", __func__);
  if (type == ACL_TDT_QUEUE_NAME_PTR) {
    const char *name = found->name.c_str();
    if (const Status s = check_room(__func__, param, len, sizeof name)) return s;
    std::memcpy(param, &name, sizeof name);
    *paramRetSize = sizeof name;
    return 0;
  }
  if (type != ACL_TDT_QUEUE_DEPTH_UINT32) return say_bad_type(__func__, type);
  if (const Status s = check_room(__func__, param, len, sizeof found->depth)) return s;
  std::memcpy(param, &found->depth, sizeof found->depth);
  *paramRetSize = sizeof found->depth;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid) try {
  EMU_ENTER();
  acltdtQueueAttr usual, *found = &usual;
  if (attr != nullptr) {
    if (const Status s = find_attribute(__func__, attr, &found)) return s;
  }
  if (qid == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: qid is null.", __func__);
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.queues.size() == kMostQueues)
    return fail(ACL_ERROR_RT_OVER_LIMIT, "%s: there are %zu queues.", __func__, kMostQueues);
  Queue queue;
  queue.name = found->name.empty() ? "queue" + std::to_string(all.next_id) : found->name;
  queue.depth = found->depth;
  all.queues.emplace(all.next_id, std::move(queue));
  *qid = all.next_id++;
  return 0;
}
EMU_CATCH

// Routes from and to the queue stay, as abnormal ones, until they are unbound.
EMU_EXPORT aclError acltdtDestroyQueue(uint32_t qid) try {
  EMU_ENTER();
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.queues.erase(qid) == 0) return say_no_queue(__func__, qid);
  for (Route &route : all.routes) {
    if (route.source == qid || route.target == qid)
      route.status = ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;
  }
  all.settle();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) try {
  EMU_ENTER();
  return enqueue(__func__, qid, timeout,
                 [&](Chain *chain) { return take_chain("acltdtEnqueue", buf, chain); });
}
EMU_CATCH

EMU_EXPORT aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout) try {
  EMU_ENTER();
  if (buf == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: buf is null.", __func__);
  return dequeue(__func__, qid, timeout,
                 [&](const Chain &chain) { return give_chain("acltdtDequeue", chain, buf); });
}
EMU_CATCH

EMU_EXPORT aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize,
                                      const void *userData, size_t userDataSize, int32_t timeout,
                                      uint32_t rsv) try {
  EMU_ENTER();
  const char *const routine = __func__;
  if (rsv != 0) return fail(ACL_ERROR_INVALID_PARAM, "%s: rsv is %u, not 0.", routine, rsv);
  if (const Status s = check_data(routine, data, dataSize)) return s;
  if (const Status s = check_user_data(routine, userData, userDataSize)) return s;
  std::shared_ptr<BufferMemory> memory;
  if (const Status s = allocate_buffer(routine, dataSize, &memory)) return s;
  if (const Status s =
          copy_memory(routine, ACL_ERROR_INVALID_PARAM, memory->address, data, dataSize))
    return s;
  if (const Status s = copy_memory(routine, ACL_ERROR_INVALID_PARAM, memory->user.data(), userData,
                                   userDataSize))
    return s;
  return enqueue(routine, qid, timeout, [&](Chain *chain) {
    chain->push_back(memory);
    return Status{0};
  });
}
EMU_CATCH

EMU_EXPORT aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize,
                                      size_t *retDataSize, void *userData, size_t userDataSize,
                                      int32_t timeout) try {
  EMU_ENTER();
  const char *const routine = __func__;
  if (retDataSize == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: retDataSize is null.", routine);
  if (const Status s = check_data(routine, data, dataSize)) return s;
  if (const Status s = check_user_data(routine, userData, userDataSize)) return s;
  return dequeue(routine, qid, timeout, [&](const Chain &chain) {
    const BufferMemory &memory = *chain.front();
    if (memory.length > dataSize) {
      return fail(
          ACL_ERROR_INVALID_PARAM,
          "%s: dataSize is %zu; the first buffer of queue %u has %zu bytes and stays there.",
          routine, dataSize, qid, memory.length);
    }
    if (const Status s =
            copy_memory(routine, ACL_ERROR_INVALID_PARAM, data, memory.address, memory.length))
      return s;
    if (const Status s = copy_memory(routine, ACL_ERROR_INVALID_PARAM, userData, memory.user.data(),
                                     userDataSize))
      return s;
    *retDataSize = memory.length;
    return Status{0};
  });
}
EMU_CATCH

// Queues belong to the process that made them.
EMU_EXPORT aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission,
                                     int32_t timeout) try {
  EMU_ENTER();
  if (const Status s = Patience::check(__func__, timeout)) return s;
  if (permission == 0 || (permission & ~kAllPermissions) != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: permission is %u; allowed are sums of 1, 2 and 4.",
                __func__, permission);
  }
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.find(qid) == nullptr) return say_no_queue(__func__, qid);
  if (pid == getpid()) return 0;
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "%s: the emulator's queues are not shared with other processes (pid %d).", __func__,
              pid);
}
EMU_CATCH

EMU_EXPORT aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission) try {
  EMU_ENTER();
  if (permission == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: permission is null.", __func__);
  if (const Status s = Patience::check(__func__, timeout)) return s;
  Queues &all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.find(qid) == nullptr) return say_no_queue(__func__, qid);
  *permission = kAllPermissions;
  return 0;
}
EMU_CATCH
