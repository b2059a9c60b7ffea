// SPDX-License-Identifier: Apache-2.0
#include "hccl/create.h"

#include <set>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/device.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/undo.h"
#include "faults/objects.h"
#include "hccl/arguments.h"
#include "hccl/config.h"
#include "hccl/group.h"
#include "hccl/launch.h"
#include "hccl/rank_table.h"
#include "hccl/registry.h"
#include "hccl/rendezvous.h"

namespace emu::hccl {
namespace {

constexpr const char *kRankTableGroup = "hccl_world_group";

std::string text_of(const Meeting &meeting) {
  return meeting.address +
         std::string(reinterpret_cast<const char *>(meeting.secret), kSecretBytes);
}

Status begin(const char *routine, int *device) {
  if (forked()) {
    refuse_forked(routine);
    return HCCL_E_INTERNAL;
  }
  watch_process();
  if (!peek_context()) {
    return refuse(HCCL_E_RUNTIME, "%s: this thread has no device; call aclrtSetDevice first",
                  routine);
  }
  return current_device(routine, device) == 0 ? 0 : HCCL_E_RUNTIME;
}

Status read_settings(const char *routine, const HcclCommConfig *given, bool config_given,
                     Config *config) {
  if (const Status s = read_environment(routine, config)) return s;
  if (!config_given) return 0;
  if (const Status s = check_pointer(routine, "config", given)) return s;
  return read_config(routine, given, config);
}

Status check_size(const char *routine, uint32_t ranks, uint32_t rank) {
  if (ranks == 0 || ranks > kMaxRanks) {
    return refuse(HCCL_E_PARA, "%s: the number of ranks is %u; it must be 1 to %u", routine, ranks,
                  kMaxRanks);
  }
  return check_rank(routine, "rank", rank, ranks);
}

struct Request {
  const char *routine;
  Meeting meeting;
  uint32_t ranks, rank;
  int device;
  Config config;
  std::string name;
  bool found;  // whoever comes first holds the meeting
  bool is_sub;
  uint32_t crowd;  // ranks of the communicator it is a part of
};

Status join(const Request &request, HcclComm *comm) {
  NameHold hold;
  if (const Status s = hold.take(request.routine, request.device, request.name)) return s;
  const Attendee attendee{request.ranks, request.rank, request.device,
                          request.config.connect_timeout, request.name};
  std::shared_ptr<Region> region;
  if (const Status s = attend(request.routine, request.meeting, attendee, request.found, &region))
    return s;
  // The others count this rank as one of them now, and are told when it is not.
  Undo joined([&] { region->state(request.rank).left.store(1, std::memory_order_release); });
  auto communicator = std::make_shared<Communicator>(request.name, request.rank, request.device,
                                                     request.config, region, request.crowd);
  communicator->set_secret(text_of(request.meeting));
  if (request.is_sub) communicator->mark_sub();
  const HcclComm made = hold.publish(std::move(communicator));
  if (made != nullptr) {
    joined.keep();
    *comm = made;
  }
  return made ? 0
              : fail_as("EI0007", HCCL_E_MEMORY, "%s: too many communicators in this process",
                        request.routine);
}

Status join_now_or_at_group_end(const Request &request, HcclComm *comm) {
  if (!group_open()) return join(request, comm);
  return group_creation(request.device, [request, comm] { return join(request, comm); });
}

}  // namespace

Status get_root_info(HcclRootInfo *info) {
  const char *routine = "HcclGetRootInfo";
  if (const Status s = check_pointer(routine, "rootInfo", info)) return s;
  int device = 0;
  if (const Status s = begin(routine, &device)) return s;
  const Meeting meeting = random_meeting();
  std::string why;
  if (!hold_meeting(meeting, &why)) {
    return fail_as("EI0006", HCCL_E_SYSCALL, "%s: opening the rendezvous: %s", routine,
                   why.empty() ? "its address is taken" : why.c_str());
  }
  write_root_info(meeting, info);
  return 0;
}

Status create_from_root_info(const char *routine, uint32_t ranks, const HcclRootInfo *info,
                             uint32_t rank, const HcclCommConfig *config, bool config_given,
                             HcclComm *comm) {
  if (const Status s = check_pointer(routine, "rootInfo", info)) return s;
  if (const Status s = check_pointer(routine, "comm", comm)) return s;
  Request request{routine, {}, ranks, rank, 0, {}, "", false, false, ranks};
  if (const Status s = begin(routine, &request.device)) return s;
  if (const Status s = check_size(routine, ranks, rank)) return s;
  if (const Status s = read_settings(routine, config, config_given, &request.config)) return s;
  if (const Status s = read_root_info(routine, info, &request.meeting)) return s;
  // the address ends in 32 hexadecimal digits that no other root info has
  const std::string &address = request.meeting.address;
  const size_t digits = address.rfind('/') + 1;
  request.name =
      request.config.name.empty() ? "hccl_" + address.substr(digits) : request.config.name;
  return join_now_or_at_group_end(request, comm);
}

Status create_from_rank_table(const char *routine, const char *path, uint32_t rank,
                              const HcclCommConfig *config, bool config_given, HcclComm *comm) {
  if (const Status s = check_pointer(routine, "clusterInfo", path)) return s;
  if (const Status s = check_pointer(routine, "comm", comm)) return s;
  Request request{routine, {}, 0, rank, 0, {}, "", true, false, 0};
  if (const Status s = begin(routine, &request.device)) return s;
  if (const Status s = read_settings(routine, config, config_given, &request.config)) return s;
  RankTable table;
  if (const Status s = read_rank_table(routine, path, request.config.connect_timeout, &table))
    return s;
  request.ranks = static_cast<uint32_t>(table.ranks.size());
  if (const Status s = check_size(routine, request.ranks, rank)) return s;
  const uint32_t listed = table.ranks[rank].device;
  if (static_cast<int>(listed) != physical_device(request.device)) {
    return fail_as("EI0014", HCCL_E_PARA,
                   "%s: the rank table %s gives device %u to rank %u, but the current device is %d",
                   routine, path, listed, rank, physical_device(request.device));
  }
  request.name = request.config.name.empty() ? kRankTableGroup : request.config.name;
  request.meeting = meeting_of("rank table\n" + request.name + "\n" + table.contents);
  return join_now_or_at_group_end(request, comm);
}

Status create_all(uint32_t count, const int32_t *devices, HcclComm *comms) {
  const char *routine = "HcclCommInitAll";
  if (const Status s = check_pointer(routine, "devices", devices)) return s;
  if (const Status s = check_pointer(routine, "comms", comms)) return s;
  if (forked()) {
    refuse_forked(routine);
    return HCCL_E_INTERNAL;
  }
  watch_process();
  if (count == 0 || count > static_cast<uint32_t>(device_count())) {
    return refuse(HCCL_E_PARA, "%s: ndev is %u, but there are %d devices", routine, count,
                  device_count());
  }
  std::set<int32_t> seen;
  for (uint32_t i = 0; i < count; ++i) {
    if (!valid_device(devices[i]))
      return refuse(HCCL_E_PARA, "%s: devices[%u] is %d; there is no such device", routine, i,
                    devices[i]);
    if (!seen.insert(devices[i]).second)
      return refuse(HCCL_E_PARA, "%s: device %d appears twice in devices", routine, devices[i]);
  }
  Config config;
  if (const Status s = read_environment(routine, &config)) return s;
  const Meeting meeting = random_meeting();
  std::string why;
  if (!hold_meeting(meeting, &why))
    return fail_as("EI0006", HCCL_E_SYSCALL, "%s: opening the rendezvous: %s", routine,
                   why.c_str());
  Undo held([&] { call_off(meeting); });
  const std::string name = "hccl_" + meeting.address.substr(meeting.address.rfind('/') + 1);
  std::vector<HcclComm> made(count, nullptr);
  const Status status = run_on_devices(routine, {devices, devices + count}, [&](size_t i) {
    return join({routine, meeting, count, static_cast<uint32_t>(i), devices[i], config, name, false,
                 false, count},
                &made[i]);
  });
  if (status != 0) {
    for (HcclComm comm : made) withdraw_communicator(comm);
    return status;
  }
  held.keep();
  std::copy(made.begin(), made.end(), comms);
  // Threads of the library made them; the place is that of the program's call.
  for (const HcclComm comm : made) faults::made("communicator", comm);
  return 0;
}

Status create_sub(const HcclComm *parent, uint32_t count, const uint32_t *rank_ids, uint64_t id,
                  uint32_t sub_rank, const HcclCommConfig *config, HcclComm *comm) {
  const char *routine = "HcclCreateSubCommConfig";
  if (const Status s = check_pointer(routine, "comm", parent)) return s;
  if (const Status s = check_pointer(routine, "subComm", comm)) return s;
  std::shared_ptr<Communicator> global;
  if (const Status s = usable(routine, *parent, &global)) return s;
  if (chip() == Chip::p310)
    return refuse(HCCL_E_NOT_SUPPORT, "%s does not exist on %s", routine, chip_text());
  if (!rank_ids && id == 0xffffffff) {  // this rank is no member
    *comm = nullptr;
    return 0;
  }
  if (const Status s = check_pointer(routine, "rankIds", rank_ids)) return s;
  if (global->is_sub()) {
    return refuse(HCCL_E_PARA,
                  "%s: %s is a sub-communicator itself; only a global one can be divided", routine,
                  global->name().c_str());
  }
  if (count == 0 || count > global->size()) {
    return refuse(HCCL_E_PARA, "%s: rankNum is %u, but the communicator has %u ranks", routine,
                  count, global->size());
  }
  if (const Status s = check_rank(routine, "subCommRankId", sub_rank, count)) return s;
  std::vector<uint32_t> ranks;
  if (const Status s = read_array(routine, HCCL_E_PARA, rank_ids, count, &ranks)) return s;
  std::string members;
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < count; ++i) {
    if (const Status s = check_rank(routine, "a member of rankIds", ranks[i], global->size()))
      return s;
    if (!seen.insert(ranks[i]).second)
      return refuse(HCCL_E_PARA, "%s: rank %u appears twice in rankIds", routine, ranks[i]);
    members += std::to_string(ranks[i]) + ",";
  }
  if (ranks[sub_rank] != global->rank()) {
    return refuse(HCCL_E_PARA, "%s: subCommRankId is %u, but rankIds[%u] is %u and this is rank %u",
                  routine, sub_rank, sub_rank, ranks[sub_rank], global->rank());
  }
  Request request{routine, {}, count, sub_rank, global->device(),
                  {},      "", true,  true,     global->crowd()};
  if (const Status s = read_settings(routine, config, config != nullptr, &request.config)) return s;
  request.name = request.config.name;
  if (request.name.empty()) {
    const std::string suffix = "_sub_" + std::to_string(id);
    request.name = global->name().substr(0, COMM_NAME_MAX_LENGTH - 1 - suffix.size()) + suffix;
  }
  request.meeting =
      meeting_of("part\n" + global->secret() + "\n" + std::to_string(id) + "\n" + members);
  return join_now_or_at_group_end(request, comm);
}

}  // namespace emu::hccl
