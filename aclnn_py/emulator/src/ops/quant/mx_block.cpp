// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Square blocks of 32 by 32 values with one scale, which is given out for rows and for columns.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

constexpr int64_t kTile = 2 * kMxBlock;

// Two by two blocks, as codes and scales; what lies beyond the matrix has the scale 0.
struct Tile {
  int64_t rows = 0, columns = 0;
  uint8_t codes[kTile * kTile];
  uint8_t scales[2][2] = {};
};

// Where a block of a tile begins and how large it is.
struct Square {
  int64_t row, column, rows, columns;
  bool empty() const { return rows <= 0 || columns <= 0; }
};
Square square_of(const Tile &tile, int down, int right) {
  const int64_t row = down * kMxBlock, column = right * kMxBlock;
  return {row, column, std::min(kMxBlock, tile.rows - row),
          std::min(kMxBlock, tile.columns - column)};
}

// Matrices of `rows` by `columns` values.
struct Matrices {
  int64_t count, rows, columns;
  explicit Matrices(const Layout &values)
      : count(count_of(values.shape, static_cast<size_t>(values.rank - 2))),
        rows(values.shape[values.rank - 2]),
        columns(values.shape[values.rank - 1]) {}
};

// Calls fill(matrix, row, column, tile) for each tile and writes what it leaves there.
template <class Fill>
void for_each_tile(const Matrices &m, const LowCodes &y, const LowCodes &by_row,
                   const LowCodes &by_column, const Fill &fill) {
  const int64_t down = (m.rows + kTile - 1) / kTile, right = (m.columns + kTile - 1) / kTile;
  parallel_for(m.count * down * right, 2, [&](int64_t begin, int64_t end) {
    auto tile = std::make_unique<Tile>();
    uint8_t pair[2 * kTile];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t matrix = task / (down * right), i = task / right % down, j = task % right;
      const int64_t row = i * kTile, column = j * kTile;
      *tile = Tile();
      tile->rows = std::min(kTile, m.rows - row);
      tile->columns = std::min(kTile, m.columns - column);
      fill(matrix, row, column, tile.get());
      for (int64_t r = 0; r < tile->rows; ++r) {
        const int64_t line = matrix * m.rows + row + r;
        y.write(line * m.columns + column, tile->columns, tile->codes + r * kTile);
        by_row.write((line * right + j) * 2, 2, tile->scales[r / kMxBlock]);
      }
      for (int64_t k = 0; k < tile->columns; ++k) {
        pair[2 * k] = tile->scales[0][k / kMxBlock];
        pair[2 * k + 1] = tile->scales[1][k / kMxBlock];
      }
      by_column.write(((matrix * down + i) * m.columns + column) * 2, 2 * tile->columns, pair);
    }
  });
}

// The checks of shapes that both operators have.
void check_squares(Check &check, const Layout &values, const aclTensor *y, const char *y_name,
                   const aclTensor *const scale[2], const char *const scale_name[2]) {
  check.that(values.count() > 0, "x has shape %s; it must not be empty",
             shape_text(values).c_str());
  for (int i = 0; i < 2; ++i)
    check_mx_results(check, values, values.rank - 1 - i, kMxBlock, y_name, y, scale_name[i],
                     scale[i]);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicBlockMxQuant,
             (const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg,
              double dstTypeMax, aclTensor *yOut, aclTensor *scale1Out, aclTensor *scale2Out)) {
  using namespace emu;
  constexpr const char *op = "aclnnDynamicBlockMxQuant";
  constexpr const char *kScale[] = {"scale1Out", "scale2Out"};
  constexpr MxAlgorithms kAlgorithms{0b001, 0b101, 0b001};
  Check check(op);
  check.required("x", x).required("yOut", yOut);
  check.required("scale1Out", scale1Out).required("scale2Out", scale2Out);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("yOut", yOut);
  check.dtype("scale1Out", scale1Out).dtype("scale2Out", scale2Out);
  check.rank("x", x, 2, 3).plain_format("x", x);
  if (!check.ok()) return check.status();
  const MxFormat format =
      check_mx_format(check,
                      {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg,
                       kAlgorithms, "dstTypeMax", dstTypeMax, false},
                      "yOut", yOut);
  const Layout values = layout_of(*x);
  const aclTensor *const scales[] = {scale1Out, scale2Out};
  check_squares(check, values, yOut, "yOut", scales, kScale);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), y = plan.output(yOut);
  const size_t scale1 = plan.output(scale1Out), scale2 = plan.output(scale2Out);
  const Matrices shape(values);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const RowSource<float> from(operands.safe(
            view_of(c.tensor(input)),
            {code_view(c.tensor(y)), code_view(c.tensor(scale1)), code_view(c.tensor(scale2))}));
        const EncodeFn encode = encoder(format.dtype, format.rounding);
        const auto fill = [&](int64_t matrix, int64_t row, int64_t column, Tile *tile) {
          std::vector<float> line(static_cast<size_t>(kTile * kTile));
          for (int64_t r = 0; r < tile->rows; ++r)
            from.read((matrix * shape.rows + row + r) * shape.columns + column, tile->columns,
                      line.data() + r * kTile);
          for (int n = 0; n < 4; ++n) {
            const Square s = square_of(*tile, n / 2, n % 2);
            if (s.empty()) continue;
            uint32_t most = 0;
            for (int64_t r = 0; r < s.rows; ++r)
              for (int64_t k = 0; k < s.columns; ++k)
                most = std::max(
                    most, bits_of(line[static_cast<size_t>((s.row + r) * kTile + s.column + k)]) &
                              0x7fffffffu);
            const uint8_t scale = format.scale_of(float_of(most));
            tile->scales[n / 2][n % 2] = scale;
            if (scale == 255) continue;
            for (int64_t r = 0; r < s.rows; ++r) {
              const int64_t at = (s.row + r) * kTile + s.column;
              encode(line.data() + at, s.columns, mx_factor(scale), tile->codes + at);
            }
          }
        };
        for_each_tile(shape, LowCodes(c.tensor(y)), LowCodes(c.tensor(scale1)),
                      LowCodes(c.tensor(scale2)), fill);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MxToBlockMxQuant, (const aclTensor *x, const aclTensor *mxscale, int64_t dstType,
                                aclTensor *y, aclTensor *scale1, aclTensor *scale2)) {
  using namespace emu;
  constexpr const char *op = "aclnnMxToBlockMxQuant";
  constexpr const char *kScale[] = {"scale1", "scale2"};
  Check check(op);
  check.required("x", x).required("mxscale", mxscale).required("y", y);
  check.required("scale1", scale1).required("scale2", scale2);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("mxscale", mxscale).dtype("y", y);
  check.dtype("scale1", scale1).dtype("scale2", scale2);
  check.rank("x", x, 2, 3).plain_format("x", x);
  if (!check.ok()) return check.status();
  const Layout values = layout_of(*x);
  const aclTensor *const scales[] = {scale1, scale2};
  check_dst_type(check, "dstType", dstType, "y", y);
  check_float4(check, "x", x);
  check.that(values.shape[values.rank - 2] % kTile == 0,
             "x has shape %s; its last dimension but one must be a multiple of 64",
             shape_text(values).c_str());
  check.shape("mxscale", mxscale, mx_scale_layout(values, values.rank - 1, kMxBlock));
  check_squares(check, values, y, "y", scales, kScale);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), given = plan.input(mxscale), output = plan.output(y);
  const size_t by_row = plan.output(scale1), by_column = plan.output(scale2);
  const Matrices shape(values);
  // By how many powers of two the largest number of the result exceeds that of the input.
  const int reach = (y->dtype == ACL_FLOAT8_E5M2 ? 15 : 8) - (x->dtype == ACL_FLOAT4_E2M1 ? 2 : 0);
  return plan.finish(
      [=](PlanContext &c) {
        const LowValues from(c.tensor(input));
        const LowCodes scale_of(c.tensor(given));
        const EncodeFn encode = encoder(c.tensor(output).dtype, LowRounding::kRint);
        const int64_t right = (shape.columns + kTile - 1) / kTile;
        const auto fill = [&](int64_t matrix, int64_t row, int64_t column, Tile *tile) {
          std::vector<float> line(static_cast<size_t>(kTile * kTile));
          uint8_t old[kTile][2];
          for (int64_t r = 0; r < tile->rows; ++r) {
            const int64_t at = matrix * shape.rows + row + r;
            from.read(at * shape.columns + column, tile->columns, line.data() + r * kTile);
            scale_of.read((at * right + column / kTile) * 2, 2, old[r]);
          }
          for (int n = 0; n < 4; ++n) {
            const Square s = square_of(*tile, n / 2, n % 2);
            if (s.empty()) continue;
            uint8_t most = 0;
            for (int64_t r = 0; r < s.rows; ++r) most = std::max(most, old[s.row + r][n % 2]);
            const int scale = most == 255 ? 255 : std::max(most - reach, 0);
            tile->scales[n / 2][n % 2] = static_cast<uint8_t>(scale);
            if (scale == 255) continue;
            for (int64_t r = 0; r < s.rows; ++r) {
              const int64_t at = (s.row + r) * kTile + s.column;
              const float factor = std::ldexp(1.0f, old[s.row + r][n % 2] - scale);
              encode(line.data() + at, s.columns, factor, tile->codes + at);
            }
          }
        };
        for_each_tile(shape, LowCodes(c.tensor(output)), LowCodes(c.tensor(by_row)),
                      LowCodes(c.tensor(by_column)), fill);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
