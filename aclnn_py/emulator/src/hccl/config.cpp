// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/config.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "hccl/arguments.h"

namespace emu::hccl {
namespace {

std::atomic<int32_t> g_deterministic{-1};  // -1: not set by the program

// A decimal number of the environment. Unset and empty leave the default.
Status number(const char *routine, const char *name, double lowest, double highest, double *value) {
  const char *text = std::getenv(name);
  if (!text || !*text) return 0;
  char *end = nullptr;
  const double given = std::strtod(text, &end);
  if (*end != 0 || !std::isfinite(given) || given < lowest || given > highest) {
    return fail_as("EI0001", HCCL_E_PARA,
                   "%s: the environment variable %s is \"%s\"; it takes a number from %g to %.10g",
                   routine, name, text, lowest, highest);
  }
  *value = given;
  return 0;
}

// Field positions of HcclCommConfig by the version that added them.
struct Header {
  size_t size;
  uint32_t magic, version;
  uint64_t zero;
};
static_assert(sizeof(Header) == HCCL_COMM_CONFIG_INFO_BYTES);

class Fields {
 public:
  Fields(const HcclCommConfig *given, const Header &header)
      : base_(reinterpret_cast<const char *>(given)),
        size_(header.size),
        version_(header.version) {}

  template <class T>
  bool read(uint32_t since, size_t offset, T *value) const {
    if (version_ < since || size_ < offset + sizeof(T)) return false;
    std::memcpy(value, base_ + offset, sizeof(T));
    return true;
  }

 private:
  const char *base_;
  size_t size_;
  uint32_t version_;
};

Status refuse_field(const char *routine, const char *field, long long value, const char *rule) {
  return fail_as("EI0016", HCCL_E_PARA, "%s: HcclCommConfig.%s is %lld; it must be %s", routine,
                 field, value, rule);
}

}  // namespace

Status read_environment(const char *routine, Config *config) {
  if (const Status s =
          number(routine, "HCCL_CONNECT_TIMEOUT", 0.01, 7200, &config->connect_timeout))
    return s;
  if (const Status s = number(routine, "HCCL_EXEC_TIMEOUT", 0, 2147483647, &config->exec_timeout))
    return s;
  double megabytes = config->buffer_megabytes;
  if (const Status s = number(routine, "HCCL_BUFFSIZE", 1, 2147483647, &megabytes)) return s;
  config->buffer_megabytes = static_cast<uint32_t>(megabytes);
  if (const char *text = std::getenv("HCCL_DETERMINISTIC"); text && *text) {
    const char *const words[] = {"false", "true", "strict"};
    const auto *word =
        std::find_if(words, words + 3, [&](const char *w) { return std::strcmp(w, text) == 0; });
    if (word == words + 3) {
      return fail_as("EI0001", HCCL_E_PARA,
                     "%s: the environment variable HCCL_DETERMINISTIC is \"%s\"; it takes false, "
                     "true or strict",
                     routine, text);
    }
    config->deterministic = static_cast<int32_t>(word - words);
  }
  if (const int32_t set = g_deterministic.load(); set >= 0) config->deterministic = set;
  return 0;
}

Status read_config(const char *routine, const HcclCommConfig *given, Config *config) {
  Header header;
  std::memcpy(&header, given, sizeof header);
  if (header.magic != HCCL_COMM_CONFIG_MAGIC_WORD) {
    return refuse(HCCL_E_PARA,
                  "%s: HcclCommConfig has the magic word 0x%x instead of 0x%x; fill it with "
                  "HcclCommConfigInit",
                  routine, header.magic, HCCL_COMM_CONFIG_MAGIC_WORD);
  }
  if (header.version == 0 || header.size < 32 || header.size > 65536) {
    return refuse(HCCL_E_PARA, "%s: HcclCommConfig of version %u and %zu bytes does not exist",
                  routine, header.version, header.size);
  }
  const Fields fields(given, header);
  uint32_t word = 0;
  int32_t seconds = 0;
  char name[COMM_NAME_MAX_LENGTH];
  if (fields.read(1, 24, &word) && word != HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET) {
    if (word == 0) return refuse_field(routine, "hcclBufferSize", word, "at least 1 (MB)");
    config->buffer_megabytes = word;
  }
  if (fields.read(1, 28, &word) && word != HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET) {
    if (word > 2) return refuse_field(routine, "hcclDeterministic", word, "0, 1 or 2");
    config->deterministic = static_cast<int32_t>(word);
  }
  if (fields.read(2, 32, &name)) {
    if (!std::memchr(name, 0, sizeof name)) {
      return fail_as("EI0016", HCCL_E_PARA,
                     "%s: HcclCommConfig.hcclCommName has no end within %d bytes", routine,
                     COMM_NAME_MAX_LENGTH);
    }
    config->name = name;
  }
  const uint32_t last_mode = chip() == Chip::a5 ? 6 : 4;
  if (fields.read(4, 288, &word) && word != UINT32_MAX) {
    if (word > last_mode)
      return refuse_field(routine, "hcclOpExpansionMode", word,
                          last_mode == 6 ? "0 to 6" : "0 to 4");
    config->expansion_mode = word;
  }
  if (fields.read(5, 292, &word) && word != HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET &&
      (word > 255 || word % 4 != 0)) {
    return refuse_field(routine, "hcclRdmaTrafficClass", word, "a multiple of 4 up to 252");
  }
  if (fields.read(5, 296, &word) && word != HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET && word > 7) {
    return refuse_field(routine, "hcclRdmaServiceLevel", word, "0 to 7");
  }
  if (fields.read(8, 316, &seconds) && seconds != -1) {
    if (seconds < 0) return refuse_field(routine, "hcclExecTimeOut", seconds, "0 or more (s)");
    config->exec_timeout = seconds;
  }
  return 0;
}

Status set_deterministic(int32_t value) {
  if (value < 0 || value > 2) {
    return refuse(HCCL_E_PARA, "HcclSetConfig: HCCL_DETERMINISTIC is %d; it takes 0, 1 or 2",
                  value);
  }
  g_deterministic.store(value);
  return 0;
}

int32_t deterministic() { return std::max<int32_t>(g_deterministic.load(), 0); }

}  // namespace emu::hccl
