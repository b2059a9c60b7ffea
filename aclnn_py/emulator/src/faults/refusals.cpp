// SPDX-License-Identifier: Apache-2.0
// What a refusal or a fault of the device means: the kind of mistake, and the life of the handle or
// the memory that the message names.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "core/stream.h"
#include "faults/findings.h"
#include "faults/launches.h"
#include "faults/modes.h"
#include "faults/objects.h"

namespace emu::faults {
namespace {

thread_local const char *t_name = nullptr;
thread_local std::optional<std::pair<Site, Site>> t_places;  // captured, replayed

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

// The first address in a message; null when there is none.
const void *address_in(const std::string &text) {
  const size_t at = text.find("0x");
  if (at == std::string::npos) return nullptr;
  return reinterpret_cast<const void *>(std::strtoull(text.c_str() + at, nullptr, 16));
}

bool ends_something(const std::string &text) {
  const std::string routine = text.substr(0, text.find(':'));
  return has(routine, "Destroy") || has(routine, "Free") || has(routine, "Finalize");
}

// Memory that is given back in the wrong way.
const char *name_of_free(const std::string &text, const Life *life) {
  if (life != nullptr && !life->live) return "memory freed twice";
  if (has(text, "bytes into a block") || (life != nullptr && life->live && life->bytes > 0 &&
                                          !has(life->kind, "host") && !has(text, "FreeHost")))
    return "free of an address inside an allocation";
  return "free of memory of another kind";
}

struct Word {
  const char *part, *name;
};

// What messages have in common; the first that fits.
constexpr Word kWords[] = {
    {"is not device memory: host memory", "host pointer as device data"},
    {"belongs to another context", "stream of another device or context"},
    {"the stream belongs to device", "stream of another device or context"},
    {"this thread has no device", "no device set on this thread"},
    {"was made by", "executor of another operator"},
    {"was destroyed or is not a handle", "use after destroy"},
    {"destroyed before its list", "destroyed twice"},
    {"it may have been destroyed", "use after destroy"},
    {"phase one asked for", "workspace too small"},
    {"the workspace is null", "workspace is null"},
    {"wrote outside", "write outside an allocation"},
    {"is more than destMax", "copy of more bytes than its destination has"},
    {"is more than maxCount", "fill of more bytes than its memory has"},
    {"the kind of copy", "kind of copy contradicts the addresses"},
    {"out of memory", "out of memory"},
    {"was never recorded", "event that was never recorded"},
    {"is null", "null argument"},
    {"more than 64 bits can count", "impossible shape"},
};

const char *name_of(const std::string &text, const Life *life) {
  if (has(text, "not the start of an allocation") || has(text, "not given out by aclrtMallocHost"))
    return name_of_free(text, life);
  if (life != nullptr && !life->live && life->bytes > 0) return "use of freed memory";
  if (life != nullptr && !life->live && std::strcmp(life->kind, "aclOpExecutor") == 0)
    return "executor used after its run";
  if (life != nullptr && !life->live)
    return ends_something(text) ? "destroyed twice" : "use after destroy";
  if (life != nullptr && life->live && life->bytes == 0 && has(text, "is not a"))
    return "handle of another kind";
  for (const Word &word : kWords) {
    if (has(text, word.part)) return word.name;
  }
  if (has(text, " needs ") && has(text, "device ")) return "access outside an allocation";
  return "refused call";
}

const char *name_of_fault(const std::string &text) {
  if (has(text, "wrote outside")) return "write outside an allocation";
  if (has(text, "(host memory)") || has(text, "is host memory"))
    return "host pointer as device data";
  if (has(text, "(null)")) return "tensor without memory";
  if (has(text, "freed or was never allocated")) return "use of freed memory";
  if (has(text, "peer access was not enabled")) return "memory of another device";
  if (has(text, "which are not device memory")) return "access outside an allocation";
  return "fault on the device";
}

void tell(Status code, const std::string &text) {
  const char *given = std::exchange(t_name, nullptr);
  // These follow a failure that was reported.
  if (has(text, "failed on the device") || has(text, "the stream was refused with")) return;
  if (working_stream() != nullptr) return;
  Life life;
  const bool known = life_of(address_in(text), &life);
  const char *name = given != nullptr ? given : name_of(text, known ? &life : nullptr);
  std::string what = text + " (status " + std::to_string(code) + ")";
  if (known && life.live && life.bytes == 0) what += std::string("; it is a live ") + life.kind;
  const Site here = site_here();
  if (known && life.live) {
    finding(name, what, here, {{"made", life.made}});
  } else if (known) {
    finding(name, what, here,
            {{life.bytes > 0 ? "allocated" : "made", life.made},
             {life.bytes > 0 ? "freed" : "ended", life.ended}});
  } else {
    finding(name, what, here);
  }
}

}  // namespace

void name_refusal(const char *name) { t_name = name; }

void set_fault_places(const Site &captured, const Site &replayed) {
  t_places.emplace(captured, replayed);
}

void refused(Status code, const std::string &text) noexcept {
  try {
    tell(code, text);
  } catch (const std::exception &) {
    return;  // the status and its message say it too; only the report lacks memory
  }
}

void faulted(const Stream &stream, Status code, const char *what, uint32_t task,
             const std::string &text) noexcept {
  try {
    const std::optional<std::pair<Site, Site>> places = std::exchange(t_places, std::nullopt);
    Site launched;
    const bool known = !places && launch_site(stream, what, task, &launched);
    const std::string all = text + " (status " + std::to_string(code) + ", stream " +
                            std::to_string(stream.id) + ", task " + std::to_string(task) + ")";
    if (places) {
      finding(name_of_fault(text), all, places->first, {{"replayed", places->second}});
      return;
    }
    finding(name_of_fault(text), all, known ? launched : Site{});
  } catch (const std::exception &) {
    return;  // as above
  }
}

}  // namespace emu::faults
