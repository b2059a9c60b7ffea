// SPDX-License-Identifier: Apache-2.0
// Data channels: bounded queues of tensors with a name. On hardware a model on the device is the
// other end. Here what one thread sends, another receives.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "queues/dataset.h"
#include "queues/patience.h"

namespace emu {
namespace {

constexpr size_t kMostName = 127;
constexpr size_t kUsualCapacity = 128;  // of acltdtCreateChannel, which does not say one

// Outlives its handle while a thread waits in it.
struct Channel {
  Channel(const char *called, size_t most) : name(called), capacity(most) {}
  const std::string name;
  const size_t capacity;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Parcel> parcels;  // guarded by mutex
  bool stopped = false;        // guarded by mutex

  void stop() {
    std::lock_guard<std::mutex> lock(mutex);
    stopped = true;
    changed.notify_all();
  }
};

}  // namespace
}  // namespace emu

struct acltdtChannelHandle {
  explicit acltdtChannelHandle(std::shared_ptr<emu::Channel> c) : channel(std::move(c)) {}
  const std::shared_ptr<emu::Channel> channel;
};

namespace emu {
namespace {

Slots<acltdtChannelHandle> &handles() {
  static auto *const all = new Slots<acltdtChannelHandle>(1 << 12);
  return *all;
}

Status find_channel(const char *routine, const acltdtChannelHandle *raw,
                    std::shared_ptr<Channel> *channel) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: handle is null.", routine);
  const acltdtChannelHandle *handle = handles().find(raw);
  if (handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %p is not a live channel.", routine,
                static_cast<const void *>(raw));
  }
  *channel = handle->channel;
  return 0;
}

Status create(const char *routine, uint32_t device, const char *name, size_t capacity,
              acltdtChannelHandle **out) {
  EMU_ENTER_AS(routine);
  if (device >= static_cast<uint32_t>(device_count())) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: deviceId is %u; there are %d devices.", routine,
                device, device_count());
  }
  if (name == nullptr || *name == '\0' || std::char_traits<char>::length(name) > kMostName) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: name is %s; give 1 to %zu characters.", routine,
                name == nullptr ? "null" : (*name == '\0' ? "empty" : "too long"), kMostName);
  }
  if (capacity == 0)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: capacity is 0; allowed are 1 and more.", routine);
  *out = handles().create(std::make_shared<Channel>(name, capacity));
  return *out != nullptr
             ? 0
             : fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many channels.", routine);
}

Status say_stopped(const char *routine, const Channel &channel) {
  return fail(ACL_ERROR_FAILURE, "%s: channel \"%s\" was stopped.", routine, channel.name.c_str());
}

}  // namespace
}  // namespace emu

using namespace emu;

EMU_EXPORT acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name) try {
  acltdtChannelHandle *handle = nullptr;
  (void)create(__func__, deviceId, name, kUsualCapacity, &handle);  // the text says why
  return handle;
}
EMU_CATCH

EMU_EXPORT acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name,
                                                                size_t capacity) try {
  acltdtChannelHandle *handle = nullptr;
  (void)create(__func__, deviceId, name, capacity, &handle);  // the text says why
  return handle;
}
EMU_CATCH

EMU_EXPORT aclError acltdtSendTensor(const acltdtChannelHandle *handle,
                                     const acltdtDataset *dataset, int32_t timeout) try {
  std::shared_ptr<Channel> channel;
  acltdtDataset *found = nullptr;
  Parcel parcel;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  if (const Status s = find_dataset(__func__, dataset, &found)) return s;
  if (const Status s = Patience::check(__func__, timeout)) return s;
  if (const Status s = pack(__func__, *found, &parcel)) return s;
  const Patience patience(timeout);
  std::unique_lock<std::mutex> lock(channel->mutex);
  const auto room = [&] { return channel->stopped || channel->parcels.size() < channel->capacity; };
  if (!patience.wait(channel->changed, lock, room)) {
    return fail(ACL_ERROR_RT_QUEUE_FULL, "%s: channel \"%s\" holds %zu datasets, its capacity.",
                __func__, channel->name.c_str(), channel->capacity);
  }
  if (channel->stopped) return say_stopped(__func__, *channel);
  channel->parcels.push_back(std::move(parcel));
  channel->changed.notify_all();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset,
                                        int32_t timeout) try {
  std::shared_ptr<Channel> channel;
  acltdtDataset *found = nullptr;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  if (const Status s = find_dataset(__func__, dataset, &found)) return s;
  if (const Status s = Patience::check(__func__, timeout)) return s;
  if (!found->items.empty()) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: dataset has %zu items; give an empty one.", __func__,
                found->items.size());
  }
  found->name = channel->name;
  const Patience patience(timeout);
  std::unique_lock<std::mutex> lock(channel->mutex);
  const auto ready = [&] { return channel->stopped || !channel->parcels.empty(); };
  if (!patience.wait(channel->changed, lock, ready)) {
    return fail(ACL_ERROR_RT_QUEUE_EMPTY, "%s: channel \"%s\" is empty.", __func__,
                channel->name.c_str());
  }
  if (channel->stopped) return say_stopped(__func__, *channel);
  // The datasets stay in the channel until the receiver has them.
  if (const Status s = unpack(__func__, channel->parcels.front(), found)) return s;
  channel->parcels.pop_front();
  channel->changed.notify_all();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size) try {
  std::shared_ptr<Channel> channel;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  if (size == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: size is null.", __func__);
  std::lock_guard<std::mutex> lock(channel->mutex);
  *size = channel->parcels.size();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtCleanChannel(acltdtChannelHandle *handle) try {
  std::shared_ptr<Channel> channel;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  std::lock_guard<std::mutex> lock(channel->mutex);
  channel->parcels.clear();
  channel->changed.notify_all();
  return 0;
}
EMU_CATCH

// Ends the waits of other threads; those that come later end at once.
EMU_EXPORT aclError acltdtStopChannel(acltdtChannelHandle *handle) try {
  std::shared_ptr<Channel> channel;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  channel->stop();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyChannel(acltdtChannelHandle *handle) try {
  std::shared_ptr<Channel> channel;
  if (const Status s = find_channel(__func__, handle, &channel)) return s;
  if (!handles().retire(handle)) return 0;  // another thread destroyed it just now
  channel->stop();
  handles().destroy(handle);
  return 0;
}
EMU_CATCH
