// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace emu {

// One T per thread, made at the thread's first use and deleted at its end. A thread_local object
// with a destructor ends the process when the host has no memory to register it; this throws
// std::bad_alloc instead.
//
//     PerThread<Scratch>::get().take(n);
//
// `Tag` tells apart two of one type.
template <class T, class Tag = T>
class PerThread {
 public:
  static T &get() {
    if (t_mine == nullptr) t_mine = make();
    return *t_mine;
  }

  // Null instead of an exception.
  static T *try_get() noexcept {
    try {
      return &get();
    } catch (const std::bad_alloc &) {
      return nullptr;
    }
  }

 private:
  static T *make() {
    static const pthread_key_t key = [] {
      pthread_key_t made;
      if (pthread_key_create(&made, [](void *mine) {
            t_mine = nullptr;
            delete static_cast<T *>(mine);
          }) != 0) {
        throw std::bad_alloc();
      }
      return made;
    }();
    auto fresh = std::make_unique<T>();
    if (pthread_setspecific(key, fresh.get()) != 0) throw std::bad_alloc();
    return fresh.release();
  }

  static thread_local T *t_mine;
};

template <class T, class Tag>
thread_local T *PerThread<T, Tag>::t_mine = nullptr;

}  // namespace emu
