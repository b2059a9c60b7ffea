// SPDX-License-Identifier: Apache-2.0
// Every function whose name is an argument, called with nothing but nulls and zeros while each of
// its allocations is refused in turn. It refuses, or does nothing; the process goes on.
#include "scarce.h"

// No function has more parameters; what is not passed would be whatever lies on the stack.
#define NULLS_8 nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr
#define NULLS_96                                                                            \
  NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, NULLS_8, \
      NULLS_8, NULLS_8

namespace {

template <class... Nulls>
void call(void *function, Nulls... nulls) {
  reinterpret_cast<uint64_t (*)(Nulls...)>(function)(nulls...);
}

}  // namespace

int main(int count, char **names) {
  (void)scarce::real_pthread_create();
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  for (int i = 1; i < count; ++i) {
    void *const function = dlsym(RTLD_DEFAULT, names[i]);
    if (function == nullptr) {
      std::fprintf(stderr, "%s is not there\n", names[i]);
      return 1;
    }
    std::printf("%s\n", names[i]);  // the last line names what ended the process
    std::fflush(stdout);
    long n = 0;
    do {
      scarce::arm(n++);
      call(function, NULLS_96);
    } while (scarce::disarm() || n == 1);
    while (aclGetRecentErrMsg() != nullptr) {
    }
    EXPECT_OK(aclrtSetDevice(0));
  }
  std::puts("done");
  return 0;
}
