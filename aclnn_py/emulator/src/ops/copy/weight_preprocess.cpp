// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Weights of 4 bits with shared exponents put into blocks for the products of chips of the 950
// series; the exponents and the bias are copied.
#include <cstring>

#include "aclnnop/conversion.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/pool.h"
#include "ops/op.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnWeightQuantPreprocess";
constexpr int64_t kColumns = 32, kGroup = 32, kExponents = 64;

struct PreprocessArguments {
  const aclTensor *weight, *scale, *offset, *bias;
  aclDataType x_dtype, x_scale_dtype;
  int64_t group;
  const aclTensor *weight_out, *scale_out, *offset_out, *bias_out;
};

// (groups, inner, outer); the last two dimensions of the memory are the other way round.
struct WeightSizes {
  int64_t groups = 1, depth = 0, cols = 0;

  int64_t blocks() const { return depth / kColumns; }
  int64_t rows() const { return (cols / kFractalRows + (cols % kFractalRows != 0)) * kFractalRows; }
};

bool turned(const aclTensor &weight, const WeightSizes &s) {
  const size_t rank = weight.rank();
  const Dims &steps = weight.strides;
  return (s.depth == 1 || steps[rank - 2] == 1) && (s.cols == 1 || steps[rank - 1] == s.depth) &&
         (rank == 2 || s.groups == 1 || steps[0] == s.depth * s.cols);
}

void check_weight(Check &check, const PreprocessArguments &a, WeightSizes *s) {
  const size_t rank = a.weight->rank();
  s->groups = rank == 3 ? a.weight->shape[0] : 1;
  s->depth = a.weight->shape[rank - 2], s->cols = a.weight->shape[rank - 1];
  check.that(s->depth > 0 && s->depth % kGroup == 0 && s->cols > 0 && s->groups > 0,
             "weight has shape %s; it must not be empty, and %lld divides the dimension before the "
             "last",
             shape_text(layout_of(*a.weight)).c_str(), static_cast<long long>(kGroup));
  check.that(a.weight->format == ACL_FORMAT_ND, "weight has format %s; allowed: ND",
             format_name(a.weight->format));
  check.that(a.weight_out->format == ACL_FORMAT_FRACTAL_NZ_C0_32,
             "outWeight has format %s; allowed: FRACTAL_NZ_C0_32",
             format_name(a.weight_out->format));
  check.shape("outWeight", a.weight_out, layout_of(*a.weight));
  if (!check.ok()) return;
  check.that(turned(*a.weight, *s), "weight is not a transposed view of dense memory");
  check.that(a.weight->offset % 2 == 0, "weight begins within a byte");
  check.that(turned(*a.weight_out, *s) && a.weight_out->offset == 0,
             "outWeight is not a transposed view from the start of its storage on");
  if (!check.ok()) return;
  Dims storage;
  if (rank == 3) storage.push_back(s->groups);
  for (const int64_t d : {s->blocks(), s->rows() / kFractalRows, kFractalRows, kColumns})
    storage.push_back(d);
  check.that(a.weight_out->storage_shape == storage,
             "outWeight has a storage of shape %s; it "
             "must be %s",
             shape_text(a.weight_out->storage_shape.data(),
                        static_cast<int>(a.weight_out->storage_shape.size()))
                 .c_str(),
             shape_text(storage.data(), static_cast<int>(storage.size())).c_str());
}

void check_scale(Check &check, const PreprocessArguments &a, const WeightSizes &s) {
  const int64_t pairs = s.depth / kExponents + (s.depth % kExponents != 0);
  const bool many = a.weight->rank() == 3;
  const int64_t shape[] = {s.groups, pairs, s.cols, 2};
  const Layout expected = many ? dense_layout(shape, 4) : dense_layout(shape + 1, 3);
  check.shape("weightScale", a.scale, expected).shape("outWeightScale", a.scale_out, expected);
  for (const aclTensor *tensor : {a.scale, a.scale_out}) {
    if (!check.ok()) return;
    const size_t rank = tensor->rank();
    const Dims &steps = tensor->strides;
    const bool fits = (pairs == 1 || steps[rank - 3] == 2) &&
                      (s.cols == 1 || steps[rank - 2] == 2 * pairs) && steps[rank - 1] == 1 &&
                      (!many || s.groups == 1 || steps[0] == 2 * pairs * s.cols);
    check.that(fits, "%s is not a transposed view of dense memory",
               tensor == a.scale ? "weightScale" : "outWeightScale");
  }
}

Check check_preprocess(const PreprocessArguments &a, WeightSizes *s) {
  Check check(kOp);
  check.required("weight", a.weight).required("weightScale", a.scale);
  check.optional("weightOffsetOptional", a.offset).optional("biasOptional", a.bias);
  check.required("outWeight", a.weight_out).required("outWeightScale", a.scale_out);
  check.optional("outWeightOffsetOptional", a.offset_out);
  if (a.bias != nullptr) check.required("outBiasOptional", a.bias_out);
  else check.optional("outBiasOptional", a.bias_out);
  if (!check.ok() || check_chip(check, kRuntimeError) != 0) return check;
  check.dtype_in("weight", a.weight->dtype, dtype_set(ACL_FLOAT4_E2M1));
  check.dtype_in("weightScale", a.scale->dtype, dtype_set(ACL_FLOAT8_E8M0));
  check.that(a.offset == nullptr && a.offset_out == nullptr,
             "weightOffsetOptional or outWeightOffsetOptional is given; both must be null");
  check.same_dtype("outWeight", a.weight_out->dtype, "weight", a.weight->dtype);
  check.same_dtype("outWeightScale", a.scale_out->dtype, "weightScale", a.scale->dtype);
  check.that(a.x_dtype == ACL_FLOAT8_E4M3FN, "xDtype is %s; it must be FLOAT8_E4M3FN",
             dtype_name(a.x_dtype));
  check.that(a.x_scale_dtype == ACL_FLOAT8_E8M0, "xScaleDtype is %s; it must be FLOAT8_E8M0",
             dtype_name(a.x_scale_dtype));
  check.that(a.group == kGroup, "kGroupSize is %lld; it must be 32",
             static_cast<long long>(a.group));
  check.rank("weight", a.weight, 2, 3);
  if (!check.ok()) return check;
  check_weight(check, a, s);
  if (check.ok()) check_scale(check, a, *s);
  if (!check.ok() || a.bias == nullptr) return check;
  check.dtype_in("biasOptional", a.bias->dtype, dt::kHalf);
  check.same_dtype("outBiasOptional", a.bias_out->dtype, "biasOptional", a.bias->dtype);
  check.rank("biasOptional", a.bias, 1, 2);
  if (!check.ok()) return check;
  check.that(a.bias->numel() > 0 && a.bias->contiguous(),
             "biasOptional is empty or not contiguous");
  check.that(a.bias_out->contiguous(), "outBiasOptional is not contiguous");
  check.shape("outBiasOptional", a.bias_out, layout_of(*a.bias));
  return check;
}

char *start_of(const aclTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.offset * dtype_bits(tensor.dtype) / 8;
}

// A piece of 32 values is 16 bytes in both.
Status to_blocks(const aclTensor &from, const aclTensor &to, const WeightSizes &s, int device) {
  constexpr int64_t kPiece = kColumns / 2;
  const int64_t matrix = s.blocks() * s.rows() * kPiece, source = s.cols * s.blocks() * kPiece;
  const auto bytes = static_cast<size_t>(s.groups * matrix);
  char *target = start_of(to);
  int owner = -1;
  if (!kernel_may_use(target, bytes, device, &owner)) {
    return fail(kKernelFault, "%s: the %zu bytes of outWeight do not fit at %p (%s).", kOp, bytes,
                static_cast<void *>(target), describe_address(target).c_str());
  }
  const std::vector<char> kept(start_of(from), start_of(from) + s.groups * source);
  std::memset(target, 0, bytes);
  parallel_for(s.groups * s.cols, 256, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t g = row / s.cols, n = row % s.cols;
      for (int64_t b = 0; b < s.blocks(); ++b) {
        std::memcpy(target + g * matrix + (b * s.rows() + n) * kPiece,
                    kept.data() + g * source + (n * s.blocks() + b) * kPiece, kPiece);
      }
    }
  });
  return 0;
}

void copy_bytes(const aclTensor &from, const aclTensor &to) {
  const int64_t size = dtype_bits(from.dtype) / 8;
  std::memmove(start_of(to), start_of(from), static_cast<size_t>(from.numel() * size));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantPreprocess,
             (const aclTensor *weight, const aclTensor *weightScale,
              const aclTensor *weightOffsetOptional, const aclTensor *biasOptional,
              aclDataType xDtype, aclDataType xScaleDtype, int64_t kGroupSize, aclTensor *outWeight,
              aclTensor *outWeightScale, aclTensor *outWeightOffsetOptional,
              aclTensor *outBiasOptional)) {
  using namespace emu;
  WeightSizes s;
  const Check check = check_preprocess(
      {weight, weightScale, weightOffsetOptional, biasOptional, xDtype, xScaleDtype, kGroupSize,
       outWeight, outWeightScale, outWeightOffsetOptional, outBiasOptional},
      &s);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  PlanBuilder plan(kOp, KernelTime::linear);
  const size_t from = plan.input(weight), scale = plan.input(weightScale);
  plan.unused(weightOffsetOptional);
  const size_t bias = plan.input(biasOptional), to = plan.output(outWeight),
               scale_to = plan.output(outWeightScale);
  plan.unused(outWeightOffsetOptional);
  const bool biased = biasOptional != nullptr;
  const size_t bias_to = biased ? plan.output(outBiasOptional) : plan.unused(outBiasOptional);
  return plan.finish(
      [=](PlanContext &c) {
        if (const Status status = to_blocks(c.tensor(from), c.tensor(to), s, c.device()))
          return status;
        copy_bytes(c.tensor(scale), c.tensor(scale_to));
        if (biased) copy_bytes(c.tensor(bias), c.tensor(bias_to));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
