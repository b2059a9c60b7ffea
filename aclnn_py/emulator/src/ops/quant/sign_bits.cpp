// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Signs of numbers as bits, eight to a byte with the first in the lowest bit: 1 for a number that
// is not negative. A 950 packs the other way round, 1 for a negative number and the first in the
// highest bit, and unpacks like the others.
#include "aclnnop/math.h"
#include "core/chip.h"
#include "ops/block_kernels.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kBits = 8, kBytesAtOnce = kBlock / kBits;

// The bits of a byte in the other order.
constexpr int32_t reversed(int32_t byte) {
  byte = (byte & 0xf0) >> 4 | (byte & 0x0f) << 4;
  byte = (byte & 0xcc) >> 2 | (byte & 0x33) << 2;
  return (byte & 0xaa) >> 1 | (byte & 0x55) << 1;
}

// Bits behind the last number are those of a negative one.
void pack_signs(const View &self, const View &out) {
  const int64_t total = self.count();
  const Reader source(self, ACL_FLOAT);
  const RowTarget<int32_t> target(out);
  parallel_for(out.count(), 32 * kBytesAtOnce, [&](int64_t begin, int64_t end) {
    alignas(64) float scratch[kBlock], padded[kBlock];
    int32_t bytes[kBytesAtOnce];
    for (int64_t first = begin; first < end; first += kBytesAtOnce) {
      const int64_t count = std::min(kBytesAtOnce, end - first);
      const int64_t given = std::min(count * kBits, total - first * kBits);
      const auto *values = static_cast<const float *>(source.read(first * kBits, given, scratch));
      if (given < count * kBits) {
        std::copy(values, values + given, padded);
        std::fill(padded + given, padded + count * kBits, -1.0f);
        values = padded;
      }
      block_kernels().mark_positive(values, count, bytes);
      if (chip_is_950()) {
        for (int64_t b = 0; b < count; ++b) bytes[b] = reversed(~bytes[b] & 0xff);
      }
      target.write(first, count, bytes);
    }
  });
}

// The numbers of each byte.
struct SignTable {
  float of[256][kBits];
  SignTable() {
    for (int byte = 0; byte < 256; ++byte) {
      for (int i = 0; i < kBits; ++i) of[byte][i] = (byte >> i & 1) != 0 ? 1.0f : -1.0f;
    }
  }
};

void unpack_signs(const View &self, const View &out) {
  static const SignTable table;
  const RowSource<int32_t> source(self);
  const RowTarget<float> target(out);
  parallel_for(self.count(), 32 * kBytesAtOnce, [&](int64_t begin, int64_t end) {
    float values[kBlock];
    int32_t bytes[kBytesAtOnce];
    for (int64_t first = begin; first < end; first += kBytesAtOnce) {
      const int64_t count = std::min(kBytesAtOnce, end - first);
      source.read(first, count, bytes);
      for (int64_t b = 0; b < count; ++b)
        std::memcpy(values + b * kBits, table.of[bytes[b]], sizeof(table.of[0]));
      target.write(first * kBits, count * kBits, values);
    }
  });
}

// out is (size, total / size).
Check &check_result(Check &check, int64_t size, int64_t total, const aclTensor *out) {
  const int64_t shape[] = {size, size == 0 ? 0 : total / size};
  return check.shape("out", out, dense_layout(shape, 2));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SignBitsPack, (const aclTensor *self, int64_t size, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnSignBitsPack");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  check.plain_format("self", self).rank("self", self, 1, 1);
  if (!check.ok()) return check.status();
  const int64_t numbers = self->numel(), total = numbers / kBits + (numbers % kBits != 0);
  check.that(size >= 0 && (size == 0 ? total == 0 : total % size == 0),
             "size is %lld; it must divide the %lld bytes of the result",
             static_cast<long long>(size), static_cast<long long>(total));
  if (!check.ok()) return check.status();
  if (!check_result(check, size, total, out).ok()) return check.status();
  return plan_one_to_one(check.op(), self, out, pack_signs, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SignBitsUnpack,
             (const aclTensor *self, int64_t size, aclDataType dtype, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnSignBitsUnpack");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "dtype", dtype).plain_format("self", self);
  check.rank("self", self, 1, 1);
  if (!check.ok()) return check.status();
  const int64_t total = check.size("self", Checked(self->numel()) * kBits);
  if (!check.ok()) return check.status();
  check.that(size > 0 && total % size == 0, "size is %lld; it must divide the %lld numbers",
             static_cast<long long>(size), static_cast<long long>(total));
  if (!check.ok()) return check.status();
  if (!check_result(check, size, total, out).ok()) return check.status();
  return plan_one_to_one(check.op(), self, out, unpack_signs, workspaceSize, executor);
}
EMU_CATCH
