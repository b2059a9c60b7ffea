// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// NonMaxSuppression, which the 310P has: of boxes that overlap, those with the highest score.
#include <numeric>

#include "aclnnop/objdetect.h"
#include "core/chip.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostBoxes = 700;

struct Suppression {
  int64_t batches, classes, boxes;
  int64_t most;  // boxes of a class of a batch
  float overlap, score;
  bool centred;
};

struct KeptBox {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

KeptBox box_of(const float *row, bool centred) {
  if (!centred) return {row[0], row[1], row[2], row[3]};
  return {row[1] - row[3] / 2, row[0] - row[2] / 2, row[1] + row[3] / 2, row[0] + row[2] / 2};
}

bool overlaps(const KeptBox &a, const KeptBox &b, float most) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float both = std::max(height, 0.0f) * std::max(width, 0.0f);
  return both / (a.area() + b.area() - both) > most;
}

// The boxes of one class of one batch that remain, the highest score first.
std::vector<int64_t> remaining(const Suppression &s, const std::vector<KeptBox> &boxes,
                               const float *scores) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < s.boxes; ++i) {
    if (scores[i] >= s.score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  for (const int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) == s.most) break;
    const KeptBox &box = boxes[static_cast<size_t>(i)];
    const bool free = std::none_of(kept.begin(), kept.end(), [&](int64_t k) {
      return overlaps(boxes[static_cast<size_t>(k)], box, s.overlap);
    });
    if (free) kept.push_back(i);
  }
  return kept;
}

// Rows of (batch, class, box), and rows of -1 behind them.
void suppress(const Suppression &s, const View &boxes, const View &scores, const View &out) {
  const int64_t rows = out.layout.shape[0], width = s.boxes;
  const RowSource<float> boxes_from(boxes), scores_from(scores);
  const RowTarget<int32_t> to(out);
  std::vector<float> coordinates(static_cast<size_t>(4 * width)),
      of_class(static_cast<size_t>(width));
  std::vector<KeptBox> each(static_cast<size_t>(width));
  int64_t row = 0;
  for (int64_t b = 0; b < s.batches && row < rows; ++b) {
    boxes_from.read(b * 4 * width, 4 * width, coordinates.data());
    for (size_t i = 0; i < each.size(); ++i)
      each[i] = box_of(coordinates.data() + 4 * i, s.centred);
    for (int64_t k = 0; k < s.classes && row < rows; ++k) {
      scores_from.read((b * s.classes + k) * width, width, of_class.data());
      for (const int64_t i : remaining(s, each, of_class.data())) {
        if (row == rows) break;
        const int32_t found[] = {static_cast<int32_t>(b), static_cast<int32_t>(k),
                                 static_cast<int32_t>(i)};
        to.write(3 * row++, 3, found);
      }
    }
  }
  constexpr int32_t kNone[] = {-1, -1, -1};
  for (; row < rows; ++row) to.write(3 * row, 3, kNone);
}

bool one_value(Check &check, const char *name, const aclFloatArray *array) {
  check.that(array->values.size() == 1, "%s has %zu numbers; expected 1", name,
             array->values.size());
  if (!check.ok()) return false;
  const float value = array->values[0];
  check.that(value >= 0 && value <= 1, "%s is %g; allowed: 0 to 1", name,
             static_cast<double>(value));
  return check.ok();
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NonMaxSuppression,
             (const aclTensor *boxes, const aclTensor *scores,
              const aclIntArray *maxOutputBoxesPerClass, const aclFloatArray *iouThreshold,
              const aclFloatArray *scoreThreshold, int32_t centerPointBox,
              aclTensor *selectedIndices)) {
  using namespace emu;
  Check check("aclnnNonMaxSuppression");
  check.required("boxes", boxes).required("scores", scores);
  check.required("maxOutputBoxesPerClass", maxOutputBoxesPerClass);
  check.required("iouThreshold", iouThreshold).required("scoreThreshold", scoreThreshold);
  check.required("selectedIndices", selectedIndices);
  if (!check.ok()) return check.status();
  if (!chip_is_310p()) {
    return fail(kRuntimeError,
                "aclnnNonMaxSuppression: the chip is %s; only the 310P has this operator, which "
                "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
                soc_name());
  }
  check.dtype("boxes", boxes).dtype("scores", scores).dtype("selectedIndices", selectedIndices);
  check.same_dtype("scores", scores->dtype, "boxes", boxes->dtype);
  check.rank("boxes", boxes, 3, 3).rank("scores", scores, 3, 3);
  check.rank("selectedIndices", selectedIndices, 2, 2);
  if (!check.ok()) return check.status();
  Suppression s{boxes->shape[0], scores->shape[1], boxes->shape[1], 0, 0, 0, centerPointBox == 1};
  const int64_t corners[] = {s.batches, s.boxes, 4}, ratings[] = {s.batches, s.classes, s.boxes},
                rows[] = {selectedIndices->shape[0], 3};
  check.shape("boxes", boxes, dense_layout(corners, 3));
  check.shape("scores", scores, dense_layout(ratings, 3));
  check.shape("selectedIndices", selectedIndices, dense_layout(rows, 2));
  check.that(s.batches <= INT32_MAX && s.classes <= INT32_MAX && s.boxes <= INT32_MAX,
             "scores has shape %s; indices of 32 bits cannot count it",
             shape_text(layout_of(*scores)).c_str());
  check.that(maxOutputBoxesPerClass->values.size() == 1,
             "maxOutputBoxesPerClass has %zu numbers; expected 1",
             maxOutputBoxesPerClass->values.size());
  if (!check.ok()) return check.status();
  s.most = maxOutputBoxesPerClass->values[0];
  check.that(s.most >= 0 && s.most <= kMostBoxes,
             "maxOutputBoxesPerClass is %lld; allowed: 0 to %lld", static_cast<long long>(s.most),
             static_cast<long long>(kMostBoxes));
  check.that(centerPointBox == 0 || centerPointBox == 1, "centerPointBox is %d; allowed: 0, 1",
             centerPointBox);
  if (one_value(check, "iouThreshold", iouThreshold)) s.overlap = iouThreshold->values[0];
  if (!check.ok()) return check.status();
  if (one_value(check, "scoreThreshold", scoreThreshold)) s.score = scoreThreshold->values[0];
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(boxes), ratings_from = plan.input(scores),
               to = plan.output(selectedIndices);
  return plan.finish(
      [=](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        suppress(s, view_of(c.tensor(from)), view_of(c.tensor(ratings_from)),
                 view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
