// SPDX-License-Identifier: Apache-2.0
// Communicators with each of their allocations refused in turn: creation, collectives of a rank
// alone, and a fused operator. With several ranks the failure of one must reach the others, which
// hccl_lost_ranks covers.
#include "scarce.h"

#include "aclnnop/mc2.h"
#include "hccl/hccl.h"

namespace {

aclrtStream g_stream = nullptr;

int wait_for(int code) { return code != 0 ? code : scarce::wait_for(g_stream); }

}  // namespace

int main() {
  (void)scarce::real_pthread_create();
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&g_stream));
  HcclComm comm = nullptr;
  const auto leave = [&] { EXPECT_OK(HcclCommDestroy(comm)); };
  int32_t device = 0;
  scarce::every_allocation(
      "HcclCommInitAll", [&] { return HcclCommInitAll(1, &device, &comm); }, leave);
  HcclRootInfo info;
  scarce::every_allocation(
      "HcclGetRootInfo", [&] { return HcclGetRootInfo(&info); },
      [&] {
        EXPECT_OK(HcclCommInitRootInfo(1, &info, 0, &comm));
        leave();
      });
  scarce::every_allocation(
      "HcclCommInitRootInfo",
      [&] {
        const long left = scarce::g_left.exchange(0);
        EXPECT_OK(HcclGetRootInfo(&info));
        scarce::g_left = left;
        const int code = HcclCommInitRootInfo(1, &info, 0, &comm);
        if (code != 0) {
          // The rendezvous waits for its rank until it comes.
          scarce::g_left = 0;
          HcclComm late = nullptr;
          if (HcclCommInitRootInfo(1, &info, 0, &late) == 0) EXPECT(HcclCommDestroy(late) == 0);
        }
        return code;
      },
      leave);
  void *data = nullptr;
  EXPECT_OK(aclrtMalloc(&data, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  float *values = static_cast<float *>(data);
  // A call that failed may have broken the communicator for good, as a lost rank does: each has its
  // own.
  const auto with_comm = [&](const char *what, auto call) {
    scarce::every_allocation(
        what,
        [&] {
          const long left = scarce::g_left.exchange(0);
          EXPECT_OK(HcclCommInitAll(1, &device, &comm));
          scarce::g_left = left;
          const int code = wait_for(call());
          if (code != 0) EXPECT(HcclCommDestroy(comm) == 0);
          return code;
        },
        leave);
  };
  with_comm("HcclAllReduce", [&] {
    return HcclAllReduce(values, values + 64, 64, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                         g_stream);
  });
  with_comm("HcclAllGather", [&] {
    return HcclAllGather(values, values + 64, 64, HCCL_DATA_TYPE_FP32, comm, g_stream);
  });
  with_comm("HcclBroadcast",
            [&] { return HcclBroadcast(values, 64, HCCL_DATA_TYPE_FP32, 0, comm, g_stream); });
  with_comm("HcclBarrier", [&] { return HcclBarrier(comm, g_stream); });
  uint64_t count = 8, none = 0;
  with_comm("HcclAlltoAllV", [&] {
    return HcclAlltoAllV(values, &count, &none, HCCL_DATA_TYPE_FP32, values + 64, &count, &none,
                         HCCL_DATA_TYPE_FP32, comm, g_stream);
  });
  EXPECT_OK(aclrtFree(data));
  EXPECT_OK(aclrtDestroyStream(g_stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
