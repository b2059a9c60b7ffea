// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/sort/order.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/per_thread.h"
#include "core/pool.h"
#include "core/scratch.h"

namespace emu {
namespace {

constexpr int kDigitBits = 9;
constexpr int64_t kDigits = int64_t{1} << kDigitBits;
// Shorter rows are in order sooner by comparing.
constexpr int64_t kComparedRow = 80;
// Up to here one thread counts all digits in one walk, which are smaller then.
constexpr int64_t kShortRow = 16 * 1024;
// Each thread takes one part of a row, and no thread a small one.
constexpr int64_t kSmallestPart = 64 * 1024;

using Counts = std::array<int64_t, kDigits>;

template <class Key>
constexpr int kPasses = (8 * static_cast<int>(sizeof(Key)) + kDigitBits - 1) / kDigitBits;

template <class Entry>
size_t digit_of(const Entry &entry, int pass) {
  return static_cast<size_t>(entry.key() >> (pass * kDigitBits)) & (kDigits - 1);
}

// Parts of a row, the same in every pass.
struct Parts {
  int64_t width, count, length;
  explicit Parts(int64_t elements) : width(elements) {
    count = std::clamp<int64_t>(width / kSmallestPart, 1, parallel_width());
    length = (width + count - 1) / count;
  }
  template <class F>
  void each(F f) const {
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        f(static_cast<size_t>(part), part * length, std::min(width, (part + 1) * length));
    });
  }
};

// From how often each digit is in each part to where its first entry goes: digits in order, and
// parts in order for one digit. False when all entries have one digit.
bool to_starts(std::vector<Counts> &counts, int64_t width) {
  int64_t next = 0;
  for (size_t digit = 0; digit < kDigits; ++digit) {
    const int64_t before = next;
    for (Counts &part : counts) {
      const int64_t here = part[digit];
      part[digit] = next;
      next += here;
    }
    if (next - before == width) return false;
  }
  return true;
}

Scratch &memory() { return PerThread<Scratch, struct EntryMemory>::get(); }

}  // namespace

template <class T, class Entry>
Ordered<T, Entry>::Ordered(int64_t width, bool descending)
    : width_(width), turn_(descending ? ~KeyOf<T>{0} : KeyOf<T>{0}) {
  if (width > Entry::kMostPlaces) throw std::length_error("a row of more than 2^32 elements");
  const auto count = static_cast<size_t>(width);
  entries_ =
      static_cast<Entry *>(memory().take((width > kComparedRow ? 2 : 1) * count * sizeof(Entry)));
  other_ = entries_ + count;
}

template <class T, class Entry>
Ordered<T, Entry>::~Ordered() {
  memory().trim();
}

template <class T, class Entry>
void Ordered<T, Entry>::take(const T *values) {
  source_ = values;
  std::atomic<bool> exact{true};
  Parts(width_).each([&](size_t, int64_t begin, int64_t end) {
    int odd = 0;
    for (int64_t i = begin; i < end; ++i) {
      const KeyOf<T> key = key_of(values[i]);
      if constexpr (std::is_floating_point_v<T>)
        odd |= static_cast<int>(values[i] != values[i]) |
               (static_cast<int>(values[i] == 0) & static_cast<int>(std::signbit(values[i])));
      entries_[i] = Entry::of(key ^ turn_, i);
    }
    if (odd != 0) exact = false;
  });
  exact_ = exact;
}

template <class T, class Entry>
void Ordered<T, Entry>::order(int64_t first, int64_t last) {
  Entry *begin = entries_, *end = begin + width_;
  if (first + 1 == last) std::nth_element(begin, begin + first, end);
  else if (last < width_) std::partial_sort(begin, begin + last, end);
  else if (width_ <= kComparedRow) std::sort(begin, end);
  else if (width_ <= kShortRow) order_short();
  else order_all();
}

// Byte by byte, the lowest first. A byte that all entries share is passed over.
template <class T, class Entry>
void Ordered<T, Entry>::order_short() {
  using Key = typename Entry::Key;
  constexpr size_t kBytes = sizeof(Key), kValues = 256;
  uint32_t counts[kBytes][kValues] = {};
  for (int64_t i = 0; i < width_; ++i) {
    const Key key = entries_[i].key();
    for (size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][key >> (8 * byte) & 0xff];
  }
  for (size_t byte = 0; byte < kBytes; ++byte) {
    uint32_t *next = counts[byte];
    if (next[entries_[0].key() >> (8 * byte) & 0xff] == static_cast<uint32_t>(width_)) continue;
    uint32_t start = 0;
    for (size_t value = 0; value < kValues; ++value) start += std::exchange(next[value], start);
    for (int64_t i = 0; i < width_; ++i)
      other_[next[entries_[i].key() >> (8 * byte) & 0xff]++] = entries_[i];
    std::swap(entries_, other_);
  }
}

// Digit by digit, the lowest first: each pass keeps the order of the passes before it.
template <class T, class Entry>
void Ordered<T, Entry>::order_all() {
  const Parts parts(width_);
  std::vector<Counts> counts(static_cast<size_t>(parts.count));
  for (int pass = 0; pass < kPasses<typename Entry::Key>; ++pass) {
    const Entry *from = entries_;
    Entry *to = other_;
    parts.each([&](size_t part, int64_t begin, int64_t end) {
      Counts &mine = counts[part];
      mine.fill(0);
      for (int64_t i = begin; i < end; ++i) ++mine[digit_of(from[i], pass)];
    });
    if (!to_starts(counts, width_)) continue;
    parts.each([&](size_t part, int64_t begin, int64_t end) {
      Counts &next = counts[part];
      for (int64_t i = begin; i < end; ++i) to[next[digit_of(from[i], pass)]++] = from[i];
    });
    std::swap(entries_, other_);
  }
}

template <class T, class Entry>
void Ordered<T, Entry>::write(int64_t first, int64_t count, T *values, int64_t *places) const {
  const Entry *entries = entries_ + first;
  for (int64_t i = 0; i < count; ++i) places[i] = entries[i].place();
  if (exact_) {
    for (int64_t i = 0; i < count; ++i) values[i] = value_of<T>(entries[i].key() ^ turn_);
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] = source_[places[i]];
  }
}

template class Ordered<float>;
template class Ordered<double>;
template class Ordered<int32_t>;
template class Ordered<int64_t>;
template class Ordered<uint64_t>;

// All that needs no places.
#define EMU_ORDERED_KEYS(T)                                \
  template Ordered<T, LoneKey<T>>::Ordered(int64_t, bool); \
  template Ordered<T, LoneKey<T>>::~Ordered();             \
  template void Ordered<T, LoneKey<T>>::take(const T *);   \
  template void Ordered<T, LoneKey<T>>::order(int64_t, int64_t);
EMU_ORDERED_KEYS(float)
EMU_ORDERED_KEYS(double)
EMU_ORDERED_KEYS(int32_t)
EMU_ORDERED_KEYS(int64_t)
EMU_ORDERED_KEYS(uint64_t)
#undef EMU_ORDERED_KEYS

}  // namespace emu
