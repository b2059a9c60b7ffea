// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/ffn/worker_context.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "core/cancel.h"
#include "core/memory.h"
#include "core/statuses.h"

namespace emu {
namespace {

// Where the fields lie.
constexpr size_t kSessions = 0, kBatches = 4, kBatchSize = 8, kEach = 12, kRowBytes = 20;  // uint32
constexpr size_t kRunFlag = 128;             // int32; 0: leave
constexpr size_t kInfos = 384, kData = 400;  // uint64: address, then size
constexpr size_t kPolling = 416;             // uint64
constexpr size_t kLayerIds = 512, kSessionIds = 528, kBatchIds = 544, kExpertIds = 560;
constexpr size_t kTaken = 576;  // uint32
constexpr int64_t kMostSessions = 1024, kMostBatches = 64, kMostEach = 64;

constexpr auto kPause = std::chrono::microseconds(50);

template <class T>
T field(const char *context, size_t at) {
  T value;
  std::memcpy(&value, context + at, sizeof value);
  return value;
}

// Other threads write what is read here while it is read.
int32_t watched(const void *word) {
  return __atomic_load_n(static_cast<const int32_t *>(word), __ATOMIC_ACQUIRE);
}

}  // namespace

Status WorkerContext::buffer(const char *name, size_t at, int64_t needed, char **data) const {
  const auto address = field<uint64_t>(context_, at), room = field<uint64_t>(context_, at + 8);
  *data = reinterpret_cast<char *>(address);
  if (room < static_cast<uint64_t>(needed)) {
    return fail(kKernelFault, "%s: %s_size of the context is %llu; %lld bytes are needed", op_,
                name, static_cast<unsigned long long>(room), wide(needed));
  }
  if (address % sizeof(int32_t) == 0 &&
      (needed == 0 || on_device(*data, static_cast<size_t>(needed), nullptr)))
    return 0;
  return fail(kKernelFault, "%s: %s of the context is %p, which is %s", op_, name,
              static_cast<void *>(*data), describe_address(*data).c_str());
}

Status WorkerContext::read() {
  WorkerSizes &z = sizes_;
  z.sessions = field<uint32_t>(context_, kSessions);
  z.batches = field<uint32_t>(context_, kBatches);
  z.tokens = field<uint32_t>(context_, kBatchSize);
  z.each = field<uint32_t>(context_, kEach);
  z.row_bytes = field<uint32_t>(context_, kRowBytes);
  const struct {
    const char *name;
    int64_t value, most;
  } numbers[] = {{"session_num", z.sessions, kMostSessions},
                 {"micro_batch_num", z.batches, kMostBatches},
                 {"micro_batch_size", z.tokens, UINT32_MAX},
                 {"selected_expert_num", z.each, kMostEach}};
  for (const auto &number : numbers) {
    if (number.value < 1 || number.value > number.most)
      return fail(kKernelFault, "%s: %s of the context is %lld; allowed: 1 to %lld", op_,
                  number.name, wide(number.value), wide(number.most));
  }
  return 0;
}

bool WorkerContext::ended() const { return watched(context_ + kRunFlag) == 0; }

int32_t *WorkerContext::description(int64_t session, int64_t batch) const {
  return reinterpret_cast<int32_t *>(infos_) +
         (session * sizes_.batches + batch) * (2 + sizes_.choices());
}

bool WorkerContext::arrived(int64_t group, int64_t group_size, int64_t batch) const {
  for (int64_t session = group * group_size; session < (group + 1) * group_size; ++session)
    if (watched(description(session, batch)) != 1) return false;
  return true;
}

Status WorkerContext::receive(int64_t group_size, std::vector<WorkerBatch> *taken) {
  const WorkerSizes &z = sizes_;
  if (group_size < 1 || group_size > z.sessions || z.sessions % group_size != 0) {
    return fail(kKernelFault,
                "%s: syncGroupSize is %lld; session_num of the context is %lld, which whole groups "
                "must make up",
                op_, wide(group_size), wide(z.sessions));
  }
  // At most 2^10 * 2^6 * 2^38 words.
  const int64_t words = z.sessions * z.batches * (2 + z.choices());
  if (const Status s = buffer("token_info_buf", kInfos, words * 4, &infos_)) return s;
  const int64_t groups = z.sessions / group_size;
  const auto next =
      static_cast<int64_t>(field<uint64_t>(context_, kPolling) % static_cast<uint64_t>(z.batches));
  for (int64_t turn = 0; taken->empty(); ++turn) {
    if (ended() || wait_cancelled()) return 0;
    const int64_t batch = groups == 1 ? next : (next + turn) % z.batches;
    for (int64_t group = 0; group < groups; ++group) {
      if (!arrived(group, group_size, batch)) continue;
      for (int64_t session = group * group_size; session < (group + 1) * group_size; ++session) {
        int32_t *words = description(session, batch);
        WorkerBatch one;
        one.session = static_cast<int32_t>(session);
        one.batch = static_cast<int32_t>(batch);
        one.layer = words[1];
        one.experts.assign(words + 2, words + 2 + z.choices());
        taken->push_back(std::move(one));
        words[0] = 0;
        std::fill(words + 2, words + 2 + z.choices(), kMaskedExpert);
      }
    }
    if (!taken->empty()) {
      const auto after = static_cast<uint64_t>((batch + 1) % z.batches);
      std::memcpy(context_ + kPolling, &after, sizeof after);
    } else if (groups == 1 || batch == z.batches - 1) {
      std::this_thread::sleep_for(kPause);
    }
  }
  return 0;
}

Status WorkerContext::publish(const std::vector<WorkerBatch> &taken) {
  const WorkerSizes &z = sizes_;
  char *layers, *sessions, *batches, *experts;
  if (const Status s = buffer("layer_ids_buf", kLayerIds, z.sessions * 4, &layers)) return s;
  if (const Status s = buffer("session_ids_buf", kSessionIds, z.sessions * 4, &sessions)) return s;
  if (const Status s = buffer("micro_batch_ids_buf", kBatchIds, z.sessions * 4, &batches)) return s;
  const int64_t bytes = z.choices() * 4;
  if (const Status s = buffer("expert_ids_buf", kExpertIds, z.sessions * bytes, &experts)) return s;
  for (size_t i = 0; i < taken.size(); ++i) {
    std::memcpy(layers + i * 4, &taken[i].layer, 4);
    std::memcpy(sessions + i * 4, &taken[i].session, 4);
    std::memcpy(batches + i * 4, &taken[i].batch, 4);
    std::memcpy(experts + static_cast<int64_t>(i) * bytes, taken[i].experts.data(),
                static_cast<size_t>(bytes));
  }
  const auto count = static_cast<uint32_t>(taken.size());
  std::memcpy(context_ + kTaken, &count, sizeof count);
  return 0;
}

Status WorkerContext::published(std::vector<WorkerBatch> *taken) const {
  const WorkerSizes &z = sizes_;
  const int64_t count = field<uint32_t>(context_, kTaken), bytes = z.choices() * 4;
  if (count > z.sessions) {
    return fail(kKernelFault, "%s: out_num of the context is %lld; session_num is %lld", op_,
                wide(count), wide(z.sessions));
  }
  char *layers, *sessions, *batches, *experts;
  if (const Status s = buffer("layer_ids_buf", kLayerIds, count * 4, &layers)) return s;
  if (const Status s = buffer("session_ids_buf", kSessionIds, count * 4, &sessions)) return s;
  if (const Status s = buffer("micro_batch_ids_buf", kBatchIds, count * 4, &batches)) return s;
  if (const Status s = buffer("expert_ids_buf", kExpertIds, count * bytes, &experts)) return s;
  for (int64_t i = 0; i < count; ++i) {
    WorkerBatch one;
    one.layer = field<int32_t>(layers, static_cast<size_t>(i) * 4);
    one.session = field<int32_t>(sessions, static_cast<size_t>(i) * 4);
    one.batch = field<int32_t>(batches, static_cast<size_t>(i) * 4);
    if (one.session < 0 || one.session >= z.sessions || one.batch < 0 || one.batch >= z.batches) {
      return fail(kKernelFault,
                  "%s: session_ids_buf and micro_batch_ids_buf hold %d and %d; there are %lld "
                  "sessions of %lld micro batches",
                  op_, one.session, one.batch, wide(z.sessions), wide(z.batches));
    }
    one.experts.resize(static_cast<size_t>(z.choices()));
    std::memcpy(one.experts.data(), experts + i * bytes, static_cast<size_t>(bytes));
    taken->push_back(std::move(one));
  }
  return 0;
}

Status WorkerContext::row_of(const WorkerBatch &from, int64_t choice, const char **row) const {
  const WorkerSizes &z = sizes_;
  const int64_t at = (from.session * z.batches + from.batch) * z.choices() + choice;
  const Checked end = (Checked(at) + int64_t{1}) * z.row_bytes;
  if (!end.fits())
    return fail(kKernelFault, "%s: attn_to_ffn_token_size of the context is %lld", op_,
                wide(z.row_bytes));
  char *data;
  if (const Status s = buffer("token_data_buf", kData, end.value(), &data)) return s;
  *row = data + at * z.row_bytes;
  return 0;
}

}  // namespace emu
