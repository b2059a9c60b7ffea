// SPDX-License-Identifier: Apache-2.0
// Device and pinned memory. Runs with 64 MiB per device (ACLNN_PY_EMULATOR_MEMORY=64M), checked or
// not.
#include <dlfcn.h>

#include <cstdint>
#include <random>
#include <vector>

#include "expect.h"

namespace {

constexpr size_t kTotal = size_t{64} << 20;
bool g_checked = false;

void *take(size_t size) {
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(reinterpret_cast<uintptr_t>(p) % 512 == 0);
  return p;
}

size_t free_bytes() {
  size_t free = 0, total = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  EXPECT(total == kTotal && free <= total);
  return free;
}

void wrong_use() {
  void *p = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 32, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  p = take(1000);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(static_cast<char *>(p) + 64));  // inside
  int host = 0;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&host));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(p));
  EXPECT_OK(aclrtFree(p));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(p));
}

void out_of_memory() {
  const size_t before = free_bytes();
  void *p = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMalloc(&p, kTotal + 1, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMalloc(&p, SIZE_MAX - 3, ACL_MEM_MALLOC_HUGE_FIRST));
  std::vector<void *> all;
  for (int i = 0; i < 15; ++i) all.push_back(take(4 << 20));
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&p, 8 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(free_bytes() < (size_t{8} << 20));
  for (void *q : all) EXPECT_OK(aclrtFree(q));
  EXPECT(free_bytes() == before);
  p = take(60 << 20);  // the pieces became one again
  EXPECT_OK(aclrtFree(p));
}

// However memory is asked for, it starts where programs expect it.
void every_form_is_aligned() {
  using Form = aclError (*)(void **, size_t);
  const Form forms[] = {
      [](void **p, size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_NORMAL_ONLY); },
      [](void **p, size_t n) { return aclrtMallocAlign32(p, n, ACL_MEM_MALLOC_HUGE_FIRST); },
      [](void **p, size_t n) { return aclrtMallocCached(p, n, ACL_MEM_MALLOC_HUGE_FIRST); },
      [](void **p, size_t n) {
        return aclrtMallocWithCfg(p, n, ACL_MEM_MALLOC_HUGE_FIRST, nullptr);
      },
  };
  std::vector<void *> all;
  for (int round = 0; round < 50; ++round) {
    for (const Form form : forms) {
      for (const size_t size :
           {size_t{1}, size_t{32}, size_t{33}, size_t{500}, size_t{513}, size_t{4097}}) {
        void *p = nullptr;
        EXPECT_OK(form(&p, size));
        EXPECT(reinterpret_cast<uintptr_t>(p) % 512 == 0);
        all.push_back(p);
      }
    }
    for (size_t i = all.size() / 2; i < all.size(); i += 3)
      std::swap(all[i], all[all.size() - 1 - i / 2]);
    while (all.size() > 40) {
      EXPECT_OK(aclrtFree(all.back()));
      all.pop_back();
    }
  }
  for (void *p : all) EXPECT_OK(aclrtFree(p));
  for (const size_t size : {size_t{1}, size_t{100}, size_t{5000}}) {
    void *p = nullptr;
    EXPECT_OK(aclrtMallocHost(&p, size));
    EXPECT(reinterpret_cast<uintptr_t>(p) % 4096 == 0);
    EXPECT_OK(aclrtFreeHost(p));
  }
}

void random_blocks_do_not_overlap() {
  std::mt19937 random(7);
  struct Piece {
    unsigned char *p;
    size_t size;
    unsigned char mark;
  };
  std::vector<Piece> pieces;
  std::vector<unsigned char> host(1 << 16);
  for (int i = 0; i < 3000; ++i) {
    if (pieces.size() < 200 && random() % 3 != 0) {
      Piece piece{nullptr, 1 + random() % (1 << 16), static_cast<unsigned char>(i)};
      piece.p = static_cast<unsigned char *>(take(piece.size));
      EXPECT_OK(aclrtMemset(piece.p, piece.size, piece.mark, piece.size));
      pieces.push_back(piece);
    } else if (!pieces.empty()) {
      const size_t at = random() % pieces.size();
      const Piece piece = pieces[at];
      EXPECT_OK(
          aclrtMemcpy(host.data(), host.size(), piece.p, piece.size, ACL_MEMCPY_DEVICE_TO_HOST));
      for (size_t k = 0; k < piece.size; ++k) EXPECT(host[k] == piece.mark);
      EXPECT_OK(aclrtFree(piece.p));
      pieces.erase(pieces.begin() + static_cast<long>(at));
    }
  }
  for (const Piece &piece : pieces) EXPECT_OK(aclrtFree(piece.p));
  EXPECT(free_bytes() == kTotal);
}

void bounds() {
  std::vector<char> host(1 << 20);
  auto *p = static_cast<char *>(take(100));  // rounded to 128
  EXPECT_OK(aclrtMemcpy(p, 128, host.data(), 128, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p, 1 << 20, host.data(), 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE));
  if (g_checked) {
    EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
                aclrtMemcpy(p, 129, host.data(), 129, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  EXPECT_OK(aclrtFree(p));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(host.data(), 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
}

void poison_and_guards() {
  if (!g_checked) return;
  unsigned char host[64] = {};
  for (const int stray : {-1, -64, -512, 64, 127, 128}) {
    auto *q = static_cast<unsigned char *>(take(64));
    q[stray] = 1;
    EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtFree(q));
  }
  auto *p = static_cast<unsigned char *>(take(64));
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  for (unsigned char byte : host) EXPECT(byte == 0xFF);  // unset memory shows
  p[64] = 1;                                             // what a wrong kernel would do
  EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtFree(p));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(p));
}

void pinned_and_registered() {
  void *p = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&p, 0));
  EXPECT_OK(aclrtMallocHost(&p, 100));
  memset(p, 1, 100);
  aclrtPtrAttributes attributes;
  EXPECT_OK(aclrtPointerGetAttributes(p, &attributes));
  EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  int local = 0;
  EXPECT_OK(aclrtPointerGetAttributes(&local, &attributes));
  EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  void *d = take(64);
  EXPECT_OK(aclrtPointerGetAttributes(d, &attributes));
  EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 0);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(static_cast<char *>(p) + 1));
  EXPECT_OK(aclrtFreeHost(p));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(p));

  // Pinned memory may be registered, all of it or a part; it goes when the memory does.
  void *again = nullptr;
  EXPECT_OK(aclrtMallocHost(&p, 3 * 4096));
  auto *bytes = static_cast<char *>(p);
  EXPECT_OK(aclrtHostRegister(p, 3 * 4096, ACL_HOST_REGISTER_MAPPED, &again));
  EXPECT(again != nullptr);
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_OK(aclrtHostUnregister(p));
  EXPECT_OK(aclrtPointerGetAttributes(p, &attributes));
  EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_OK(aclrtHostRegisterV2(bytes + 4096, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_OK(aclrtHostGetDevicePointer(bytes + 4096, &again, 0));
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostGetDevicePointer(p, &again, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegisterV2(bytes + 8192, 8192, ACL_HOST_REG_MAPPED));
  EXPECT_OK(aclrtFreeHost(p));
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(bytes + 4096));

  void *pages = nullptr, *mapped = nullptr;
  EXPECT(posix_memalign(&pages, 4096, 8192) == 0);
  EXPECT_CODE(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtHostRegister(static_cast<char *>(pages) + 8, 4096,
                                                             ACL_HOST_REGISTER_MAPPED, &mapped));
  EXPECT_OK(aclrtHostRegister(pages, 8192, ACL_HOST_REGISTER_MAPPED, &mapped));
  EXPECT(mapped != nullptr);
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              aclrtHostRegisterV2(static_cast<char *>(pages) + 4096, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(d, 64, ACL_HOST_REG_MAPPED));
  EXPECT_OK(aclrtHostUnregister(pages));
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(pages));
  std::free(pages);
  EXPECT_OK(aclrtFree(d));
}

}  // namespace

int main() {
  g_checked = std::getenv("ACLNN_PY_CHECK") != nullptr;
  // Guards are damaged here by hand: the memory has to be open, as in a process with Python.
  using Announce = void (*)();
  const auto announce =
      reinterpret_cast<Announce>(dlsym(RTLD_DEFAULT, "aclnn_py_emulator_python_reports"));
  EXPECT(announce != nullptr);
  announce();
  EXPECT_OK(aclrtSetDevice(0));
  wrong_use();
  out_of_memory();
  every_form_is_aligned();
  random_blocks_do_not_overlap();
  bounds();
  poison_and_guards();
  pinned_and_registered();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
