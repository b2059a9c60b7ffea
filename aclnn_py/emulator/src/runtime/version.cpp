// SPDX-License-Identifier: Apache-2.0
// Versions, the chip's name and what it can do.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "core/chip.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"

namespace emu {
namespace {

constexpr int64_t kL2CacheBytes = int64_t{192} << 20;

// The release this device behaves like; ACLNN_PY_EMULATOR_CANN changes it.
const char *release() {
  static const char *const text = [] {
    const char *wish = std::getenv("ACLNN_PY_EMULATOR_CANN");
    return wish != nullptr && *wish != '\0' ? strdup(wish) : "8.5.0";
  }();
  return text;
}

int32_t release_number() {
  int major = 0, minor = 0, patch = 0;
  char stage[16] = "";
  int stage_number = 0;
  const char *text = release();
  if (std::sscanf(text, "%d.%d.RC%d", &major, &minor, &stage_number) == 3) {
    return major * 10000000 + minor * 100000 - 100 + stage_number;
  }
  std::sscanf(text, "%d.%d.%d-%15[a-z].%d", &major, &minor, &patch, stage, &stage_number);
  int32_t number = major * 10000000 + minor * 100000 + patch * 1000;
  if (std::strcmp(stage, "alpha") == 0) number += -300 + stage_number;
  if (std::strcmp(stage, "beta") == 0) number += -200 + stage_number;
  if (std::strcmp(stage, "rc") == 0) number += -100 + stage_number;
  return number;
}

// Packages are spelled with either dash: ops_math and ops-math.
bool known_package(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (const char *known : {"runtime", "hccl", "hcomm", "driver", "firmware", "toolkit", "compiler",
                            "opp", "opp_kernel", "cann", "bisheng_compiler", "oam_tools", "opbase",
                            "ops_math", "ops_nn", "ops_cv", "ops_transformer", "ops_legacy"}) {
    if (name == known) return true;
  }
  return false;
}

std::string part(int index) {
  std::string text = release();
  for (int i = 0; i < index; ++i) {
    const size_t dot = text.find('.');
    if (dot == std::string::npos) return "";
    text.erase(0, dot + 1);
  }
  return text.substr(0, text.find('.'));
}

void put(char *out, size_t room, const std::string &text) {
  std::snprintf(out, room, "%s", text.c_str());
}

// Chips before the 910B family have no bfloat16 and saturate instead of producing infinities.
bool recent_chip() {
  const char *name = soc_name();
  return std::strncmp(name, "Ascend910B", 10) == 0 || std::strncmp(name, "Ascend910_93", 12) == 0 ||
         std::strncmp(name, "Ascend95", 8) == 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::inform;

EMU_EXPORT aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                    int32_t *patchVersion) try {
  if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: an output is null.");
  }
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return 0;
}
EMU_CATCH

EMU_EXPORT const char *aclrtGetSocName(void) try { return emu::soc_name(); }
EMU_CATCH

EMU_EXPORT aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                         aclCANNPackageVersion *version) try {
  if (version == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: version is null.");
  if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
    return inform(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: %d names no package.",
                  static_cast<int>(name));
  }
  *version = {};
  emu::put(version->version, sizeof version->version, emu::release());
  emu::put(version->majorVersion, sizeof version->majorVersion, emu::part(0));
  emu::put(version->minorVersion, sizeof version->minorVersion, emu::part(1));
  emu::put(version->releaseVersion, sizeof version->releaseVersion, emu::part(2));
  emu::put(version->patchVersion, sizeof version->patchVersion, emu::part(3));
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclsysGetVersionStr(char *pkgName, char *versionStr) try {
  if (pkgName == nullptr || versionStr == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: %s is null.",
                pkgName == nullptr ? "pkgName" : "versionStr");
  }
  if (!emu::known_package(pkgName)) {
    return inform(ACL_ERROR_INVALID_FILE, "aclsysGetVersionStr: no package is named \"%s\".",
                  pkgName);
  }
  emu::put(versionStr, ACL_PKG_VERSION_MAX_SIZE, emu::release());
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum) try {
  if (pkgName == nullptr || versionNum == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum: %s is null.",
                pkgName == nullptr ? "pkgName" : "versionNum");
  }
  if (!emu::known_package(pkgName)) {
    return inform(ACL_ERROR_INVALID_FILE, "aclsysGetVersionNum: no package is named \"%s\".",
                  pkgName);
  }
  *versionNum = emu::release_number();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) try {
  if (cannAttrList == nullptr || num == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList: an output is null.");
  }
  static const aclCannAttr recent[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                       ACL_CANN_ATTR_JIT_COMPILE};
  static const aclCannAttr early[] = {ACL_CANN_ATTR_JIT_COMPILE};
  *cannAttrList = emu::recent_chip() ? recent : early;
  *num = emu::recent_chip() ? std::size(recent) : std::size(early);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) try {
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: value is null.");
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
    case ACL_CANN_ATTR_BF16: *value = emu::recent_chip() ? 1 : 0; return 0;
    case ACL_CANN_ATTR_JIT_COMPILE: *value = 1; return 0;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: %d is no attribute.",
                  static_cast<int>(cannAttr));
  }
}
EMU_CATCH

EMU_EXPORT aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                           int64_t *value) try {
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: value is null.");
  if (!emu::valid_device(static_cast<int>(deviceId))) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: device %u does not exist.",
                deviceId);
  }
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM: *value = emu::cube_cores(); return 0;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM: *value = emu::vector_cores(); return 0;
    case ACL_DEVICE_INFO_L2_SIZE: *value = emu::kL2CacheBytes; return 0;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: %d is not known.",
                  static_cast<int>(deviceInfo));
  }
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) try {
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: value is null.");
  if (!emu::valid_device(static_cast<int>(deviceId))) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetDeviceInfo: device %u does not exist.",
                deviceId);
  }
  switch (static_cast<int>(attr)) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM: *value = 6; return 0;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = emu::cube_cores(); return 0;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = emu::vector_cores(); return 0;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE: *value = 192 << 10; return 0;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(emu::device_memory_bytes());
      return 0;
    case ACL_DEV_ATTR_L2_CACHE_SIZE: *value = emu::kL2CacheBytes; return 0;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = emu::physical_device(static_cast<int>(deviceId));
      return 0;
    case ACL_DEV_ATTR_IS_VIRTUAL: *value = 0; return 0;
    default:
      return inform(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "aclrtGetDeviceInfo: this device has no attribute %d.", static_cast<int>(attr));
  }
}
EMU_CATCH
