// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/program_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/memory.h"
#include "core/memory_signals.h"
#include "faults/pages.h"

namespace emu {
namespace {

uintptr_t address(const void *p) { return reinterpret_cast<uintptr_t>(p); }

std::string hex(uintptr_t at) {
  char text[2 + 2 * sizeof at + 1];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, at);
  return text;
}

// A line of /proc/self/maps.
struct Mapping {
  AddressRange range;
  bool readable, writable;
  std::string file;
};

bool parse(const std::string &line, Mapping *found) {
  char rights[5] = {};
  int path = -1;
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &found->range.low,
                  &found->range.high, rights, &path) < 3)
    return false;
  found->readable = rights[0] == 'r';
  found->writable = rights[1] == 'w';
  found->file = path >= 0 ? line.substr(static_cast<size_t>(path)) : "";
  return true;
}

// Calls f(mapping) for the mappings that overlap [low, high), in order, until it returns false.
// False when the system does not tell them.
template <class F>
bool each_mapping(uintptr_t low, uintptr_t high, F f) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool told = false;
  while (std::getline(maps, line)) {
    Mapping found{};
    if (!parse(line, &found)) return false;
    told = true;
    if (found.range.high <= low) continue;
    if (found.range.low >= high || !f(found)) break;
  }
  return told;
}

std::string rights_text(const Mapping &found) {
  std::string text = found.readable   ? "read-only"
                     : found.writable ? "write-only"
                                      : "closed to every access";
  return found.file.empty() ? text : text + " (" + found.file + ")";
}

// "0x7f0000001000 is not mapped"
std::string describe_bad(uintptr_t at) {
  std::string text = " is not mapped";
  const bool told = each_mapping(at, at + 1, [&](const Mapping &found) {
    text = found.readable && found.writable
               ? " has no memory behind it" +
                     (found.file.empty() ? "" : " (" + found.file + " may be shorter)")
               : " is " + rights_text(found);
    return false;
  });
  return hex(at) +
         (told ? text : ", of which /proc/self/maps, which cannot be read here, tells more");
}

Status refuse(const char *routine, Status code, const char *access, const char *name,
              const void *start, size_t size, uintptr_t at) {
  if (at == 0) {
    return fail(code, "%s: %s is no memory of this process that can be %s: %zu bytes at %p.",
                routine, name, access, size, start);
  }
  return fail(code, "%s: %s is no memory of this process that can be %s: %zu bytes at %p; %s.",
              routine, name, access, size, start, describe_bad(at).c_str());
}

AddressRange range_of(const void *start, size_t size) {
  return {address(start), address(start) + std::min(size, UINTPTR_MAX - address(start))};
}

struct Copy {
  void *dst;
  const void *src;
  size_t size;
};

struct Fill {
  void *dst;
  uint32_t word;
  size_t size;
};

// Writes what is there already, in one step, so that no write of another thread is lost.
bool can_be_written(uintptr_t at) {
  const AddressRange ranges[2] = {{at, at + 1}, {at, at + 1}};
  uintptr_t bad = 0;
  return survives([](void *p) { __atomic_fetch_or(static_cast<char *>(p), 0, __ATOMIC_RELAXED); },
                  reinterpret_cast<void *>(at), ranges, &bad);
}

}  // namespace

Status copy_memory(const char *routine, Status code, void *dst, const void *src, size_t size) {
  if (size == 0) return 0;
  dst = faults::unguarded(dst);
  src = faults::unguarded(src);
  const AddressRange ranges[2] = {range_of(dst, size), range_of(src, size)};
  Copy copy{dst, src, size};
  uintptr_t bad = 0;
  const auto work = [](void *data) {
    const Copy &it = *static_cast<const Copy *>(data);
    std::memmove(it.dst, it.src, it.size);
  };
  if (__builtin_expect(survives(work, &copy, ranges, &bad), 1)) return 0;
  // An address that is not told may be of either side.
  const bool writes = bad != 0 ? ranges[0].holds(bad) : !memory_is_mapped(dst, 1);
  return writes ? refuse(routine, code, "written", "dst", dst, size, bad)
                : refuse(routine, code, "read", "src", src, size, bad);
}

Status fill_memory(const char *routine, Status code, void *dst, uint32_t word, size_t size) {
  if (size == 0) return 0;
  dst = faults::unguarded(dst);
  const AddressRange range = range_of(dst, size), ranges[2] = {range, range};
  Fill fill{dst, word, size};
  uintptr_t bad = 0;
  const auto work = [](void *data) {
    const Fill &it = *static_cast<const Fill *>(data);
    const uint32_t byte = it.word & 0xFF;
    if (it.word == byte * 0x01010101u) {
      std::memset(it.dst, static_cast<int>(byte), it.size);
    } else {
      for (size_t at = 0; at < it.size; at += sizeof it.word)
        std::memcpy(static_cast<char *>(it.dst) + at, &it.word,
                    std::min(sizeof it.word, it.size - at));
    }
  };
  if (__builtin_expect(survives(work, &fill, ranges, &bad), 1)) return 0;
  return refuse(routine, code, "written", "devPtr", dst, size, bad);
}

Status check_array(const char *routine, Status code, const void *from, uint64_t count,
                   size_t item) {
  constexpr size_t kSmall = size_t{1} << 20;  // which the copy notices soon enough
  if (count <= kSmall / item) return 0;
  const size_t size = count > SIZE_MAX / item ? SIZE_MAX : count * item;
  if (memory_is_mapped(from, size)) return 0;
  return fail(code, "%s: the array at %p is shorter than its length says: %llu elements.", routine,
              from, static_cast<unsigned long long>(count));
}

std::string trouble_with_memory(void *start, size_t size) {
  const uintptr_t low = address(start);
  if (size > UINTPTR_MAX - low) return hex(low) + " plus the size is beyond the last address";
  const uintptr_t high = low + size;
  uintptr_t sound = low;  // up to here
  std::string trouble;
  const bool told = each_mapping(low, high, [&](const Mapping &found) {
    if (found.range.low > sound) return false;
    if (!found.readable || !found.writable) {
      trouble = hex(std::max(sound, found.range.low)) + " is " + rights_text(found);
      return false;
    }
    sound = found.range.high;
    return sound < high;
  });
  if (!told) {
    if (!memory_is_mapped(start, size)) return "not all of it is mapped";
    for (const uintptr_t at : {low, high - 1}) {
      if (!can_be_written(at)) return hex(at) + " cannot be written";
    }
    return "";
  }
  if (!trouble.empty()) return trouble;
  return sound < high ? hex(sound) + " is not mapped" : "";
}

bool memory_is_mapped(const void *start, size_t size) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t low = address(start) / page * page;
  const size_t room = address(start) - low + size;
  // With MS_ASYNC this does nothing but look for gaps.
  return room >= size && msync(reinterpret_cast<void *>(low), room, MS_ASYNC) == 0;
}

}  // namespace emu
