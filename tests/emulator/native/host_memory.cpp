// SPDX-License-Identifier: Apache-2.0
// Host memory that a program may not access, handed to every function that takes an address and a
// length: unmapped, read-only, closed, too short, gone since. Each refuses or ends in a fault of
// its stream.
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>

#include "acl/acl_op.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "expect.h"

namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

void *map(size_t pages, int rights) {
  void *p = mmap(nullptr, pages * kPage, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(p != MAP_FAILED);
  return p;
}

struct Bad {
  const char *name;
  void *start;
  bool readable;
};

void *closed_behind(int rights) {
  char *p = static_cast<char *>(map(2, PROT_READ | PROT_WRITE));
  EXPECT(mprotect(p + kPage, kPage, rights) == 0);
  return p;
}

void *unmapped() {
  void *p = map(2, PROT_READ | PROT_WRITE);
  EXPECT(munmap(p, 2 * kPage) == 0);
  return p;
}

void *beyond_its_file() {
  FILE *file = tmpfile();
  EXPECT(file != nullptr && ftruncate(fileno(file), static_cast<off_t>(kPage)) == 0);
  void *p = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  EXPECT(p != MAP_FAILED);
  fclose(file);
  return p;
}

// Ranges of two pages.
const Bad kBad[] = {
    {"unmapped", unmapped(), false},
    {"closed", map(2, PROT_NONE), false},
    {"read-only", map(2, PROT_READ), true},
    {"closed in its second page", closed_behind(PROT_NONE), false},
    {"read-only in its second page", closed_behind(PROT_READ), true},
    {"beyond its file", beyond_its_file(), false},
    {"an address no memory can have", reinterpret_cast<void *>(0xDEADBEEFDEADBEEF), false},
    {"the last page", reinterpret_cast<void *>(~uintptr_t{0} - kPage), false},
};

void *g_device = nullptr;
aclrtStream g_stream = nullptr;
size_t g_calls = 0;

// The call, or the wait for its stream, says no, with a text that names what cannot be accessed.
void refused(const char *call, const Bad &bad, const std::function<aclError()> &make) {
  aclError status = make();
  if (status == 0) status = aclrtSynchronizeStream(g_stream);
  const char *text = aclGetRecentErrMsg();
  if (status == 0 || text == nullptr) {
    fprintf(stderr, "%s with %s memory answered %d: %s\n", call, bad.name, status,
            text != nullptr ? text : "(no message)");
    exit(1);
  }
  ++g_calls;
}

void destinations(const Bad &bad) {
  const size_t n = 2 * kPage;
  const auto to_host = ACL_MEMCPY_DEVICE_TO_HOST;
  refused("aclrtMemcpy", bad, [&] { return aclrtMemcpy(bad.start, n, g_device, n, to_host); });
  refused("aclrtMemcpyAsync", bad,
          [&] { return aclrtMemcpyAsync(bad.start, n, g_device, n, to_host, g_stream); });
  refused("aclrtMemcpy2d", bad,
          [&] { return aclrtMemcpy2d(bad.start, kPage, g_device, kPage, kPage, 2, to_host); });
  refused("aclrtMemcpy2dAsync", bad, [&] {
    return aclrtMemcpy2dAsync(bad.start, kPage, g_device, kPage, kPage, 2, to_host, g_stream);
  });
  refused("aclrtMemset", bad, [&] { return aclrtMemset(bad.start, n, 1, n); });
  refused("aclrtMemsetD32", bad, [&] { return aclrtMemsetD32(bad.start, n, 0x01020304, n / 4); });
  void *dsts[] = {bad.start}, *srcs[] = {g_device};
  size_t rooms[] = {n}, sizes[] = {n}, starts[] = {0}, index = 7;
  aclrtMemcpyBatchAttr attrs[1] = {};
  refused("aclrtMemcpyBatch", bad,
          [&] { return aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 1, attrs, starts, 1, &index); });
  EXPECT(index == 0);
  refused("aclrtMemcpyBatchAsync", bad, [&] {
    return aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 1, attrs, starts, 1, &index, g_stream);
  });
}

void sources(const Bad &bad) {
  const size_t n = 2 * kPage;
  const auto to_device = ACL_MEMCPY_HOST_TO_DEVICE;
  refused("aclrtMemcpy", bad, [&] { return aclrtMemcpy(g_device, n, bad.start, n, to_device); });
  for (const auto kind : {to_device, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
    refused("aclrtMemcpyAsync", bad,
            [&] { return aclrtMemcpyAsync(g_device, n, bad.start, n, kind, g_stream); });
  }
  refused("aclrtMemcpy2d", bad,
          [&] { return aclrtMemcpy2d(g_device, kPage, bad.start, kPage, kPage, 2, to_device); });
  aclTensorDesc *desc = aclCreateTensorDesc(ACL_INT64, 0, nullptr, ACL_FORMAT_ND);
  refused("aclSetTensorConst", bad, [&] { return aclSetTensorConst(desc, bad.start, n); });
  aclDestroyTensorDesc(desc);
  acltdtQueueAttr *attr = acltdtCreateQueueAttr();
  uint32_t queue = 0;
  EXPECT_OK(acltdtCreateQueue(attr, &queue));
  refused("acltdtEnqueueData", bad,
          [&] { return acltdtEnqueueData(queue, bad.start, n, nullptr, 0, 0, 0); });
  EXPECT_OK(acltdtDestroyQueue(queue));
  EXPECT_OK(acltdtDestroyQueueAttr(attr));
  const int64_t dims[] = {static_cast<int64_t>(n)};
  acltdtDataItem *item =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT8, bad.start, n);
  acltdtDataset *dataset = acltdtCreateDataset();
  acltdtChannelHandle *channel = acltdtCreateChannel(0, "host_memory");
  EXPECT_OK(acltdtAddDataItem(dataset, item));
  refused("acltdtSendTensor", bad, [&] { return acltdtSendTensor(channel, dataset, 0); });
  EXPECT_OK(acltdtDestroyChannel(channel));
  EXPECT_OK(acltdtDestroyDataset(dataset));
  EXPECT_OK(acltdtDestroyDataItem(item));
}

// What a single operator needs to know before it runs is read from host memory.
void operator_inputs(const Bad &bad) {
  const int64_t shape[] = {static_cast<int64_t>(2 * kPage / sizeof(int32_t))};
  aclTensorDesc *host = aclCreateTensorDesc(ACL_INT32, 1, shape, ACL_FORMAT_ND);
  EXPECT_OK(aclSetTensorPlaceMent(host, ACL_MEMTYPE_HOST));
  aclTensorDesc *device = aclCreateTensorDesc(ACL_INT32, 1, shape, ACL_FORMAT_ND);
  aclDataBuffer *from = aclCreateDataBuffer(bad.start, 2 * kPage);
  aclDataBuffer *to = aclCreateDataBuffer(g_device, 2 * kPage);
  const aclTensorDesc *in[] = {host, device}, *out[] = {device};
  const aclDataBuffer *inputs[] = {from, to};
  aclDataBuffer *outputs[] = {to};
  aclopAttr *attr = aclopCreateAttr();
  refused("aclopExecute", bad,
          [&] { return aclopExecute("Add", 2, in, inputs, 1, out, outputs, attr, g_stream); });
  aclopDestroyAttr(attr);
  aclDestroyDataBuffer(from);
  aclDestroyDataBuffer(to);
  aclDestroyTensorDesc(host);
  aclDestroyTensorDesc(device);
}

// Null objects are refusals too.
void arrays(const Bad &bad) {
  const size_t n = 2 * kPage;
  const auto null = [](const void *made) { return made == nullptr ? 1 : 0; };
  refused("aclCreateIntArray", bad,
          [&] { return null(aclCreateIntArray(static_cast<const int64_t *>(bad.start), n / 8)); });
  refused("aclCreateFloatArray", bad,
          [&] { return null(aclCreateFloatArray(static_cast<const float *>(bad.start), n / 4)); });
  refused("aclCreateBoolArray", bad,
          [&] { return null(aclCreateBoolArray(static_cast<const bool *>(bad.start), n)); });
  refused("aclCreateTensorList", bad, [&] {
    return null(aclCreateTensorList(static_cast<const aclTensor *const *>(bad.start), n / 8));
  });
  refused("aclCreateScalarList", bad, [&] {
    return null(aclCreateScalarList(static_cast<const aclScalar *const *>(bad.start), n / 8));
  });
}

void registrations(const Bad &bad) {
  void *seen = nullptr;
  if (strcmp(bad.name, "beyond its file") == 0) return;  // it is mapped; a copy notices
  if (reinterpret_cast<uintptr_t>(bad.start) % kPage == 0) {
    refused("aclrtHostRegister", bad, [&] {
      return aclrtHostRegister(bad.start, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &seen);
    });
  }
  for (const uint32_t flag : {ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED}) {
    refused("aclrtHostRegisterV2", bad,
            [&] { return aclrtHostRegisterV2(bad.start, 2 * kPage, flag); });
  }
  EXPECT_CODE(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(bad.start));
}

// 300 GiB from the start of what is mapped, and more than there are addresses.
void too_long() {
  void *p = map(2, PROT_READ | PROT_WRITE), *seen = nullptr;
  for (const uint64_t size : {uint64_t{300} << 30, uint64_t{1} << 48, ~uint64_t{0}}) {
    EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
                aclrtHostRegister(p, size, ACL_HOST_REGISTER_MAPPED, &seen));
  }
  EXPECT_OK(aclrtHostRegister(p, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &seen));
  EXPECT_OK(aclrtHostUnregister(p));
}

void array_longer_than_its_memory() {
  const void *p = map(2, PROT_READ | PROT_WRITE);
  for (const uint64_t count : {uint64_t{1} << 33, uint64_t{1} << 61, ~uint64_t{0}})
    EXPECT(aclCreateIntArray(static_cast<const int64_t *>(p), count) == nullptr);
}

// Registered memory that the program unmaps: a copy fails on its stream, a kernel is not run.
void gone_since() {
  void *p = map(2, PROT_READ | PROT_WRITE), *seen = nullptr;
  EXPECT_OK(aclrtHostRegister(p, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &seen));
  EXPECT_OK(aclrtMemcpyAsync(p, kPage, g_device, kPage, ACL_MEMCPY_DEVICE_TO_HOST, g_stream));
  EXPECT_OK(aclrtSynchronizeStream(g_stream));
  EXPECT(munmap(p, 2 * kPage) == 0);
  EXPECT_OK(aclrtMemcpyAsync(p, kPage, g_device, kPage, ACL_MEMCPY_DEVICE_TO_HOST, g_stream));
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(g_stream));
  EXPECT_OK(aclrtHostUnregister(p));
}

// Signals that are not meant here reach the handler that the program had before.
sigjmp_buf g_back;
int g_seen = 0;
void handler(int signal) {
  g_seen = signal;
  siglongjmp(g_back, 1);
}

void own_handler() {
  for (int round = 0; round < 2; ++round) {
    g_seen = 0;
    if (sigsetjmp(g_back, 1) == 0) *static_cast<volatile char *>(kBad[1].start) = 1;
    EXPECT(g_seen == SIGSEGV);
    g_seen = 0;
    if (sigsetjmp(g_back, 1) == 0) raise(SIGSEGV);
    EXPECT(g_seen == SIGSEGV);
    EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(kBad[1].start, 1, 1, 1));
  }
}

}  // namespace

int main() {
  struct sigaction action{};
  action.sa_handler = handler;
  EXPECT(sigaction(SIGSEGV, &action, nullptr) == 0);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&g_stream));
  EXPECT_OK(aclrtMalloc(&g_device, 2 * kPage, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(g_device, 2 * kPage, 0, 2 * kPage));
  for (const Bad &bad : kBad) {
    destinations(bad);
    if (!bad.readable) {
      sources(bad);
      operator_inputs(bad);
      arrays(bad);
    }
    registrations(bad);
  }
  too_long();
  array_longer_than_its_memory();
  gone_since();
  own_handler();
  // The text says where, and why.
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(kBad[2].start, 1, 1, 1));
  EXPECT(aclrtMemset(kBad[2].start, 1, 1, 1) != 0);
  const bool told = access("/proc/self/maps", R_OK) == 0;
  EXPECT(strstr(aclGetRecentErrMsg(), told ? "is read-only" : "cannot be read here") != nullptr);
  EXPECT_OK(aclrtFree(g_device));
  EXPECT_OK(aclrtDestroyStream(g_stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  printf("%zu calls refused\n", g_calls);
  return 0;
}
