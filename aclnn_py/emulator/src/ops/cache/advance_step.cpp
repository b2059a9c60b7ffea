// SPDX-License-Identifier: Apache-2.0
// AdvanceStep: the next token of each sequence, its position, its slot and the new length.
#include "aclnnop/optim.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"

EMU_OPERATOR(AdvanceStep, (aclTensor *inputTokensRef, const aclTensor *sampledTokenIds,
                           aclTensor *inputPositionsRef, aclTensor *seqLensRef,
                           aclTensor *slotMappingRef, const aclTensor *blockTables, int64_t numSeqs,
                           int64_t numQueries, int64_t blockSize)) {
  using namespace emu;
  constexpr const char *op = "aclnnAdvanceStep";
  constexpr int64_t kMostSequences = 200000000;
  Check check(op);
  const auto wide = [](int64_t value) { return static_cast<long long>(value); };
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"inputTokensRef", inputTokensRef},       {"sampledTokenIds", sampledTokenIds},
      {"inputPositionsRef", inputPositionsRef}, {"seqLensRef", seqLensRef},
      {"slotMappingRef", slotMappingRef},       {"blockTables", blockTables}};
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  check.tiling();
  check.that(numSeqs > 0 && numSeqs < kMostSequences, "numSeqs is %lld; allowed: 1 to %lld",
             wide(numSeqs), wide(kMostSequences - 1));
  if (!check.ok()) return check.status();
  check.that(numQueries > 0 && numQueries < numSeqs,
             "numQueries is %lld; allowed: 1 to %lld, fewer than numSeqs", wide(numQueries),
             wide(numSeqs - 1));
  check.that(blockSize > 0, "blockSize is %lld; allowed: from 1 on", wide(blockSize));
  for (const auto &[name, tensor] : tensors) {
    check.rank(name, tensor, tensor == blockTables || tensor == sampledTokenIds ? 2 : 1, 2);
    if (!check.ok()) return check.status();
    const bool listed = tensor != blockTables;
    const int64_t count = tensor == sampledTokenIds ? numQueries : numSeqs;
    check.that(tensor->shape[0] == count && (!listed || tensor->numel() == count),
               "%s has shape %s; expected %lld%s", name, shape_text(layout_of(*tensor)).c_str(),
               wide(count), listed ? " elements" : " rows");
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t tokens = plan.in_place(inputTokensRef), sampled = plan.input(sampledTokenIds);
  const size_t positions = plan.in_place(inputPositionsRef), lengths = plan.in_place(seqLensRef);
  const size_t slots = plan.in_place(slotMappingRef), tables = plan.input(blockTables);
  return plan.finish(
      [=](PlanContext &c) {
        const auto columns = c.tensor(tables).shape[1];
        std::vector<int64_t> length = integers(c, lengths), slot(length.size());
        const std::vector<int64_t> table = integers(c, tables), next = integers(c, sampled);
        for (int64_t i = 0; i < numQueries; ++i) {
          const int64_t position = length[static_cast<size_t>(i)], block = position / blockSize;
          if (position < 0 || block >= columns) {
            return fail(kKernelFault,
                        "%s: seqLensRef holds %lld; blockTables has %lld blocks of %lld tokens", op,
                        wide(position), wide(columns), wide(blockSize));
          }
          const Checked place =
              Checked(table[static_cast<size_t>(i * columns + block)]) * blockSize +
              position % blockSize;
          if (!place.fits()) {
            return fail(kKernelFault, "%s: blockTables holds %lld; its slot does not fit 64 bits",
                        op, wide(table[static_cast<size_t>(i * columns + block)]));
          }
          slot[static_cast<size_t>(i)] = place.value();
        }
        RowTarget<int64_t>(view_of(c.tensor(tokens))).write(0, numQueries, next.data());
        RowTarget<int64_t>(view_of(c.tensor(positions))).write(0, numQueries, length.data());
        RowTarget<int64_t>(view_of(c.tensor(slots))).write(0, numQueries, slot.data());
        for (int64_t i = 0; i < numQueries; ++i) ++length[static_cast<size_t>(i)];
        RowTarget<int64_t>(view_of(c.tensor(lengths))).write(0, numQueries, length.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
