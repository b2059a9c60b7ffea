// SPDX-License-Identifier: Apache-2.0
// The distinct values of a line: in ascending order, the first of equal ones, each NaN for itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op.h"
#include "ops/shared/rows.h"
#include "ops/sort/order.h"

namespace emu {

// Where distinct values and how often they occur go, while there is room.
template <class T>
class DistinctTarget {
 public:
  // Without `counts` they go nowhere.
  DistinctTarget(const View &values, const View *counts)
      : values_(values), values_room_(values.count()) {
    if (counts == nullptr) return;
    counts_.emplace(*counts);
    counts_room_ = counts->count();
  }
  void add(const T *values, const int64_t *counts, int64_t count) {
    values_.write(found_, std::clamp<int64_t>(values_room_ - found_, 0, count), values);
    if (counts_)
      counts_->write(found_, std::clamp<int64_t>(counts_room_ - found_, 0, count), counts);
    found_ += count;
  }
  int64_t found() const { return found_; }

 private:
  RowTarget<T> values_;
  std::optional<RowTarget<int64_t>> counts_;
  int64_t values_room_, counts_room_ = 0, found_ = 0;
};

// Hands over each run of equal elements: value_of_run(its first rank), and each(first, last). NaN
// is unlike everything, itself included. Without a branch, since no processor foresees where
// elements differ.
template <class T, class Entry, class ValueOf, class Each>
void add_runs(const Ordered<T, Entry> &ordered, int64_t total, ValueOf value_of_run, Each each,
              DistinctTarget<T> *target) {
  int64_t starts[kBlock + 1], lengths[kBlock], held = 0;
  T values[kBlock];
  const auto add = [&](int64_t runs) {
    for (int64_t k = 0; k < runs; ++k) {
      values[k] = value_of_run(starts[k]);
      lengths[k] = starts[k + 1] - starts[k];
      each(starts[k], starts[k + 1], target->found() + k);
    }
    target->add(values, lengths, runs);
  };
  for (int64_t begin = 0; begin < total; begin += kBlock - 1) {
    const int64_t end = std::min(begin + kBlock - 1, total);
    for (int64_t i = begin; i < end; ++i) {
      starts[held] = i;
      held += i > 0 && ordered.same(i - 1, i) && !ordered.is_nan(i) ? 0 : 1;
    }
    // The last run goes on, perhaps.
    add(held - 1);
    starts[0] = starts[held - 1];
    held = 1;
  }
  starts[held] = total;
  add(held);
}

// `x` is read for the last time before anything is written.
template <class T>
void find_by_places(const T *line, int64_t total, int64_t *inverse, DistinctTarget<T> *target) {
  const std::vector<T> x(line, line + total);
  Ordered<T> ordered(total);
  ordered.take(x.data());
  ordered.order(0, total);
  add_runs(
      ordered, total, [&](int64_t rank) { return x[static_cast<size_t>(ordered.place(rank))]; },
      [&](int64_t first, int64_t last, int64_t value) {
        if (inverse == nullptr) return;
        for (int64_t i = first; i < last; ++i) inverse[ordered.place(i)] = value;
      },
      target);
}

// False if keys do not say what the elements are.
template <class T>
bool find_by_keys(const T *x, int64_t total, DistinctTarget<T> *target) {
  Ordered<T, LoneKey<T>> ordered(total);
  ordered.take(x);
  if (!ordered.exact()) return false;
  ordered.order(0, total);
  add_runs(
      ordered, total, [&](int64_t rank) { return ordered.value(rank); },
      [](int64_t, int64_t, int64_t) {}, target);
  return true;
}

// Few distinct values among many elements are found in a table, without an order of all elements.
template <class T>
class FewValues {
 public:
  // False if there are too many values, or a NaN.
  bool find(const T *x, int64_t total, int64_t *inverse, DistinctTarget<T> *target) {
    if (inverse != nullptr) slots_.resize(static_cast<size_t>(total));
    for (int64_t i = 0; i < total; ++i) {
      if (x[i] != x[i]) return false;
      const size_t slot = slot_of(x[i]);
      if (slot == kSlots) return false;
      ++table_[slot].count;
      if (inverse != nullptr) slots_[static_cast<size_t>(i)] = static_cast<uint16_t>(slot);
    }
    std::sort(used_.begin(), used_.end(),
              [this](uint16_t a, uint16_t b) { return table_[a].key < table_[b].key; });
    std::vector<int64_t> ranks(kSlots);
    for (const uint16_t slot : used_) {
      ranks[slot] = target->found();
      target->add(&table_[slot].first, &table_[slot].count, 1);
    }
    for (size_t i = 0; i < slots_.size(); ++i) inverse[i] = ranks[slots_[i]];
    return true;
  }

 private:
  static constexpr int kBits = 13;
  static constexpr size_t kSlots = size_t{1} << kBits, kMostValues = kSlots / 4;
  struct Slot {
    KeyOf<T> key;
    T first;
    int64_t count;
  };

  // kSlots if there is no room for a value.
  size_t slot_of(T value) {
    const KeyOf<T> key = key_of(value);
    auto slot = static_cast<size_t>(uint64_t{key} * 0x9e3779b97f4a7c15u >> (64 - kBits));
    for (; table_[slot].count != 0; slot = (slot + 1) % kSlots)
      if (table_[slot].key == key) return slot;
    if (used_.size() == kMostValues) return kSlots;
    used_.push_back(static_cast<uint16_t>(slot));
    table_[slot] = {key, value, 0};
    return slot;
  }

  std::vector<Slot> table_ = std::vector<Slot>(kSlots);
  std::vector<uint16_t> used_, slots_;
};

// Finds the distinct values of a line, and which of them each element is unless `inverse` is null.
template <class T>
void find_distinct(const T *x, int64_t total, int64_t *inverse, DistinctTarget<T> *target) {
  constexpr int64_t kWorthATable = 1 << 14;
  if (total == 0) return;
  if (total >= kWorthATable && FewValues<T>().find(x, total, inverse, target)) return;
  if (inverse == nullptr && find_by_keys(x, total, target)) return;
  find_by_places(x, total, inverse, target);
}

}  // namespace emu
