// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace emu {

template <class Signature, size_t Inline>
class Callable;

// A move-only callable that keeps small targets inside itself: queues of it need no allocation per
// task. It may be called many times (a captured graph replays its tasks).
template <class Result, class... Args, size_t Inline>
class Callable<Result(Args...), Inline> {
 public:
  Callable() noexcept = default;

  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Callable>>>
  Callable(F &&target) {  // NOLINT: implicit on purpose, a lambda is a task
    using Target = std::decay_t<F>;
    if constexpr (sizeof(Target) <= Inline && alignof(Target) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<Target>) {
      ::new (static_cast<void *>(storage_)) Target(std::forward<F>(target));
      ops_ = &inline_ops<Target>;
    } else {
      ::new (static_cast<void *>(storage_)) Target *(new Target(std::forward<F>(target)));
      ops_ = &heap_ops<Target>;
    }
  }

  Callable(Callable &&other) noexcept { take(other); }
  Callable &operator=(Callable &&other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  Callable(const Callable &) = delete;
  Callable &operator=(const Callable &) = delete;
  ~Callable() { reset(); }

  explicit operator bool() const noexcept { return ops_ != nullptr; }
  Result operator()(Args... args) const {
    return ops_->call(const_cast<unsigned char *>(storage_), std::forward<Args>(args)...);
  }
  void reset() noexcept {
    if (ops_ != nullptr) {
      ops_->destroy(storage_);
      ops_ = nullptr;
    }
  }

 private:
  struct Ops {
    Result (*call)(void *, Args...);
    void (*move)(void *to, void *from) noexcept;
    void (*destroy)(void *) noexcept;
  };

  template <class Target>
  static constexpr Ops inline_ops = {
      [](void *at, Args... args) -> Result {
        return (*static_cast<Target *>(at))(std::forward<Args>(args)...);
      },
      [](void *to, void *from) noexcept {
        ::new (to) Target(std::move(*static_cast<Target *>(from)));
        static_cast<Target *>(from)->~Target();
      },
      [](void *at) noexcept { static_cast<Target *>(at)->~Target(); }};

  template <class Target>
  static constexpr Ops heap_ops = {
      [](void *at, Args... args) -> Result {
        return (**static_cast<Target **>(at))(std::forward<Args>(args)...);
      },
      [](void *to, void *from) noexcept { ::new (to) Target *(*static_cast<Target **>(from)); },
      [](void *at) noexcept { delete *static_cast<Target **>(at); }};

  void take(Callable &other) noexcept {
    ops_ = other.ops_;
    if (ops_ != nullptr) {
      ops_->move(storage_, other.storage_);
      other.ops_ = nullptr;
    }
  }

  const Ops *ops_ = nullptr;
  alignas(std::max_align_t) unsigned char storage_[Inline];
};

}  // namespace emu
