// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AdvanceStep: the next token of each sequence, its position, its slot and the new length. V2 does
// it for the last accepted token of each sequence and for tokens that are guessed to follow it.
#include "aclnnop/optim.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

constexpr int64_t kMostSequences = 200000000;

// Blocks of a cache: which lie where in it.
struct Blocks {
  const char *op;
  std::vector<int64_t> table;
  int64_t columns, size;

  // The slot of a position of a sequence; `name` is the argument that the position comes from.
  Status slot_of(int64_t sequence, const char *name, int64_t position, int64_t *slot) const {
    const int64_t block = position / size;
    if (position < 0 || block >= columns) {
      return fail(kKernelFault, "%s: %s holds %lld; blockTables has %lld blocks of %lld tokens", op,
                  name, wide(position), wide(columns), wide(size));
    }
    const int64_t entry = table[static_cast<size_t>(sequence * columns + block)];
    const Checked place = Checked(entry) * size + position % size;
    if (!place.fits()) {
      return fail(kKernelFault, "%s: blockTables holds %lld; its slot does not fit 64 bits", op,
                  wide(entry));
    }
    *slot = place.value();
    return 0;
  }
};

void write(PlanContext &c, size_t position, int64_t count, const std::vector<int64_t> &values) {
  RowTarget<int64_t>(view_of(c.tensor(position))).write(0, count, values.data());
}

struct Guess {
  const aclTensor *tokens, *sampled, *positions, *lengths, *slots, *tables, *guessed, *accepted;
  int64_t sequences, queries, block_size;
};

Check check_guess(const char *op, const Guess &a) {
  Check check(op);
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"inputTokensRef", a.tokens},       {"sampledTokenIds", a.sampled},
      {"inputPositionsRef", a.positions}, {"seqLensRef", a.lengths},
      {"slotMappingRef", a.slots},        {"blockTables", a.tables},
      {"specToken", a.guessed},           {"acceptedNum", a.accepted}};
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  check.tiling();
  check.that(a.sequences > 0 && a.sequences < kMostSequences, "numSeqs is %lld; allowed: 1 to %lld",
             wide(a.sequences), wide(kMostSequences - 1));
  check.that(a.queries == a.sequences, "numQueries is %lld; it must be numSeqs, %lld",
             wide(a.queries), wide(a.sequences));
  check.that(a.block_size > 0, "blockSize is %lld; allowed: from 1 on", wide(a.block_size));
  check.rank("specToken", a.guessed, 2, 2).rank("sampledTokenIds", a.sampled, 2, 2);
  check.rank("blockTables", a.tables, 2, 2).rank("acceptedNum", a.accepted, 1, 1);
  if (!check.ok()) return check;
  const int64_t each = check.size("specToken", Checked(a.guessed->shape[1]) + int64_t{1});
  const int64_t count = check.size("specToken", Checked(a.sequences) * each);
  check.that(each > 1, "specToken has no columns; it has one for each guessed token");
  if (!check.ok()) return check;
  const int64_t guesses[] = {a.sequences, each - 1}, all[] = {a.sequences, each};
  check.shape("specToken", a.guessed, dense_layout(guesses, 2));
  check.shape("sampledTokenIds", a.sampled, dense_layout(all, 2));
  check.shape("acceptedNum", a.accepted, dense_layout(guesses, 1));
  check.that(a.tables->shape[0] == a.sequences && a.tables->shape[1] > 0,
             "blockTables has shape %s; expected %lld rows with a block or more",
             shape_text(layout_of(*a.tables)).c_str(), wide(a.sequences));
  for (const auto &[name, tensor] : {tensors[0], tensors[2], tensors[3], tensors[4]}) {
    check.rank(name, tensor, 1, 2);
    if (!check.ok()) return check;
    check.that(tensor->numel() == count && tensor->shape[0] % a.sequences == 0,
               "%s has shape %s; expected (%lld, %lld) or %lld elements", name,
               shape_text(layout_of(*tensor)).c_str(), wide(a.sequences), wide(each), wide(count));
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AdvanceStep, (aclTensor *inputTokensRef, const aclTensor *sampledTokenIds,
                           aclTensor *inputPositionsRef, aclTensor *seqLensRef,
                           aclTensor *slotMappingRef, const aclTensor *blockTables, int64_t numSeqs,
                           int64_t numQueries, int64_t blockSize)) {
  using namespace emu;
  constexpr const char *op = "aclnnAdvanceStep";
  Check check(op);
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
  PlanBuilder plan(op, KernelTime::linear);
  const size_t tokens = plan.in_place(inputTokensRef), sampled = plan.input(sampledTokenIds);
  const size_t positions = plan.in_place(inputPositionsRef), lengths = plan.in_place(seqLensRef);
  const size_t slots = plan.in_place(slotMappingRef), tables = plan.input(blockTables);
  return plan.finish(
      [=](PlanContext &c) {
        const Blocks blocks{op, integers(c, tables), c.tensor(tables).shape[1], blockSize};
        std::vector<int64_t> length = integers(c, lengths), slot(length.size());
        const std::vector<int64_t> next = integers(c, sampled);
        for (int64_t i = 0; i < numQueries; ++i) {
          const auto at = static_cast<size_t>(i);
          const Status found = blocks.slot_of(i, "seqLensRef", length[at], &slot[at]);
          if (found != 0) return found;
        }
        write(c, tokens, numQueries, next);
        write(c, positions, numQueries, length);
        write(c, slots, numQueries, slot);
        for (int64_t i = 0; i < numQueries; ++i) ++length[static_cast<size_t>(i)];
        write(c, lengths, numQueries, length);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdvanceStepV2, (aclTensor *inputTokensRef, const aclTensor *sampledTokenIds,
                             aclTensor *inputPositionsRef, aclTensor *seqLensRef,
                             aclTensor *slotMappingRef, const aclTensor *blockTables,
                             const aclTensor *specToken, const aclTensor *acceptedNum,
                             int64_t numSeqs, int64_t numQueries, int64_t blockSize)) {
  using namespace emu;
  constexpr const char *op = "aclnnAdvanceStepV2";
  const Guess a{inputTokensRef, sampledTokenIds, inputPositionsRef, seqLensRef,
                slotMappingRef, blockTables,     specToken,         acceptedNum,
                numSeqs,        numQueries,      blockSize};
  const Check check = check_guess(op, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t tokens = plan.in_place(inputTokensRef), sampled = plan.input(sampledTokenIds);
  const size_t positions = plan.in_place(inputPositionsRef), lengths = plan.in_place(seqLensRef);
  const size_t slots = plan.in_place(slotMappingRef), tables = plan.input(blockTables);
  const size_t guessed = plan.input(specToken), accepted = plan.input(acceptedNum);
  return plan.finish(
      [=](PlanContext &c) {
        const Blocks blocks{op, integers(c, tables), c.tensor(tables).shape[1], blockSize};
        const std::vector<int64_t> ids = integers(c, sampled), guesses = integers(c, guessed),
                                   taken = integers(c, accepted);
        std::vector<int64_t> position = integers(c, positions), slot(position.size()),
                             token(position.size()), length(position.size());
        const auto each = static_cast<int64_t>(position.size()) / numSeqs;
        for (int64_t i = 0; i < numSeqs; ++i) {
          const int64_t last = taken[static_cast<size_t>(i)];
          if (last < 0 || last >= each) {
            return fail(kKernelFault,
                        "%s: acceptedNum holds %lld; a sequence has %lld guessed tokens", op,
                        wide(last), wide(each - 1));
          }
          for (int64_t j = 0; j < each; ++j) {
            const auto at = static_cast<size_t>(i * each + j);
            const Checked moved = Checked(position[at]) + (last + 1);
            if (!moved.fits() || !(moved + int64_t{1}).fits()) {
              return fail(kKernelFault, "%s: inputPositionsRef holds %lld; the next does not fit",
                          op, wide(position[at]));
            }
            position[at] = moved.value();
            length[at] = position[at] + 1;
            const Status found =
                blocks.slot_of(i, "inputPositionsRef, advanced,", position[at], &slot[at]);
            if (found != 0) return found;
            token[at] = j == 0 ? ids[static_cast<size_t>(i * each + last)]
                               : guesses[static_cast<size_t>(i * (each - 1) + j - 1)];
          }
        }
        const auto count = static_cast<int64_t>(position.size());
        write(c, tokens, count, token);
        write(c, positions, count, position);
        write(c, lengths, count, length);
        write(c, slots, count, slot);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
