// SPDX-License-Identifier: Apache-2.0
#include "core/reports.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "core/export.h"
#include "core/stream.h"
#include "faults/findings.h"
#include "faults/launches.h"
#include "faults/modes.h"

namespace emu {
namespace {

constexpr size_t kMaxReports = 256;

struct Report {
  int32_t stream;
  uint32_t task;
  std::string text;
};

struct Reports {
  std::mutex mutex;
  std::deque<Report> waiting;
};

Reports &reports() {
  static auto *const instance = new Reports;
  return *instance;
}

}  // namespace

void add_report(const Stream &stream, const char *op, std::string text) {
  const auto task = static_cast<uint32_t>(stream.completed.load() + 1);
  if (faults::checking()) {
    faults::Site launched;
    faults::launch_site(stream, op, task, &launched);
    faults::finding("read of memory that nothing wrote", text, launched);
    return;
  }
  std::lock_guard<std::mutex> lock(reports().mutex);
  auto &waiting = reports().waiting;
  if (waiting.size() == kMaxReports) waiting.pop_front();
  waiting.push_back({stream.id, task, std::move(text)});
}

}  // namespace emu

// Takes the oldest report: its text, cut to `room` bytes with the final zero, and the task it is
// about. Returns 0 when there is none.
EMU_EXPORT int32_t aclnn_py_emulator_take_report(char *text, uint64_t room, int32_t *stream,
                                                 uint32_t *task) try {
  if (text == nullptr || room == 0 || stream == nullptr || task == nullptr) return 0;
  std::lock_guard<std::mutex> lock(emu::reports().mutex);
  auto &waiting = emu::reports().waiting;
  if (waiting.empty()) return 0;
  const auto &first = waiting.front();
  const size_t length = std::min<size_t>(first.text.size(), room - 1);
  std::memcpy(text, first.text.data(), length);
  text[length] = '\0';
  *stream = first.stream;
  *task = first.task;
  waiting.pop_front();
  return 1;
} catch (const std::exception &) {
  return 0;  // the report stays
}
