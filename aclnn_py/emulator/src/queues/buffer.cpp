// SPDX-License-Identifier: Apache-2.0
// Shared buffers: device memory with a reference count, on its own or in a chain.
#include "queues/buffer.h"

#include <utility>

#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/slots.h"

namespace emu {
namespace {

constexpr size_t kLongestChain = 128;

struct Buffer {
  explicit Buffer(std::shared_ptr<BufferMemory> m) : memory(std::move(m)) {}
  const std::shared_ptr<BufferMemory> memory;
  Buffer *head = nullptr;          // of the chain it was appended to
  std::vector<Buffer *> appended;  // of a head
};

Slots<Buffer> &buffers() {
  static auto *const all = new Slots<Buffer>(1 << 16);
  return *all;
}

Status find_buffer(const char *routine, const char *name, const void *raw, Buffer **buffer) {
  EMU_ENTER_AS(routine);
  *buffer = buffers().find(raw);
  if (*buffer != nullptr) return 0;
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine, name);
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %s, %p, is not a live buffer.", routine, name, raw);
}

// A buffer that stands for a whole chain: not one that was appended to another.
Status find_head(const char *routine, const char *name, const void *raw, Buffer **buffer) {
  if (const Status s = find_buffer(routine, name, raw, buffer)) return s;
  if ((*buffer)->head == nullptr) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "%s: %s, %p, was appended to the chain of %p; give the head of the chain.", routine,
              name, raw, static_cast<void *>((*buffer)->head));
}

void destroy(Buffer *buffer) {
  if (buffers().retire(buffer)) buffers().destroy(buffer);
}

void destroy_chain(Buffer *head) {
  for (Buffer *part : head->appended) destroy(part);
  destroy(head);
}

Status create(const char *routine, std::shared_ptr<BufferMemory> memory, Buffer **buffer) {
  *buffer = buffers().create(std::move(memory));
  return *buffer != nullptr
             ? 0
             : fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many buffers.", routine);
}

Status check_user_data(const char *routine, const void *data, size_t size, size_t offset) {
  if (data == nullptr && size != 0)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: dataPtr is null and size %zu.", routine, size);
  if (offset <= kUserDataBytes && size <= kUserDataBytes - offset) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes at %zu; a buffer has %zu bytes of user data.",
              routine, size, offset, kUserDataBytes);
}

}  // namespace

BufferMemory::~BufferMemory() {
  // Gone already when its device was reset.
  if (address != nullptr && device_free(address, "end of a shared buffer") != 0)
    (void)take_message();
}

Status allocate_buffer(const char *routine, size_t size, std::shared_ptr<BufferMemory> *memory) {
  int device = 0;
  if (const Status s = current_device(routine, &device)) return s;
  auto made = std::make_shared<BufferMemory>();
  if (const Status s = device_malloc(device, size, &made->address, routine)) return s;
  made->size = made->length = size;
  *memory = std::move(made);
  return 0;
}

Status take_chain(const char *routine, acltdtBuf raw, Chain *chain) {
  Buffer *head = nullptr;
  if (const Status s = find_head(routine, "buf", raw, &head)) return s;
  chain->reserve(1 + head->appended.size());
  chain->push_back(head->memory);
  for (const Buffer *part : head->appended) chain->push_back(part->memory);
  destroy_chain(head);
  return 0;
}

Status give_chain(const char *routine, const Chain &chain, acltdtBuf *raw) {
  std::vector<Slots<Buffer>::Guard> made;
  made.reserve(chain.size());
  for (const auto &memory : chain) {
    Buffer *buffer = nullptr;
    if (const Status s = create(routine, memory, &buffer)) return s;
    made.push_back(buffers().guard(buffer));
  }
  Buffer *head = made.front().get();
  head->appended.reserve(chain.size() - 1);
  for (auto &buffer : made) {
    Buffer *part = buffer.release();
    if (part == head) continue;
    part->head = head;
    head->appended.push_back(part);
  }
  *raw = head;
  return 0;
}

}  // namespace emu

using namespace emu;

// `type` says where hardware takes the memory from; there is one kind here.
EMU_EXPORT aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf) try {
  EMU_ENTER();
  if (buf == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: buf is null.", __func__);
  if (size == 0) return fail(ACL_ERROR_INVALID_PARAM, "%s: size is 0.", __func__);
  if (type > ACL_TDT_DVPP_MEM) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: type is %u; allowed are 0 and 1.", __func__, type);
  }
  std::shared_ptr<BufferMemory> memory;
  Buffer *buffer = nullptr;
  if (const Status s = allocate_buffer(__func__, size, &memory)) return s;
  if (const Status s = create(__func__, std::move(memory), &buffer)) return s;
  *buf = buffer;
  return 0;
}
EMU_CATCH

// Frees the chain when the buffer is the head of one. The memory goes with its last buffer.
EMU_EXPORT aclError acltdtFreeBuf(acltdtBuf buf) try {
  Buffer *head = nullptr;
  if (const Status s = find_head(__func__, "buf", buf, &head)) return s;
  destroy_chain(head);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf) try {
  Buffer *buffer = nullptr, *copy = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (newBuf == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: newBuf is null.", __func__);
  if (const Status s = create(__func__, buffer->memory, &copy)) return s;
  *newBuf = copy;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf) try {
  Buffer *head = nullptr, *part = nullptr;
  if (const Status s = find_head(__func__, "headBuf", headBuf, &head)) return s;
  if (const Status s = find_head(__func__, "buf", buf, &part)) return s;
  if (head == part) return fail(ACL_ERROR_INVALID_PARAM, "%s: buf is headBuf itself.", __func__);
  if (!part->appended.empty()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: buf is the head of a chain of %zu; give one buffer.",
                __func__, part->appended.size() + 1);
  }
  if (head->appended.size() + 1 >= kLongestChain) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the chain has %zu buffers, as many as it may.",
                __func__, kLongestChain);
  }
  head->appended.push_back(part);
  part->head = head;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num) try {
  Buffer *head = nullptr;
  if (const Status s = find_head(__func__, "headBuf", headBuf, &head)) return s;
  if (num == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: num is null.", __func__);
  *num = static_cast<uint32_t>(head->appended.size() + 1);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf) try {
  Buffer *head = nullptr;
  if (const Status s = find_head(__func__, "headBuf", headBuf, &head)) return s;
  if (buf == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: buf is null.", __func__);
  if (index > head->appended.size()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: index is %u; the chain has %zu buffers.", __func__,
                index, head->appended.size() + 1);
  }
  *buf = index == 0 ? head : head->appended[index - 1];
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size) try {
  Buffer *buffer = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (dataPtr == nullptr || size == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: dataPtr or size is null.", __func__);
  *dataPtr = buffer->memory->address;
  *size = buffer->memory->size;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) try {
  Buffer *buffer = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (len > buffer->memory->size) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: len is %zu; the buffer has %zu bytes.", __func__, len,
                buffer->memory->size);
  }
  buffer->memory->length = len;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len) try {
  Buffer *buffer = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (len == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: len is null.", __func__);
  *len = buffer->memory->length;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size,
                                         size_t offset) try {
  Buffer *buffer = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (const Status s = check_user_data(__func__, dataPtr, size, offset)) return s;
  return copy_memory(__func__, ACL_ERROR_INVALID_PARAM, buffer->memory->user.data() + offset,
                     dataPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size,
                                         size_t offset) try {
  Buffer *buffer = nullptr;
  if (const Status s = find_buffer(__func__, "buf", buf, &buffer)) return s;
  if (const Status s = check_user_data(__func__, dataPtr, size, offset)) return s;
  return copy_memory(__func__, ACL_ERROR_INVALID_PARAM, dataPtr,
                     buffer->memory->user.data() + offset, size);
}
EMU_CATCH
