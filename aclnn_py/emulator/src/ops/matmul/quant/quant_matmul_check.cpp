// SPDX-License-Identifier: Apache-2.0
// Phase one of the quantised products: nulls are 161001, every other refusal is 161002.
#include <cinttypes>
#include <cstring>

#include "core/chip.h"
#include "ops/matmul/quant/operand.h"
#include "ops/matmul/quant/quant_matmul.h"

namespace emu {
namespace {

constexpr DtypeSet kInt8 = dtype_set(ACL_INT8), kFewBits = dtype_set(ACL_INT4, ACL_INT32);
constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);
constexpr DtypeSet kFloat32 = dtype_set(ACL_FLOAT), kBrain = dtype_set(ACL_BF16);
constexpr DtypeSet kHalf16 = dtype_set(ACL_FLOAT16), kWholes = dtype_set(ACL_INT32);
// Floats of 4 and 8 bits, which only chips of the 950 series have; FLOAT holds eight of 4 bits.
constexpr DtypeSet kUnsupported = dt::kFloat8 | dtype_set(ACL_HIFLOAT8, ACL_FLOAT4_E2M1, ACL_FLOAT);
constexpr int64_t kLargestInner = 65535, kBlock128 = 128, kGroup256 = 256;
constexpr uint8_t kBeforeNz = kQuantMatmulV3 | kQuantMatmulV4 | kQuantMatmulV5;
constexpr uint8_t kWithRows = kQuantMatmulV4 | kQuantMatmulV5 | kQuantMatmulNz;
constexpr uint8_t kOld = kQuantMatmulFirst | kQuantMatmulV2;
constexpr uint8_t kFused = kFusedQuantMatmul | kFusedQuantMatmulNz;
constexpr uint8_t kAll = kBeforeNz | kQuantMatmulNz;

enum Rows : uint8_t { kNone, kMaybe, kNeeded };

// One line of the documents' table of dtypes. A bias or offset may always be absent.
struct Form {
  uint8_t versions;
  DtypeSet x, out, x2_scale;
  Rows x1_scale;
  DtypeSet bias, x2_offset;
};
constexpr Form kForms[] = {
    {kAll, kInt8, kHalf16, kPacked, kNone, kWholes, 0},
    {kAll, kInt8, kInt8, kPacked, kNone, kWholes, kFloat32},
    {kQuantMatmulV3, kInt8, kBrain, kFloat32 | kBrain, kNone, kWholes | kBrain | kFloat32, 0},
    {kWithRows, kInt8, kBrain, kFloat32 | kBrain, kMaybe, kWholes | kBrain | kFloat32, 0},
    {kWithRows, kInt8, kHalf16, kFloat32, kNeeded, kWholes | kHalf16 | kFloat32, 0},
    {kAll, kInt8, kWholes, kFloat32 | kBrain, kNone, kWholes, 0},
    {kBeforeNz, kFewBits, kHalf16, kPacked, kNone, kWholes, 0},
    {kQuantMatmulV4 | kQuantMatmulV5, kFewBits, kBrain, kFloat32 | kBrain, kNeeded,
     kWholes | kBrain | kFloat32, 0},
    {kQuantMatmulV4 | kQuantMatmulV5, kFewBits, kHalf16, kFloat32, kNeeded,
     kWholes | kHalf16 | kFloat32, 0},
    {kOld, kInt8, kHalf16, kPacked, kNone, kWholes, 0},
    {kFused, kInt8 | kFewBits, kBrain, kFloat32 | kBrain, kNeeded, kWholes | kBrain | kFloat32, 0},
    {kFused, kInt8 | kFewBits, kHalf16, kFloat32, kNeeded, kWholes | kHalf16 | kFloat32, 0},
    {kQuantMatmulNz, dtype_set(ACL_INT4), kBrain, kFloat32 | kBrain, kMaybe, kBrain, kFloat32},
    {kQuantMatmulNz, dtype_set(ACL_INT4), kHalf16, kFloat32 | dtype_set(ACL_UINT64), kMaybe,
     kWholes, kFloat32},
};

bool given(const aclTensor *tensor) { return tensor != nullptr && tensor->numel() > 0; }

// The rules of phase one, applied in order; they fill in the problem as they go.
class Rules {
 public:
  explicit Rules(QuantMatmulProblem *problem) : p_(*problem), c_(problem->call), check_(c_.op) {}

  Status run() {
    presence();
    if (ok()) dtypes();
    if (ok()) operands();
    if (ok()) result();
    if (!ok()) return check_.status();
    switch (p_.mode) {
      case QuantMatmulMode::kWhole: whole_scales(); break;
      case QuantMatmulMode::kBlocks: block_scales(); break;
      case QuantMatmulMode::kTokenGroup: group_scales(); break;
    }
    if (ok()) bias();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  const QuantMatmulNames &names() const { return c_.names; }
  bool is(uint8_t versions) const { return (c_.version & versions) != 0; }
  bool in_blocks() const { return is(kQuantMatmulNz | kFusedQuantMatmulNz); }
  bool few_bits() const { return contains(kFewBits, c_.x1->dtype); }

  void presence() {
    check_.required("x1", c_.x1).required("x2", c_.x2);
    if (is(kFused)) check_.required(names().x1_scale, c_.x1_scale);
    if (!is(kQuantMatmulFirst)) check_.required(names().x2_scale, c_.x2_scale);
    check_.required("out", c_.out);
    check_.optional(names().x1_scale, c_.x1_scale).optional(names().y_scale, c_.y_scale);
    check_.optional(names().x1_offset, c_.x1_offset).optional(names().x2_offset, c_.x2_offset);
    check_.optional(names().y_offset, c_.y_offset).optional(names().bias, c_.bias);
    reserved(names().x1_offset, c_.x1_offset, "it is reserved");
    reserved(names().y_scale, c_.y_scale, "it belongs to floats of 8 bits");
    reserved(names().y_offset, c_.y_offset, "it belongs to INT8 beside INT4, which is left open");
    if (is(kFused)) fused_type();
  }

  void fused_type() {
    check_.required_text("fusedOpType", c_.fused_type).optional("x3Optional", c_.fused);
    reserved("x3Optional", c_.fused, "it is reserved");
    reserved(names().x2_offset, c_.x2_offset, "it is reserved");
    if (!ok()) return;
    const bool tanh = std::strcmp(c_.fused_type, "gelu_tanh") == 0;
    check_.that(tanh || std::strcmp(c_.fused_type, "gelu_erf") == 0,
                "fusedOpType is \"%.40s\"; allowed: \"gelu_erf\" and \"gelu_tanh\"", c_.fused_type);
    p_.fused = tanh ? FusedType::kGeluTanh : FusedType::kGeluErf;
  }

  void reserved(const char *name, const aclTensor *tensor, const char *reason) {
    if (!ok()) return;
    check_.that(!given(tensor), "%s is given, but must be null: %s", name, reason);
  }

  void dtypes() {
    check_.dtype("x1", c_.x1, kUnsupported).dtype("x2", c_.x2, kUnsupported);
    check_.dtype(names().x1_scale, c_.x1_scale).dtype(names().x2_scale, c_.x2_scale);
    check_.dtype(names().x2_offset, c_.x2_offset).dtype(names().bias, c_.bias);
    check_.dtype("out", c_.out);
    if (!ok()) return;
    const bool alike = few_bits() ? contains(kFewBits, c_.x2->dtype) : c_.x2->dtype == c_.x1->dtype;
    check_.that(alike, "x2 has dtype %s; beside x1 of %s it is %s", dtype_name(c_.x2->dtype),
                dtype_name(c_.x1->dtype), few_bits() ? "INT4 or INT32" : "INT8");
    if (!ok()) return;
    if (grouped()) return;
    if (c_.version == kQuantMatmulV5 && c_.x1_scale && c_.x1_scale->rank() == 2 &&
        c_.x1->dtype == ACL_INT8) {
      p_.mode = QuantMatmulMode::kBlocks;
      only(names().x2_scale, c_.x2_scale->dtype, kFloat32);
      only(names().x1_scale, c_.x1_scale->dtype, kFloat32);
      if (c_.bias) only(names().bias, c_.bias->dtype, kFloat32);
      only("out", c_.out->dtype, kBrain);
      absent(names().x2_offset, c_.x2_offset);
      return;
    }
    if (!is(kQuantMatmulFirst)) forms();
  }

  bool grouped() {
    if (c_.version != kQuantMatmulV5 || c_.x1->dtype != ACL_INT4 || !c_.x2_offset) return false;
    p_.mode = QuantMatmulMode::kTokenGroup;
    only("x2", c_.x2->dtype, dtype_set(ACL_INT4));
    check_.required(names().x1_scale, c_.x1_scale);
    only(names().x2_scale, c_.x2_scale->dtype, kFloat32);
    only(names().x2_offset, c_.x2_offset->dtype, kHalf16);
    only("out", c_.out->dtype, kBrain | kHalf16);
    absent(names().bias, c_.bias);
    return true;
  }

  void only(const char *name, aclDataType dtype, DtypeSet allowed) {
    check_.dtype_in(name, dtype, allowed);
  }
  void absent(const char *name, const aclTensor *tensor) {
    check_.that(tensor == nullptr, "%s is given; scales of groups take none", name);
  }

  // Follows the table from left to right: the first parameter that no line allows is the wrong one.
  void forms() {
    uint32_t left = 0;
    for (size_t i = 0; i < std::size(kForms); ++i) {
      const bool fits = (kForms[i].versions & c_.version) && contains(kForms[i].x, c_.x1->dtype);
      left |= static_cast<uint32_t>(fits) << i;
    }
    narrow(&left, "out", c_.out->dtype, &Form::out);
    narrow(&left, names().x2_scale, c_.x2_scale->dtype, &Form::x2_scale);
    if (ok()) {
      uint32_t kept = 0;
      for (size_t i = 0; i < std::size(kForms); ++i) {
        const bool fits = c_.x1_scale ? kForms[i].x1_scale != kNone : kForms[i].x1_scale != kNeeded;
        if (fits) kept |= left & uint32_t{1} << i;
      }
      check_.that(kept != 0, "%s is %s; with x1 of %s, %s of %s and out of %s it must %s",
                  names().x1_scale, c_.x1_scale ? "given" : "null", dtype_name(c_.x1->dtype),
                  names().x2_scale, dtype_name(c_.x2_scale->dtype), dtype_name(c_.out->dtype),
                  c_.x1_scale ? "be null" : "be given");
      left = kept;
    }
    if (c_.bias) narrow(&left, names().bias, c_.bias->dtype, &Form::bias);
    if (c_.x2_offset) narrow(&left, names().x2_offset, c_.x2_offset->dtype, &Form::x2_offset);
    check_.that(!c_.x2_offset || !c_.x1_scale,
                "%s is given beside %s; an offset belongs to products without it",
                names().x2_offset, names().x1_scale);
    check_.that(!c_.x2_offset || !c_.bias || c_.bias->dtype == ACL_INT32,
                "%s is given beside %s of %s; an offset takes a bias of INT32 or none",
                names().x2_offset, names().bias, dtype_name(c_.bias ? c_.bias->dtype : ACL_INT32));
    check_.that(c_.group_size == 0, "groupSize is %" PRId64 "; scales without groups take 0",
                c_.group_size);
  }

  void narrow(uint32_t *left, const char *name, aclDataType dtype, DtypeSet Form::*column) {
    if (!ok()) return;
    uint32_t kept = 0;
    DtypeSet allowed = 0;
    for (size_t i = 0; i < std::size(kForms); ++i) {
      if (!(*left & uint32_t{1} << i)) continue;
      allowed |= kForms[i].*column;
      if (contains(kForms[i].*column, dtype)) kept |= uint32_t{1} << i;
    }
    if (allowed == 0) {
      check_.that(false, "%s is given; with x1 of %s and out of %s it must be null", name,
                  dtype_name(c_.x1->dtype), dtype_name(c_.out->dtype));
    }
    check_.that(kept != 0, "%s has dtype %s; with x1 of %s and out of %s allowed: %s", name,
                dtype_name(dtype), dtype_name(c_.x1->dtype), dtype_name(c_.out->dtype),
                dtype_list(allowed).c_str());
    *left = kept;
  }

  void operands() {
    const int most = is(kOld) ? 3 : 6;
    check_.rank("x1", c_.x1, 2, most).rank("x2", c_.x2, 2, most).rank("out", c_.out, 2, most);
    if (!ok()) return;
    check_.that(!is_fractal(*c_.x1), "x1 has the format FRACTAL_NZ; allowed: ND");
    check_.that(!is_fractal(*c_.out), "out has the format FRACTAL_NZ; allowed: ND");
    const bool blocked = is_fractal(*c_.x2);
    if (in_blocks())
      check_.that(blocked, "x2 has the format %s; allowed: FRACTAL_NZ", format_name(c_.x2->format));
    check_.that(!blocked || !is(kOld | kFusedQuantMatmul),
                "x2 has the format FRACTAL_NZ; allowed: ND");
    check_.that(!blocked || c_.version != kQuantMatmulV3 || c_.transpose_x2,
                "transposeX2 is false; with x2 in FRACTAL_NZ it is true");
    check_matrix_layout(check_, "x1", *c_.x1);
    if (!blocked) check_matrix_layout(check_, "x2", *c_.x2);
    if (few_bits()) {
      check_.that(!c_.transpose_x1, "transposeX1 is true; with x1 of %s it is false",
                  dtype_name(c_.x1->dtype));
      check_.that(in_blocks() || !blocked,
                  "x2 has the format FRACTAL_NZ; with a dtype of %s it is ND",
                  dtype_name(c_.x2->dtype));
      check_.rank("x2", c_.x2, 2, 2);
    }
    for (const auto &[name, tensor] : {std::pair{"x1", c_.x1}, {"x2", c_.x2}, {"out", c_.out}}) {
      check_.that(tensor->numel() > 0 || chip_is_950() || is(kOld),
                  "%s has shape %s; it has no element", name,
                  shape_text(layout_of(*tensor)).c_str());
    }
    if (!ok()) return;
    const NumberShape a = number_shape(*c_.x1, packing_of(*c_.x1)),
                      b = number_shape(*c_.x2, packing_of(*c_.x2));
    p_.m = c_.transpose_x1 ? a.cols : a.rows;
    p_.k = c_.transpose_x1 ? a.rows : a.cols;
    p_.n = c_.transpose_x2 ? b.rows : b.cols;
    const int64_t depth = c_.transpose_x2 ? b.cols : b.rows;
    check_.that(
        p_.k == depth,
        "x1 %s and x2 %s cannot be multiplied: the inner sizes are %" PRId64 " and %" PRId64,
        shape_text(layout_of(*c_.x1)).c_str(), shape_text(layout_of(*c_.x2)).c_str(), p_.k, depth);
    const bool hollow = is(kOld) && (!c_.bias || p_.m == 0 || p_.n == 0);
    check_.that(p_.k > 0 || hollow, "x1 has an inner size of 0; at least 1 is needed");
    if (few_bits()) {
      check_.that(a.cols % 2 == 0, "x1 has %" PRId64 " numbers of 4 bits in a row; it must be even",
                  a.cols);
      check_.that(b.cols % 2 == 0, "x2 has %" PRId64 " numbers of 4 bits in a row; it must be even",
                  b.cols);
    }
    const bool wide =
        c_.x1->dtype == ACL_INT8 && c_.x1_scale && contains(kFloat32 | kBrain, c_.x2_scale->dtype);
    if ((wide && !is(kFused)) || chip_is_950() || is(kOld)) return;
    for (const auto &[name, size] : {std::pair{"x1", a.cols}, {"x2", b.cols}})
      check_.that(size <= kLargestInner, "%s has a last dimension of %" PRId64 "; at most %" PRId64,
                  name, size, kLargestInner);
  }

  void result() {
    Layout expected, a = layout_of(*c_.x1), b = layout_of(*c_.x2);
    a.rank -= 2;
    b.rank -= 2;
    bool meets = broadcast_shapes(a, b, &expected);
    if (is(kQuantMatmulFirst)) meets = same_shape(a, b);
    check_.that(meets, "x2 %s does not broadcast with x1 %s before the last two dimensions",
                shape_text(layout_of(*c_.x2)).c_str(), shape_text(layout_of(*c_.x1)).c_str());
    expected.push(p_.m, 0);
    expected.push(p_.n, 0);
    check_.shape("out", c_.out, expected);
    p_.nothing = c_.out->numel() == 0;
  }

  bool is_vector(const aclTensor &tensor, int64_t length) const {
    return tensor.rank() == 1 && tensor.shape[0] == length;
  }
  void vector(const char *name, const aclTensor *tensor, int64_t length, bool one) {
    if (!ok() || tensor == nullptr) return;
    check_.that(is_vector(*tensor, length) || (one && is_vector(*tensor, 1)),
                "%s has shape %s; expected (%" PRId64 ",)%s", name,
                shape_text(layout_of(*tensor)).c_str(), length, one ? " or (1,)" : "");
  }

  void whole_scales() {
    if (is(kQuantMatmulV2)) {
      // As aclnnTransQuantParam makes them: filled up to a multiple of 16.
      vector(names().x2_scale, c_.x2_scale, (p_.n + 15) / 16 * 16, false);
      return;
    }
    vector(names().x2_scale, c_.x2_scale, p_.n, true);
    vector(names().x2_offset, c_.x2_offset, p_.n, true);
    vector(names().x1_scale, c_.x1_scale, p_.m, false);
  }

  void matrix(const char *name, const aclTensor &tensor, int64_t rows, int64_t cols) {
    const int64_t shape[] = {rows, cols};
    check_.shape(name, &tensor, dense_layout(shape, 2));
  }

  // Each 16 bits of groupSize are the size along m, n and k; 0 lets the shapes say it.
  void group_sizes(int64_t along_m, int64_t along_n, int64_t along_k) {
    const int64_t wanted[] = {along_k, along_n, along_m};
    const char *const axis[] = {"k", "n", "m"};
    for (int i = 0; i < 3; ++i) {
      const int64_t size = c_.group_size >> 16 * i & 0xffff;
      check_.that(size == 0 || size == wanted[i],
                  "groupSize is %" PRId64 ", a group of %" PRId64 " along %s; allowed: %" PRId64
                  " or 0",
                  c_.group_size, size, axis[i], wanted[i]);
    }
  }

  void flat(const char *x1_name) {
    check_.that(c_.x1->rank() == 2 && c_.x2->rank() == 2,
                "%s has %zu and x2 %zu dimensions; scales of groups need 2", x1_name, c_.x1->rank(),
                c_.x2->rank());
  }
  void orientation(bool x2_transposed) {
    check_.that(!c_.transpose_x1, "transposeX1 is true; scales of groups need false");
    check_.that(c_.transpose_x2 == x2_transposed, "transposeX2 is %s; scales of groups need %s",
                c_.transpose_x2 ? "true" : "false", x2_transposed ? "true" : "false");
  }

  void block_scales() {
    flat("x1");
    orientation(true);
    check_.that(p_.n % 256 == 0, "x2 has %" PRId64 " columns (n); blocks need a multiple of 256",
                p_.n);
    check_.that(p_.k % 512 == 0, "x1 has %" PRId64 " columns (k); blocks need a multiple of 512",
                p_.k);
    if (!ok()) return;
    const int64_t deep = p_.k / kBlock128;
    matrix(names().x1_scale, *c_.x1_scale, p_.m, deep);
    matrix(names().x2_scale, *c_.x2_scale, p_.n / kBlock128, deep);
    group_sizes(1, kBlock128, kBlock128);
  }

  void group_scales() {
    flat("x1");
    orientation(true);
    check_.that(p_.k % 1024 == 0, "x1 has %" PRId64 " columns (k); groups need a multiple of 1024",
                p_.k);
    check_.that(p_.n % 256 == 0, "x2 has %" PRId64 " columns (n); groups need a multiple of 256",
                p_.n);
    if (!ok()) return;
    matrix(names().x1_scale, *c_.x1_scale, p_.m, 1);
    matrix(names().x2_scale, *c_.x2_scale, p_.k / kGroup256, p_.n);
    matrix(names().x2_offset, *c_.x2_offset, p_.k / kGroup256, p_.n);
    group_sizes(0, 0, kGroup256);
  }

  void bias() {
    if (!c_.bias) return;
    const Layout given = layout_of(*c_.bias);
    const bool stacked = c_.out->rank() == 3 && given.rank == 3 && !few_bits() && !is(kOld) &&
                         p_.mode == QuantMatmulMode::kWhole && given.shape[0] == c_.out->shape[0] &&
                         given.shape[1] == 1 && given.shape[2] == p_.n;
    check_.that(stacked || is_vector(*c_.bias, p_.n), "%s has shape %s; expected (%" PRId64 ",)%s",
                names().bias, shape_text(given).c_str(), p_.n,
                c_.out->rank() == 3 ? ", or (batch, 1, n)" : "");
  }

  QuantMatmulProblem &p_;
  const QuantMatmulCall &c_;
  Check check_;
};

}  // namespace

Status check_quant_matmul(QuantMatmulProblem *problem) { return Rules(problem).run(); }

}  // namespace emu
