// SPDX-License-Identifier: Apache-2.0
// Copies and fills in all their forms.
#include <cstdint>
#include <numeric>
#include <vector>

#include "gate.h"

namespace {

using Bytes = std::vector<unsigned char>;

unsigned char *take(size_t size) {
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<unsigned char *>(p);
}

Bytes read(const void *p, size_t size) {
  Bytes host(size);
  EXPECT_OK(aclrtMemcpy(host.data(), size, p, size, ACL_MEMCPY_DEVICE_TO_HOST));
  return host;
}

Bytes counting(size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  return bytes;
}

void synchronous() {
  const Bytes source = counting(200);
  Bytes sink(200);
  unsigned char *a = take(200), *b = take(200);
  EXPECT_OK(aclrtMemcpy(a, 200, source.data(), 200, ACL_MEMCPY_DEFAULT));
  EXPECT_OK(aclrtMemcpy(b, 200, a, 200, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT(read(b, 200) == source);
  EXPECT_OK(aclrtMemcpy(sink.data(), 200, source.data(), 200, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT(sink == source);
  // judged by the addresses
  EXPECT_OK(aclrtMemcpy(b, 200, source.data() + 1, 10, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(read(b, 1)[0] == 2);
  EXPECT_OK(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(a, 10, source.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpy(nullptr, 10, source.data(), 10, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(a, 10, nullptr, 10, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpy(a, 10, source.data(), 10, static_cast<aclrtMemcpyKind>(99)));
  EXPECT_OK(aclrtMemset(a, 200, 0x1FF, 100));
  EXPECT(read(a, 101)[99] == 0xFF && read(a, 101)[100] == source[100]);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(a, 10, 0, 11));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemset(nullptr, 10, 0, 10));
  EXPECT_OK(aclrtMemset(nullptr, 0, 0, 0));
  EXPECT_OK(aclrtFree(a));
  EXPECT_OK(aclrtFree(b));
}

void not_ordered_after_streams() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  unsigned char *p = take(64);
  EXPECT_OK(aclrtMemset(p, 64, 1, 64));
  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 2, 64, stream));
  EXPECT(read(p, 64)[0] == 1);  // a forgotten synchronize shows
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(read(p, 64)[0] == 2);
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtFree(p));
}

void asynchronous() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  unsigned char *p = take(256), *q = take(256);
  void *pinned = nullptr;
  EXPECT_OK(aclrtMallocHost(&pinned, 256));
  auto *host = static_cast<unsigned char *>(pinned);
  memset(host, 3, 256);
  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclrtMemcpyAsync(p, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  memset(host, 4, 256);  // pinned: read when the stream gets there
  EXPECT_OK(aclrtMemcpyAsync(q, 256, p, 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(read(q, 256) == Bytes(256, 4));

  gate.close(stream);
  Bytes pageable(256, 5);
  EXPECT_OK(
      aclrtMemcpyAsync(p, 256, pageable.data(), 256, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
  pageable.assign(256, 6);  // copied into a buffer at once
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(read(p, 256) == Bytes(256, 5));
  EXPECT_OK(aclrtMemcpyAsync(p, 256, pageable.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  pageable.assign(256, 7);  // pageable: the call lasted until the copy was done
  EXPECT(read(p, 256) == Bytes(256, 6));
  EXPECT_OK(aclrtMemcpyAsync(pageable.data(), 256, p, 256, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT(pageable == Bytes(256, 6));

  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtMemcpyAsync(host, 256, pageable.data(), 256, ACL_MEMCPY_HOST_TO_HOST, stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,  // a host pointer given as a device pointer
              aclrtMemcpyAsync(p, 256, host, 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyAsync(p, 10, host, 11, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(host, 256, 0, 256, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtFreeHost(pinned));
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtFree(q));
}

void with_pitches() {
  const Bytes source = counting(64);
  unsigned char *p = take(128);
  EXPECT_OK(aclrtMemset(p, 128, 0, 128));
  EXPECT_OK(aclrtMemcpy2d(p, 16, source.data(), 8, 6, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  Bytes expected(128);
  for (size_t row = 0; row < 4; ++row) {
    for (size_t i = 0; i < 6; ++i) expected[row * 16 + i] = source[row * 8 + i];
  }
  EXPECT(read(p, 128) == expected);
  Bytes back(64);
  EXPECT_OK(aclrtMemcpy2dAsync(back.data(), 8, p, 16, 6, 4, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  for (size_t row = 0; row < 4; ++row) {
    for (size_t i = 0; i < 8; ++i) EXPECT(back[row * 8 + i] == (i < 6 ? source[row * 8 + i] : 0));
  }
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy2d(p, 4, source.data(), 8, 6, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpy2d(p, 16, p, 16, 6, 4, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_OK(aclrtFree(p));
}

void batches() {
  const Bytes source = counting(64);
  unsigned char *p = take(64), *q = take(64);
  void *dsts[] = {p, q}, *srcs[] = {const_cast<unsigned char *>(source.data()),
                                    const_cast<unsigned char *>(source.data()) + 8};
  size_t rooms[] = {64, 64}, sizes[] = {16, 24}, starts[] = {0}, failed = 0;
  aclrtMemcpyBatchAttr attribute = {};
  EXPECT_OK(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &attribute, starts, 1, &failed));
  EXPECT(failed == SIZE_MAX);
  EXPECT(read(p, 16) == Bytes(source.begin(), source.begin() + 16));
  EXPECT(read(q, 24) == Bytes(source.begin() + 8, source.begin() + 32));
  sizes[1] = 65;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &attribute, starts, 1, &failed));
  EXPECT(failed == 1);
  sizes[1] = 8;
  srcs[1] = p;  // device to device
  EXPECT_CODE(
      ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
      aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 2, &attribute, starts, 1, &failed, nullptr));
  EXPECT(failed == 1);
  starts[0] = 1;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &attribute, starts, 1, &failed));
  EXPECT(failed == SIZE_MAX);
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtFree(q));
}

void words_and_descriptors() {
  unsigned char *p = take(64), *q = take(64), *d = take(64);
  EXPECT_OK(aclrtMemset(p, 64, 0, 64));
  EXPECT_OK(aclrtMemsetD32(p, 64, 0x01020304u, 3));
  uint32_t words[4];
  EXPECT_OK(aclrtMemcpy(words, 16, p, 16, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(words[0] == 0x01020304u && words[2] == 0x01020304u && words[3] == 0);
  EXPECT_OK(aclrtMemsetD32Async(p, 64, 7, 16, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(read(p, 64)[60] == 7 && read(p, 64)[61] == 0);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetD32(p, 64, 7, 17));
  EXPECT_CODE(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtMemsetD32(p + 1, 60, 7, 1));

  size_t size = 0;
  EXPECT_OK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size));
  EXPECT(size > 0 && size <= 64);
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtGetMemcpyDescSize(ACL_MEMCPY_HOST_TO_DEVICE, &size));
  EXPECT_OK(aclrtSetMemcpyDesc(d, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, p, q, 64, nullptr));
  EXPECT_OK(aclrtMemcpyAsyncWithDesc(d, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(read(q, 64) == read(p, 64));
  EXPECT_OK(aclrtMemset(d, 64, 0, 64));
  EXPECT_OK(aclrtMemcpyAsyncWithDesc(d, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtFree(q));
  EXPECT_OK(aclrtFree(d));
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  synchronous();
  not_ordered_after_streams();
  asynchronous();
  with_pitches();
  batches();
  words_and_descriptors();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
