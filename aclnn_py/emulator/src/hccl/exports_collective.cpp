// SPDX-License-Identifier: Apache-2.0
// The collectives of the C interface: arguments are checked here, data move in stream tasks.
#include <vector>

#include "core/export.h"
#include "core/host_calls.h"
#include "core/program_memory.h"
#include "hccl/arguments.h"
#include "hccl/group.h"
#include "hccl/hccl.h"
#include "hccl/launch.h"

namespace emu::hccl {
namespace {

using Comm = std::shared_ptr<Communicator>;

HcclResult result(Status status) { return static_cast<HcclResult>(status); }

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

// The checks every collective begins with, in the order of the library: pointers, count, then the
// rest.
struct Entry {
  const char *routine;
  Comm comm;
  std::vector<Span> spans;

  Status pointers(HcclComm handle, aclrtStream stream, const void *a, const char *a_name,
                  const void *b, const char *b_name) {
    if (const Status s = check_pointer(routine, "stream", stream)) return s;
    if (const Status s = check_pointer(routine, "comm", handle)) return s;
    if (const Status s = check_pointer(routine, a_name, a)) return s;
    if (b_name) {
      if (const Status s = check_pointer(routine, b_name, b)) return s;
    }
    return usable(routine, handle, &comm);
  }

  Status buffer(const char *name, const void *data, uint64_t bytes) {
    spans.push_back({name, data, bytes});
    return check_buffer(routine, name, data, bytes, comm->device());
  }

  Status launch(aclrtStream stream, Call call, Body body) {
    return hccl::launch(routine, comm, stream, std::move(call), std::move(spans), std::move(body));
  }
};

// Host arrays of R counts and displacements, read at call time.
Status read_blocks(const char *routine, const char *name, const void *counts,
                   const void *displacements, uint32_t size, uint64_t item,
                   std::vector<Block> *blocks, uint64_t *extent) {
  std::vector<uint64_t> count, place;
  if (const Status s =
          read_array(routine, HCCL_E_PARA, static_cast<const uint64_t *>(counts), size, &count))
    return s;
  if (const Status s = read_array(routine, HCCL_E_PARA,
                                  static_cast<const uint64_t *>(displacements), size, &place))
    return s;
  blocks->resize(size);
  *extent = 0;
  for (uint32_t r = 0; r < size; ++r) {
    if (const Status s = check_count(routine, name, count[r])) return s;
    if (place[r] > UINT64_MAX / 64) {
      return refuse(HCCL_E_PARA, "%s: the displacement of block %u is %llu", routine, r,
                    number(place[r]));
    }
    (*blocks)[r] = {count[r] * item, place[r] * item};
    if (count[r] != 0) *extent = std::max(*extent, (place[r] + count[r]) * item);
  }
  return 0;
}

Status all_reduce(void *send, void *recv, uint64_t count, uint32_t dtype, uint32_t op,
                  HcclComm handle, aclrtStream stream) {
  Entry e{"HcclAllReduce", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, send, "sendBuf", recv, "recvBuf")) return s;
  if (const Status s = check_count(e.routine, "count", count)) return s;
  if (const Status s = check_reduction(e.routine, Collective::all_reduce, dtype, op)) return s;
  const ReduceType type = reduce_type(dtype, op);
  if (const Status s = e.buffer("sendBuf", send, count * type.item_bytes)) return s;
  if (const Status s = e.buffer("recvBuf", recv, count * type.item_bytes)) return s;
  return e.launch(stream,
                  describe("HcclAllReduce(count=%llu, dataType=%s, op=%s)", number(count),
                           dtype_text(dtype), reduce_text(op)),
                  [=](Session &session) { return session.all_reduce(send, recv, count, type); });
}

Status reduce(void *send, void *recv, uint64_t count, uint32_t dtype, uint32_t op, uint32_t root,
              HcclComm handle, aclrtStream stream) {
  Entry e{"HcclReduce", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, send, "sendBuf", nullptr, nullptr)) return s;
  if (const Status s = check_count(e.routine, "count", count)) return s;
  if (const Status s = check_reduction(e.routine, Collective::reduce, dtype, op)) return s;
  if (const Status s = check_rank(e.routine, "root", root, e.comm->size())) return s;
  const ReduceType type = reduce_type(dtype, op);
  if (const Status s = e.buffer("sendBuf", send, count * type.item_bytes)) return s;
  if (e.comm->rank() == root) {
    if (const Status s = check_pointer(e.routine, "recvBuf", recv)) return s;
    if (const Status s = e.buffer("recvBuf", recv, count * type.item_bytes)) return s;
  }
  return e.launch(stream,
                  describe("HcclReduce(count=%llu, dataType=%s, op=%s, root=%u)", number(count),
                           dtype_text(dtype), reduce_text(op), root),
                  [=](Session &session) { return session.reduce(send, recv, count, type, root); });
}

Status reduce_scatter(void *send, void *recv, uint64_t count, uint32_t dtype, uint32_t op,
                      HcclComm handle, aclrtStream stream) {
  Entry e{"HcclReduceScatter", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, send, "sendBuf", recv, "recvBuf")) return s;
  if (const Status s = check_count(e.routine, "recvCount", count)) return s;
  if (const Status s = check_reduction(e.routine, Collective::reduce_scatter, dtype, op)) return s;
  const ReduceType type = reduce_type(dtype, op);
  if (const Status s = e.buffer("sendBuf", send, count * type.item_bytes * e.comm->size()))
    return s;
  if (const Status s = e.buffer("recvBuf", recv, count * type.item_bytes)) return s;
  return e.launch(
      stream,
      describe("HcclReduceScatter(recvCount=%llu, dataType=%s, op=%s)", number(count),
               dtype_text(dtype), reduce_text(op)),
      [=](Session &session) { return session.reduce_scatter(send, recv, count, type); });
}

Status reduce_scatter_v(void *send, const void *counts, const void *displs, void *recv,
                        uint64_t recv_count, uint32_t dtype, uint32_t op, HcclComm handle,
                        aclrtStream stream) {
  Entry e{"HcclReduceScatterV", nullptr, {}};
  if (const Status s = e.pointers(handle, stream, counts, "sendCounts", displs, "sendDispls"))
    return s;
  if (const Status s = check_count(e.routine, "recvCount", recv_count)) return s;
  if (const Status s = check_reduction(e.routine, Collective::reduce_scatter_v, dtype, op))
    return s;
  const ReduceType type = reduce_type(dtype, op);
  std::vector<Block> blocks;
  uint64_t extent = 0;
  if (const Status s = read_blocks(e.routine, "sendCounts", counts, displs, e.comm->size(),
                                   type.item_bytes, &blocks, &extent))
    return s;
  if (blocks[e.comm->rank()].bytes != recv_count * type.item_bytes) {
    return refuse(HCCL_E_PARA, "HcclReduceScatterV: recvCount is %llu, but sendCounts[%u] is %llu",
                  number(recv_count), e.comm->rank(),
                  number(blocks[e.comm->rank()].bytes / type.item_bytes));
  }
  if (extent != 0) {
    if (const Status s = check_pointer(e.routine, "sendBuf", send)) return s;
  }
  if (recv_count != 0) {
    if (const Status s = check_pointer(e.routine, "recvBuf", recv)) return s;
  }
  if (send && send == recv)
    return refuse(HCCL_E_PARA, "HcclReduceScatterV: sendBuf and recvBuf must differ");
  if (const Status s = e.buffer("sendBuf", send, extent)) return s;
  if (const Status s = e.buffer("recvBuf", recv, recv_count * type.item_bytes)) return s;
  return e.launch(
      stream,
      describe("HcclReduceScatterV(dataType=%s, op=%s)", dtype_text(dtype), reduce_text(op)),
      [=](Session &session) { return session.reduce_scatter_v(send, recv, blocks, type); });
}

Status all_gather(void *send, void *recv, uint64_t count, uint32_t dtype, HcclComm handle,
                  aclrtStream stream) {
  Entry e{"HcclAllGather", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, send, "sendBuf", recv, "recvBuf")) return s;
  if (const Status s = check_count(e.routine, "sendCount", count)) return s;
  if (const Status s = check_supported(e.routine, Collective::all_gather, dtype)) return s;
  const uint64_t bytes = count * item_bytes(dtype);
  if (const Status s = e.buffer("sendBuf", send, bytes)) return s;
  if (const Status s = e.buffer("recvBuf", recv, bytes * e.comm->size())) return s;
  return e.launch(
      stream,
      describe("HcclAllGather(sendCount=%llu, dataType=%s)", number(count), dtype_text(dtype)),
      [=](Session &session) { return session.all_gather(send, recv, bytes); });
}

Status all_gather_v(void *send, uint64_t send_count, void *recv, const void *counts,
                    const void *displs, uint32_t dtype, HcclComm handle, aclrtStream stream) {
  Entry e{"HcclAllGatherV", nullptr, {}};
  if (const Status s = e.pointers(handle, stream, counts, "recvCounts", displs, "recvDispls"))
    return s;
  if (const Status s = check_count(e.routine, "sendCount", send_count)) return s;
  if (const Status s = check_supported(e.routine, Collective::all_gather_v, dtype)) return s;
  const uint64_t item = item_bytes(dtype);
  std::vector<Block> blocks;
  uint64_t extent = 0;
  if (const Status s = read_blocks(e.routine, "recvCounts", counts, displs, e.comm->size(), item,
                                   &blocks, &extent))
    return s;
  if (blocks[e.comm->rank()].bytes != send_count * item) {
    return refuse(HCCL_E_PARA, "HcclAllGatherV: sendCount is %llu, but recvCounts[%u] is %llu",
                  number(send_count), e.comm->rank(), number(blocks[e.comm->rank()].bytes / item));
  }
  if (send_count != 0) {
    if (const Status s = check_pointer(e.routine, "sendBuf", send)) return s;
  }
  if (extent != 0) {
    if (const Status s = check_pointer(e.routine, "recvBuf", recv)) return s;
  }
  if (send && send == recv)
    return refuse(HCCL_E_PARA, "HcclAllGatherV: sendBuf and recvBuf must differ");
  if (const Status s = e.buffer("sendBuf", send, send_count * item)) return s;
  if (const Status s = e.buffer("recvBuf", recv, extent)) return s;
  return e.launch(stream, describe("HcclAllGatherV(dataType=%s)", dtype_text(dtype)),
                  [=](Session &session) { return session.all_gather_v(send, recv, blocks); });
}

Status broadcast(void *data, uint64_t count, uint32_t dtype, uint32_t root, HcclComm handle,
                 aclrtStream stream) {
  Entry e{"HcclBroadcast", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, data, "buf", nullptr, nullptr)) return s;
  if (const Status s = check_count(e.routine, "count", count)) return s;
  if (const Status s = check_supported(e.routine, Collective::broadcast, dtype)) return s;
  if (const Status s = check_rank(e.routine, "root", root, e.comm->size())) return s;
  const uint64_t bytes = count * item_bytes(dtype);
  if (const Status s = e.buffer("buf", data, bytes)) return s;
  return e.launch(stream,
                  describe("HcclBroadcast(count=%llu, dataType=%s, root=%u)", number(count),
                           dtype_text(dtype), root),
                  [=](Session &session) { return session.broadcast(data, bytes, root); });
}

Status scatter(void *send, void *recv, uint64_t count, uint32_t dtype, uint32_t root,
               HcclComm handle, aclrtStream stream) {
  Entry e{"HcclScatter", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, recv, "recvBuf", nullptr, nullptr)) return s;
  if (const Status s = check_count(e.routine, "recvCount", count)) return s;
  if (const Status s = check_supported(e.routine, Collective::scatter, dtype)) return s;
  if (const Status s = check_rank(e.routine, "root", root, e.comm->size())) return s;
  const uint64_t bytes = count * item_bytes(dtype);
  if (e.comm->rank() == root) {
    if (const Status s = check_pointer(e.routine, "sendBuf", send)) return s;
    if (const Status s = e.buffer("sendBuf", send, bytes * e.comm->size())) return s;
  }
  if (const Status s = e.buffer("recvBuf", recv, bytes)) return s;
  return e.launch(stream,
                  describe("HcclScatter(recvCount=%llu, dataType=%s, root=%u)", number(count),
                           dtype_text(dtype), root),
                  [=](Session &session) { return session.scatter(send, recv, bytes, root); });
}

Status barrier(HcclComm handle, aclrtStream stream) {
  Entry e{"HcclBarrier", nullptr, {}};
  if (const Status s = e.pointers(handle, stream, handle, "comm", nullptr, nullptr)) return s;
  if (const Status s = check_supported(e.routine, Collective::barrier, 0)) return s;
  return e.launch(stream, describe("HcclBarrier()"),
                  [](Session &session) { return session.barrier(); });
}

// What the three forms of all-to-all have in common once the blocks are known.
Status all_to_all(Entry &e, const void *send, std::vector<Block> to, uint64_t send_extent,
                  const void *recv, std::vector<Block> from, uint64_t recv_extent,
                  aclrtStream stream, Call call) {
  if (send_extent != 0) {
    if (const Status s = check_pointer(e.routine, "sendBuf", send)) return s;
  }
  if (recv_extent != 0) {
    if (const Status s = check_pointer(e.routine, "recvBuf", recv)) return s;
  }
  if (send && send == recv)
    return refuse(HCCL_E_PARA, "%s: sendBuf and recvBuf must differ", e.routine);
  if (const Status s = e.buffer("sendBuf", send, send_extent)) return s;
  if (const Status s = e.buffer("recvBuf", recv, recv_extent)) return s;
  void *target = const_cast<void *>(recv);
  return e.launch(stream, std::move(call),
                  [=](Session &session) { return session.all_to_all_v(send, to, target, from); });
}

Status same_type(const char *routine, uint32_t send_type, uint32_t recv_type) {
  if (send_type == recv_type) return 0;
  return refuse(HCCL_E_PARA, "%s: sendType is %s, but recvType is %s", routine,
                dtype_text(send_type), dtype_text(recv_type));
}

Status all_to_all_even(const void *send, uint64_t send_count, uint32_t send_type, const void *recv,
                       uint64_t recv_count, uint32_t recv_type, HcclComm handle,
                       aclrtStream stream) {
  Entry e{"HcclAlltoAll", nullptr, {}};
  if (send_count == 0 && recv_count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, send, "sendBuf", recv, "recvBuf")) return s;
  if (const Status s = check_count(e.routine, "sendCount", send_count)) return s;
  if (const Status s = check_supported(e.routine, Collective::all_to_all, send_type)) return s;
  if (const Status s = same_type(e.routine, send_type, recv_type)) return s;
  if (send_count != recv_count) {
    return refuse(HCCL_E_PARA, "HcclAlltoAll: sendCount is %llu, but recvCount is %llu",
                  number(send_count), number(recv_count));
  }
  const uint64_t bytes = send_count * item_bytes(send_type);
  std::vector<Block> blocks(e.comm->size());
  for (uint32_t r = 0; r < blocks.size(); ++r) blocks[r] = {bytes, r * bytes};
  return all_to_all(e, send, blocks, bytes * blocks.size(), recv, blocks, bytes * blocks.size(),
                    stream,
                    describe("HcclAlltoAll(sendCount=%llu, sendType=%s)", number(send_count),
                             dtype_text(send_type)));
}

Status all_to_all_v(const void *send, const void *send_counts, const void *send_displs,
                    uint32_t send_type, const void *recv, const void *recv_counts,
                    const void *recv_displs, uint32_t recv_type, HcclComm handle,
                    aclrtStream stream) {
  Entry e{"HcclAlltoAllV", nullptr, {}};
  if (const Status s =
          e.pointers(handle, stream, send_counts, "sendCounts", send_displs, "sdispls"))
    return s;
  if (const Status s = check_pointer(e.routine, "recvCounts", recv_counts)) return s;
  if (const Status s = check_pointer(e.routine, "rdispls", recv_displs)) return s;
  if (const Status s = check_supported(e.routine, Collective::all_to_all, send_type)) return s;
  if (const Status s = same_type(e.routine, send_type, recv_type)) return s;
  std::vector<Block> to, from;
  uint64_t send_extent = 0, recv_extent = 0;
  const uint32_t size = e.comm->size(), item = item_bytes(send_type);
  if (const Status s = read_blocks(e.routine, "sendCounts", send_counts, send_displs, size, item,
                                   &to, &send_extent))
    return s;
  if (const Status s = read_blocks(e.routine, "recvCounts", recv_counts, recv_displs, size, item,
                                   &from, &recv_extent))
    return s;
  return all_to_all(e, send, to, send_extent, recv, from, recv_extent, stream,
                    describe("HcclAlltoAllV(sendType=%s)", dtype_text(send_type)));
}

// One matrix for all ranks: row s, column d is what rank s sends to rank d; blocks lie without
// gaps.
Status all_to_all_vc(const void *send, const void *matrix, uint32_t send_type, const void *recv,
                     uint32_t recv_type, HcclComm handle, aclrtStream stream) {
  Entry e{"HcclAlltoAllVC", nullptr, {}};
  if (const Status s = e.pointers(handle, stream, matrix, "sendCountMatrix", nullptr, nullptr))
    return s;
  if (const Status s = check_supported(e.routine, Collective::all_to_all_vc, send_type)) return s;
  if (const Status s = same_type(e.routine, send_type, recv_type)) return s;
  const auto *count = static_cast<const uint64_t *>(matrix);
  const uint32_t size = e.comm->size(), rank = e.comm->rank();
  const uint64_t item = item_bytes(send_type);
  std::vector<Block> to(size), from(size);
  uint64_t send_extent = 0, recv_extent = 0, hash = 0xcbf29ce484222325ULL;
  for (uint64_t i = 0; i < uint64_t{size} * size; ++i) {
    if (const Status s = check_count(e.routine, "sendCountMatrix", count[i])) return s;
    hash = (hash ^ count[i]) * 0x100000001b3ULL;
  }
  for (uint32_t r = 0; r < size; ++r) {
    to[r] = {count[uint64_t{rank} * size + r] * item, send_extent};
    from[r] = {count[uint64_t{r} * size + rank] * item, recv_extent};
    send_extent += to[r].bytes;
    recv_extent += from[r].bytes;
  }
  return all_to_all(
      e, send, to, send_extent, recv, from, recv_extent, stream,
      describe("HcclAlltoAllVC(sendType=%s, matrix %016llx)", dtype_text(send_type), number(hash)));
}

Status send_or_recv(const char *routine, const char *buffer, const char *peer, bool send,
                    void *data, uint64_t count, uint32_t dtype, uint32_t remote, HcclComm handle,
                    aclrtStream stream) {
  Entry e{routine, nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, data, buffer, nullptr, nullptr)) return s;
  if (const Status s = check_count(routine, "count", count)) return s;
  if (const Status s = check_supported(routine, Collective::send_recv, dtype)) return s;
  if (const Status s = check_rank(routine, peer, remote, e.comm->size())) return s;
  if (remote == e.comm->rank())
    return refuse(HCCL_E_PARA, "%s: %s is this rank itself (%u)", routine, peer, remote);
  if (const Status s = e.buffer(buffer, data, count * item_bytes(dtype))) return s;
  const Transfer transfer{send, data, count, dtype, item_bytes(dtype), remote};
  if (group_open()) return group_transfer(e.comm, stream, transfer, e.spans.back());
  return e.launch(stream,
                  describe("%s(count=%llu, dataType=%s, %s=%u)", routine, number(count),
                           dtype_text(dtype), peer, remote),
                  [=](Session &session) { return session.exchange({transfer}); });
}

Status batch(HcclSendRecvItem *items, uint32_t count, HcclComm handle, aclrtStream stream) {
  Entry e{"HcclBatchSendRecv", nullptr, {}};
  if (count == 0) return 0;
  if (const Status s = e.pointers(handle, stream, items, "sendRecvInfo", nullptr, nullptr))
    return s;
  std::vector<HcclSendRecvItem> given;
  if (const Status s = read_array(e.routine, HCCL_E_PARA, items, count, &given)) return s;
  std::vector<Transfer> transfers;
  for (uint32_t i = 0; i < count; ++i) {
    const HcclSendRecvItem &item = given[i];
    if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
      return refuse(HCCL_E_PARA,
                    "HcclBatchSendRecv: item %u is neither HCCL_SEND nor HCCL_RECV but %d", i,
                    item.sendRecvType);
    }
    if (const Status s = check_supported(e.routine, Collective::send_recv, item.dataType)) return s;
    if (const Status s = check_count(e.routine, "count", item.count)) return s;
    if (const Status s = check_rank(e.routine, "remoteRank", item.remoteRank, e.comm->size()))
      return s;
    if (item.count == 0) continue;
    if (const Status s = check_pointer(e.routine, "buf", item.buf)) return s;
    if (const Status s = e.buffer("buf", item.buf, item.count * item_bytes(item.dataType)))
      return s;
    transfers.push_back({item.sendRecvType == HCCL_SEND, item.buf, item.count,
                         static_cast<uint32_t>(item.dataType), item_bytes(item.dataType),
                         item.remoteRank});
  }
  return e.launch(stream, describe("HcclBatchSendRecv(itemNum=%u)", count),
                  [transfers](Session &session) { return session.exchange(transfers); });
}

}  // namespace
}  // namespace emu::hccl

using namespace emu::hccl;

EMU_EXPORT HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count,
                                    HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                    aclrtStream stream) try {
  EMU_TIMED();
  return result(all_reduce(sendBuf, recvBuf, count, dataType, op, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count,
                                 HcclDataType dataType, HcclReduceOp op, uint32_t root,
                                 HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(reduce(sendBuf, recvBuf, count, dataType, op, root, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                        HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                        aclrtStream stream) try {
  EMU_TIMED();
  return result(reduce_scatter(sendBuf, recvBuf, recvCount, dataType, op, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts,
                                         const void *sendDispls, void *recvBuf, uint64_t recvCount,
                                         HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                         aclrtStream stream) try {
  EMU_TIMED();
  return result(reduce_scatter_v(sendBuf, sendCounts, sendDispls, recvBuf, recvCount, dataType, op,
                                 comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount,
                                    HcclDataType dataType, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(all_gather(sendBuf, recvBuf, sendCount, dataType, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf,
                                     const void *recvCounts, const void *recvDispls,
                                     HcclDataType dataType, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(
      all_gather_v(sendBuf, sendCount, recvBuf, recvCounts, recvDispls, dataType, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                                    HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(broadcast(buf, count, dataType, root, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                  HcclDataType dataType, uint32_t root, HcclComm comm,
                                  aclrtStream stream) try {
  EMU_TIMED();
  return result(scatter(sendBuf, recvBuf, recvCount, dataType, root, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(barrier(comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                                   const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                                   HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(
      all_to_all_even(sendBuf, sendCount, sendType, recvBuf, recvCount, recvType, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts,
                                    const void *sdispls, HcclDataType sendType, const void *recvBuf,
                                    const void *recvCounts, const void *rdispls,
                                    HcclDataType recvType, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(all_to_all_v(sendBuf, sendCounts, sdispls, sendType, recvBuf, recvCounts, rdispls,
                             recvType, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix,
                                     HcclDataType sendType, const void *recvBuf,
                                     HcclDataType recvType, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(all_to_all_vc(sendBuf, sendCountMatrix, sendType, recvBuf, recvType, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType,
                               uint32_t destRank, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(send_or_recv("HcclSend", "sendBuf", "destRank", true, sendBuf, count, dataType,
                             destRank, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType,
                               uint32_t srcRank, HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(send_or_recv("HcclRecv", "recvBuf", "srcRank", false, recvBuf, count, dataType,
                             srcRank, comm, stream));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum,
                                        HcclComm comm, aclrtStream stream) try {
  EMU_TIMED();
  return result(batch(sendRecvInfo, itemNum, comm, stream));
}
EMU_CATCH
