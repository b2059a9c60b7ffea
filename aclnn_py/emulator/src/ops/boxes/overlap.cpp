// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Iou and CIoU: how much of two boxes lies in both.
#include <cmath>
#include <cstring>

#include "aclnnop/objdetect.h"
#include "core/chip.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kBoxesTogether = 1024;  // CIoU takes multiples of it

struct Corners {
  float left, top, right, bottom;

  float area(float more) const { return (right - left + more) * (bottom - top + more); }
};

float common_area(const Corners &a, const Corners &b, float more) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left) + more;
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top) + more;
  return std::max(width, 0.0f) * std::max(height, 0.0f);
}

bool is_foreground(Check &check, const char *mode) {
  const bool foreground = std::strcmp(mode, "iof") == 0;
  check.that(foreground || std::strcmp(mode, "iou") == 0,
             "mode is \"%.40s\"; allowed: \"iou\", \"iof\"", mode);
  return foreground;
}

std::vector<Corners> read_boxes(const View &boxes, int64_t count) {
  std::vector<Corners> made(static_cast<size_t>(count));
  static_assert(sizeof(Corners) == 4 * sizeof(float));
  std::vector<float> rows(made.size() * 4);
  RowSource<float>(boxes).read(0, count * 4, rows.data());
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = {rows[4 * i], rows[4 * i + 1], rows[4 * i + 2], rows[4 * i + 3]};
  return made;
}

// A box of CIoU as its centre and size.
struct CentredBox {
  double x, y, width, height;

  CentredBox(const float *rows, int64_t count, int64_t at, bool centred) {
    const double a = static_cast<double>(rows[at]), b = static_cast<double>(rows[count + at]),
                 c = static_cast<double>(rows[2 * count + at]),
                 d = static_cast<double>(rows[3 * count + at]);
    x = centred ? a : (a + c) / 2;
    y = centred ? b : (b + d) / 2;
    width = centred ? c : c - a;
    height = centred ? d : d - b;
  }
};

// The extent that two ranges share (negative when they lie apart), and that of both together.
struct CommonRange {
  double shared, spanned;

  CommonRange(double middle, double size, double other, double other_size)
      : shared(std::min(middle + size / 2, other + other_size / 2) -
               std::max(middle - size / 2, other - other_size / 2)),
        spanned(std::max(middle + size / 2, other + other_size / 2) -
                std::min(middle - size / 2, other - other_size / 2)) {}
};

double complete_overlap(const CentredBox &box, const CentredBox &truth, bool foreground,
                        double angle) {
  const CommonRange across(box.x, box.width, truth.x, truth.width),
      down(box.y, box.height, truth.y, truth.height);
  const double both = std::max(across.shared, 0.0) * std::max(down.shared, 0.0);
  const double true_area = truth.width * truth.height;
  const double overlap =
      both / (foreground ? true_area : box.width * box.height + true_area - both);
  const double apart =
      (box.x - truth.x) * (box.x - truth.x) + (box.y - truth.y) * (box.y - truth.y);
  const double diagonal = across.spanned * across.spanned + down.spanned * down.spanned;
  const double v = 4 / (M_PI * M_PI) * angle * angle;
  const double shape = v == 0 ? 0 : v * v / (1 - overlap + v);
  return overlap - apart / diagonal - shape;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Iou, (const aclTensor *bBoxes, const aclTensor *gtBoxes, const char *mode, float eps,
                   bool aligned, aclTensor *overlap)) {
  using namespace emu;
  Check check("aclnnIou");
  check.required("bBoxes", bBoxes).required("gtBoxes", gtBoxes).required_text("mode", mode);
  check.required("overlap", overlap);
  check.dtype("bBoxes", bBoxes).dtype("gtBoxes", gtBoxes).dtype("overlap", overlap);
  if (!check.ok()) return check.status();
  check.same_dtype("gtBoxes", gtBoxes->dtype, "bBoxes", bBoxes->dtype);
  check.same_dtype("overlap", overlap->dtype, "bBoxes", bBoxes->dtype);
  const bool foreground = is_foreground(check, mode);
  check.that(eps >= 0, "eps is %g; allowed: 0 or more", static_cast<double>(eps));
  check.rank("bBoxes", bBoxes, 2, 2).rank("gtBoxes", gtBoxes, 2, 2).rank("overlap", overlap, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t m = bBoxes->shape[0], n = gtBoxes->shape[0];
  const int64_t boxes[] = {m, 4}, truths[] = {aligned ? m : n, 4}, results[] = {m, aligned ? 1 : n};
  check.shape("bBoxes", bBoxes, dense_layout(boxes, 2));
  check.shape("gtBoxes", gtBoxes, dense_layout(truths, 2));
  check.shape("overlap", overlap, dense_layout(results, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(bBoxes), against = plan.input(gtBoxes), to = plan.output(overlap);
  const int64_t width = aligned ? 1 : n;
  return plan.finish(
      [=](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        const auto mine = read_boxes(view_of(c.tensor(from)), m),
                   theirs = read_boxes(view_of(c.tensor(against)), n);
        std::vector<float> areas(theirs.size());
        for (size_t j = 0; j < theirs.size(); ++j) areas[j] = theirs[j].area(eps);
        const RowTarget<float> target(view_of(c.tensor(to)));
        for_each_row<float>(m, width, 1, [&](int64_t row, float *values) {
          const Corners box = mine[static_cast<size_t>(row)];
          const float area = box.area(eps);
          const auto first = static_cast<size_t>(aligned ? row : 0);
          for (size_t j = 0; j < static_cast<size_t>(width); ++j) {
            const float both = common_area(box, theirs[first + j], eps);
            const float all = foreground ? areas[first + j] : area + areas[first + j] - both;
            values[j] = both / all;
          }
          target.write(row * width, width, values);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CIoU, (const aclTensor *bBoxes, const aclTensor *gtBoxes, bool trans, bool isCross,
                    const char *mode, aclTensor *overlap, aclTensor *atanSub)) {
  using namespace emu;
  Check check("aclnnCIoU");
  check.required("bBoxes", bBoxes).required("gtBoxes", gtBoxes).required_text("mode", mode);
  check.required("overlap", overlap).required("atanSub", atanSub);
  check.that(chip_is_950(),
             "the chip is %s; only chips of the 950 series have this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
             soc_name());
  check.dtype("bBoxes", bBoxes).dtype("gtBoxes", gtBoxes).dtype("overlap", overlap);
  check.dtype("atanSub", atanSub);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"gtBoxes", gtBoxes},
                                     {"overlap", overlap},
                                     {"atanSub", atanSub}})
    check.same_dtype(name, tensor->dtype, "bBoxes", bBoxes->dtype).rank(name, tensor, 2, 2);
  check.that(!isCross, "isCross is true; allowed: false");
  const bool foreground = is_foreground(check, mode);
  check.rank("bBoxes", bBoxes, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t count = bBoxes->shape[1];
  check.that(count % kBoxesTogether == 0,
             "bBoxes has shape %s; its second dimension must be a multiple of %lld",
             shape_text(layout_of(*bBoxes)).c_str(), static_cast<long long>(kBoxesTogether));
  const int64_t boxes[] = {4, count}, results[] = {1, count};
  check.shape("bBoxes", bBoxes, dense_layout(boxes, 2));
  check.shape("gtBoxes", gtBoxes, dense_layout(boxes, 2));
  check.shape("overlap", overlap, dense_layout(results, 2));
  check.shape("atanSub", atanSub, dense_layout(results, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(bBoxes), against = plan.input(gtBoxes), to = plan.output(overlap),
               angles = plan.output(atanSub);
  return plan.finish(
      [=](PlanContext &c) {
        const auto mine = read_all<float>(c, from, 4 * count, 0.0f),
                   theirs = read_all<float>(c, against, 4 * count, 0.0f);
        const RowTarget<double> target(view_of(c.tensor(to))), angle_to(view_of(c.tensor(angles)));
        parallel_for(count, kBlock, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const CentredBox box(mine.data(), count, i, trans),
                truth(theirs.data(), count, i, trans);
            const double angle =
                std::atan(truth.width / truth.height) - std::atan(box.width / box.height);
            const double value = complete_overlap(box, truth, foreground, angle);
            target.write(i, 1, &value);
            angle_to.write(i, 1, &angle);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
