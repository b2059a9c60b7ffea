// SPDX-License-Identifier: Apache-2.0
// Queries about devices that later releases added: numbers, links, caches, compatible chips.
#include <cstring>

#include "acl/acl_rt.h"
#include "core/chip.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"

using emu::fail;
using emu::Status;

namespace {

// Chips of one instruction set run each other's kernels. The longest prefix that fits decides.
struct Family {
  const char *prefix;
  int instruction_set;
};
constexpr Family kFamilies[] = {{"Ascend910B", 2201}, {"Ascend910_93", 2201}, {"Ascend910", 1001},
                                {"Ascend950", 3510},  {"Ascend310P", 2002},   {"Ascend310B", 3002},
                                {"Ascend310", 1001}};

// The first chips were called Ascend910A and Ascend910B, too; of the second generation all have a
// digit or C there.
bool first_generation(const char *name) { return std::strcmp(name, "Ascend910B") == 0; }

int instruction_set(const char *name) {
  if (first_generation(name)) return 1001;
  for (const Family &family : kFamilies) {
    if (std::strncmp(name, family.prefix, std::strlen(family.prefix)) == 0)
      return family.instruction_set;
  }
  return -1;
}

Status check_device(const char *routine, int64_t id) {
  if (id >= 0 && id < emu::device_count()) return 0;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %lld does not exist; there are %d.",
              routine, static_cast<long long>(id), emu::device_count());
}

}  // namespace

EMU_EXPORT aclError aclrtCheckArchCompatibility(const char *socVersion,
                                                int32_t *canCompatible) try {
  EMU_ENTER();
  if (socVersion == nullptr || canCompatible == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCheckArchCompatibility: %s is null.",
                socVersion == nullptr ? "socVersion" : "canCompatible");
  }
  const int asked = instruction_set(socVersion), own = instruction_set(emu::soc_name());
  if (asked < 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtCheckArchCompatibility: \"%.64s\" is not a chip that the emulator knows.",
                socVersion);
  }
  *canCompatible = asked == own ? 1 : 0;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId,
                                                int32_t *const phyDevId) try {
  EMU_ENTER();
  if (phyDevId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetPhyDevIdByUserDevId: phyDevId is null.");
  if (const Status s = check_device(__func__, userDevId)) return s;
  *phyDevId = emu::physical_device(userDevId);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId,
                                                int32_t *const userDevId) try {
  EMU_ENTER();
  if (userDevId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetUserDevIdByPhyDevId: userDevId is null.");
  const int id = emu::logical_device(phyDevId);
  if (id < 0) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID,
                "aclrtGetUserDevIdByPhyDevId: device %d is not visible here.", phyDevId);
  }
  *userDevId = id;
  return 0;
}
EMU_CATCH

// The devices are those of one server, each linked to each.
EMU_EXPORT aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId,
                                        uint64_t *value) try {
  EMU_ENTER();
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevicesTopo: value is null.");
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (const Status s = check_device(__func__, otherDeviceId)) return s;
  if (deviceId == otherDeviceId) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtGetDevicesTopo: both devices are %u; a link has two ends.", deviceId);
  }
  *value = ACL_RT_DEVS_TOPOLOGY_HCCS;
  return 0;
}
EMU_CATCH

// There is one memory and no cache of the device in front of it.
EMU_EXPORT aclError aclrtDeviceL2CacheFlush(void *rsv) try {
  EMU_ENTER();
  if (rsv != nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceL2CacheFlush: rsv must be null.");
  int id = 0;
  return emu::current_device(__func__, &id);
}
EMU_CATCH
