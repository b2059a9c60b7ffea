// SPDX-License-Identifier: Apache-2.0
// Rows in order by the bits of their elements: a key compares as an unsigned integer and stands
// beside the place it came from, so that equal elements keep their order. NaN of either sign is the
// greatest value, and both zeros are equal.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace emu {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The bits of a key as they compare, from those of a number: floats below zero run backwards.
template <class T>
KeyOf<T> key_of(T value) {
  using Key = KeyOf<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  Key bits;
  std::memcpy(&bits, &value, sizeof bits);
  if constexpr (std::is_floating_point_v<T>) {
    const Key kept = value == 0 ? 0 : bits, flip = (kept & kSign) != 0 ? ~Key{0} : kSign;
    return value != value ? ~Key{0} : kept ^ flip;
  } else {
    return std::is_signed_v<T> ? bits ^ kSign : bits;
  }
}

// The number a key was made from, unless it was NaN or a zero with a sign.
template <class T>
T value_of(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  if constexpr (std::is_floating_point_v<T>) key ^= (key & kSign) != 0 ? kSign : ~Key{0};
  else if constexpr (std::is_signed_v<T>) key ^= kSign;
  T value;
  std::memcpy(&value, &key, sizeof value);
  return value;
}

// A key and a place. The narrow one is a single number, whose lower half is the place.
struct NarrowEntry {
  using Key = uint32_t;
  static constexpr int64_t kMostPlaces = int64_t{1} << 32;
  uint64_t both;
  static NarrowEntry of(uint32_t key, int64_t place) {
    return {uint64_t{key} << 32 | static_cast<uint64_t>(place)};
  }
  uint32_t key() const { return static_cast<uint32_t>(both >> 32); }
  int64_t place() const { return static_cast<int64_t>(both & 0xffffffffu); }
  bool operator<(NarrowEntry other) const { return both < other.both; }
};

struct WideEntry {
  using Key = uint64_t;
  static constexpr int64_t kMostPlaces = std::numeric_limits<int64_t>::max();
  uint64_t number;
  int64_t from;
  static WideEntry of(uint64_t key, int64_t place) { return {key, place}; }
  uint64_t key() const { return number; }
  int64_t place() const { return from; }
  bool operator<(const WideEntry &other) const {
    return number < other.number || (number == other.number && from < other.from);
  }
};

template <class T>
using EntryOf = std::conditional_t<sizeof(T) == 4, NarrowEntry, WideEntry>;

// A key alone, for those who do not ask for places.
template <class T>
struct LoneKey {
  using Key = KeyOf<T>;
  static constexpr int64_t kMostPlaces = std::numeric_limits<int64_t>::max();
  Key number;
  static LoneKey of(Key key, int64_t) { return {key}; }
  Key key() const { return number; }
  bool operator<(LoneKey other) const { return number < other.number; }
};

// Rows of one width, each as entries that are put in order. A row that is alone uses the threads of
// the pool. The entries are in work memory of the thread, which has one of these at a time.
template <class T, class Entry = EntryOf<T>>
class Ordered {
 public:
  // Throws std::length_error for more elements than places have room for.
  explicit Ordered(int64_t width, bool descending = false);
  ~Ordered();
  Ordered(const Ordered &) = delete;
  Ordered &operator=(const Ordered &) = delete;

  // Takes the elements of a row, which have to stay until they are written.
  void take(const T *values);
  // Puts the entries from `first` to before `last` in order and leaves the others around them.
  void order(int64_t first, int64_t last);

  // Whether keys say what the elements are: no NaN is among them, and no zero has a sign.
  bool exact() const { return exact_; }
  T value(int64_t rank) const { return value_of<T>(entries_[rank].key() ^ turn_); }
  int64_t place(int64_t rank) const { return entries_[rank].place(); }
  bool same(int64_t a, int64_t b) const { return entries_[a].key() == entries_[b].key(); }
  bool is_nan(int64_t rank) const {
    return std::is_floating_point_v<T> && (entries_[rank].key() ^ turn_) == ~KeyOf<T>{0};
  }
  // Elements and places of ranks, in order.
  void write(int64_t first, int64_t count, T *values, int64_t *places) const;

 private:
  void order_short();
  void order_all();

  int64_t width_;
  KeyOf<T> turn_;
  const T *source_ = nullptr;
  bool exact_ = true;
  Entry *entries_, *other_;
};

}  // namespace emu
