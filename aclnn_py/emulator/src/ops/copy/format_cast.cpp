// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Tensors cast between a plain format and one of blocks. Both have the same shape; the storage of
// the blocked one says what memory it has.
#include <algorithm>
#include <cstring>
#include <limits>

#include "aclnnop/conversion.h"
#include "core/chip.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/pool.h"
#include "ops/copy/blocked_format.h"
#include "ops/four_bits.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnNpuFormatCast";

bool chip_casts() {
  return chip_is_950() || std::strncmp(soc_name(), "Ascend910B", 10) == 0 ||
         std::strncmp(soc_name(), "Ascend910_93", 12) == 0;
}

// Half bytes, the first of two in the low bits.
void copy_nibble(const char *from, int64_t i, char *to, int64_t j) {
  const int value = code_of_4_bits(from, i);
  const int kept = static_cast<unsigned char>(to[j / 2]) & (j % 2 ? 0x0f : 0xf0);
  to[j / 2] = static_cast<char>(kept | value << (j % 2 * 4));
}

void copy_run(const char *from, int64_t i, int64_t from_step, char *to, int64_t j, int64_t to_step,
              int64_t count, int bits) {
  if (bits < 8) {
    for (int64_t k = 0; k < count; ++k) copy_nibble(from, i + k * from_step, to, j + k * to_step);
    return;
  }
  const int64_t size = bits / 8;
  if (from_step == 1 && to_step == 1) {
    constexpr int64_t block = 32;  // bytes of a line of a block: no call of memcpy
    if (count * size == block) std::memcpy(to + j * size, from + i * size, block);
    else std::memcpy(to + j * size, from + i * size, static_cast<size_t>(count * size));
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    std::memcpy(to + (j + k * to_step) * size, from + (i + k * from_step) * size,
                static_cast<size_t>(size));
  }
}

// Goes along the last axis from its beginning, run by run.
class AxisWalk {
 public:
  explicit AxisWalk(const BlockedAxis &axis)
      : axis_(axis), left_(axis.block ? axis.block : std::numeric_limits<int64_t>::max()) {}
  int64_t at() const { return at_; }
  int64_t run() const { return left_; }
  void go(int64_t count) {
    at_ += count * axis_.step;
    left_ -= count;
    if (left_ > 0) return;
    at_ += axis_.across - axis_.block * axis_.step;
    left_ = axis_.block;
  }

 private:
  const BlockedAxis &axis_;
  int64_t at_ = 0, left_;
};

// Lines that are copied side by side: theirs are neighbours in a block, and one line alone would
// write a few bytes here and there, in places that share a set of the cache.
constexpr int64_t side_by_side = 8;

void copy_places(const char *from, const BlockedPlaces &source, char *to,
                 const BlockedPlaces &target, const int64_t *extent, int bits) {
  const int64_t lines = extent[0] * extent[1] * extent[2] * extent[3], width = extent[4];
  // Lines of half bytes may share a byte.
  const int64_t grain = bits < 8 ? lines : std::max<int64_t>(side_by_side, 8192 / width);
  parallel_for(lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; line += side_by_side) {
      const int64_t count = std::min(side_by_side, end - line);
      int64_t i[side_by_side] = {}, j[side_by_side] = {};
      for (int64_t l = 0; l < count; ++l) {
        int64_t rest = line + l;
        for (int a = kFormatAxes - 2; a >= 0; --a) {
          const int64_t index = rest % extent[a];
          rest /= extent[a];
          i[l] += source.axis[a].at(index);
          j[l] += target.axis[a].at(index);
        }
      }
      AxisWalk x(source.axis[4]), y(target.axis[4]);
      for (int64_t w = 0, run = 0; w < width; w += run) {
        run = std::min({x.run(), y.run(), width - w});
        for (int64_t l = 0; l < count; ++l) {
          copy_run(from, i[l] + x.at(), source.axis[4].step, to, j[l] + y.at(), target.axis[4].step,
                   run, bits);
        }
        x.go(run);
        y.go(run);
      }
    }
  });
}

char *start_of(const aclTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.offset * dtype_bits(tensor.dtype) / 8;
}

// Memory that phase one only knew by the storage the program described.
Status check_memory(const aclTensor &blocked, const char *name, int64_t bytes, int device) {
  int owner = -1;
  if (kernel_may_use(start_of(blocked), static_cast<size_t>(bytes), device, &owner)) return 0;
  return fail(kKernelFault, "%s: the %lld bytes of %s in %s do not fit at %p (%s).", kOp,
              static_cast<long long>(bytes), name, format_name(blocked.format),
              static_cast<void *>(start_of(blocked)), describe_address(start_of(blocked)).c_str());
}

Check check_cast(const aclTensor *source, const aclTensor *target, bool *packs, FormatPair *pair) {
  Check check(kOp);
  check.required("srcTensor", source).required("dstTensor", target);
  check.dtype("srcTensor", source).dtype("dstTensor", target);
  if (!check.ok()) return check;
  check.same_dtype("dstTensor", target->dtype, "srcTensor", source->dtype);
  *packs = is_format_pair(source->format, target->format);
  check.that(*packs || is_format_pair(target->format, source->format),
             "dstTensor has format %s; there is no cast from %s to it", format_name(target->format),
             format_name(source->format));
  check.rank("srcTensor", source, 2, 6);
  if (!check.ok()) return check;
  check.that(source->contiguous(), "srcTensor is not contiguous");
  check.that(target->contiguous(), "dstTensor is not contiguous");
  check.shape("dstTensor", target, layout_of(*source));
  if (!check.ok()) return check;
  const aclTensor *plain = *packs ? source : target, *blocked = *packs ? target : source;
  const char *name = *packs ? "dstTensor" : "srcTensor";
  check.that(pair_formats(plain->format, blocked->format, plain->shape,
                          block_columns(blocked->format, blocked->dtype), pair),
             "srcTensor has shape %s; a tensor of format %s cannot have it",
             shape_text(layout_of(*source)).c_str(),
             format_name(*packs ? plain->format : blocked->format));
  if (!check.ok()) return check;
  const int64_t needed = pair->storage.count(),
                have = blocked->storage_shape.count() - blocked->offset;
  check.that(have >= needed,
             "%s has a storage of %lld elements from its offset on; in %s it takes %lld, as %s. "
             "aclnnNpuFormatCastCalculateSizeAndFormat gives the shape",
             name, static_cast<long long>(have), format_name(blocked->format),
             static_cast<long long>(needed),
             shape_text(pair->storage.data(), static_cast<int>(pair->storage.size())).c_str());
  const int bits = dtype_bits(source->dtype);
  check.that(bits >= 8 || (source->offset % 2 == 0 && target->offset % 2 == 0),
             "srcTensor or dstTensor begins within a byte");
  check.size(name, Checked(needed) * bits);
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NpuFormatCast, (const aclTensor *srcTensor, aclTensor *dstTensor)) {
  using namespace emu;
  bool packs = false;
  FormatPair pair;
  if (srcTensor != nullptr && dstTensor != nullptr && !chip_casts())
    return fail(kRuntimeError, "%s: the chip is %s; it does not cast formats", kOp, soc_name());
  const Check check = check_cast(srcTensor, dstTensor, &packs, &pair);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp, KernelTime::linear);
  const size_t from = plan.input(srcTensor), to = plan.output(dstTensor);
  const int bits = dtype_bits(srcTensor->dtype);
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &source = c.tensor(from), &target = c.tensor(to);
        if (source.numel() == 0) return Status{0};
        const aclTensor &blocked = packs ? target : source;
        // The capture of a kernel is small: the places are found again.
        FormatPair places;
        (void)pair_formats(packs ? source.format : target.format, blocked.format, source.shape,
                           block_columns(blocked.format, blocked.dtype), &places);
        const int64_t plain_bytes = (source.numel() * bits + 7) / 8,
                      bytes = (places.storage.count() * bits + 7) / 8;
        const Status s =
            check_memory(blocked, packs ? "dstTensor" : "srcTensor", bytes, c.device());
        if (s != 0) return s;
        // The result may lie on its source: what is read is copied first then.
        const char *read = start_of(source);
        char *written = start_of(target);
        const int64_t read_bytes = packs ? plain_bytes : bytes,
                      written_bytes = packs ? bytes : plain_bytes;
        std::unique_ptr<char[]> kept;
        if (read < written + written_bytes && written < read + read_bytes) {
          kept.reset(new char[static_cast<size_t>(read_bytes)]);
          std::memcpy(kept.get(), read, static_cast<size_t>(read_bytes));
          read = kept.get();
        }
        // Only blocks that are not full have places without an element.
        if (packs && bytes != plain_bytes) std::memset(written, 0, static_cast<size_t>(bytes));
        copy_places(read, packs ? places.plain : places.blocked, written,
                    packs ? places.blocked : places.plain, places.extent, bits);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
