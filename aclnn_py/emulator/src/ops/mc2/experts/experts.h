// SPDX-License-Identifier: Apache-2.0
// Experts spread over ranks: the attributes that MoeDistributeDispatch, MoeDistributeCombine and
// their kin share, where an expert lives, and the messages that carry tokens to it and back.
#pragma once

#include <memory>
#include <vector>

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

struct ExpertAttributes {
  const char *op;
  int version;
  const char *group_ep;
  int64_t ep_size, ep_rank, moe_experts;
  const char *group_tp = nullptr;
  int64_t tp_size = 0, tp_rank = 0;
  int64_t shard_type = 0, shared_experts = 0, shared_ranks = 0, global_bs = 0;
  const char *comm_alg = nullptr;
  int64_t zero_experts = 0, copy_experts = 0, constant_experts = 0;

  bool hierarchy() const;
  int64_t all_experts() const {
    return moe_experts + zero_experts + copy_experts + constant_experts;
  }
};

// The checked attributes with their communicators. Ranks below `shared_ranks` hold a shared expert
// each, the others `local` experts.
struct Experts {
  const char *op = "";
  std::shared_ptr<hccl::Communicator> ep, tp;  // tp is null without tensor parallelism
  int64_t moe = 0, shared = 0, shared_ranks = 0, zero = 0, copy = 0, constant = 0;
  int64_t local = 0;
  int64_t most_tokens = 0;                  // of any rank
  int64_t tokens = 0, each = 0, width = 0;  // of this rank: BS, K, H

  int64_t ranks() const { return ep->size(); }
  int64_t rank() const { return ep->rank(); }
  int64_t tp_ranks() const { return tp ? tp->size() : 1; }
  bool holds_shared() const { return rank() < shared_ranks; }
  int64_t here() const { return holds_shared() ? 1 : local; }
  // Rows that one token may become: one per shared expert, then one per expert of its own.
  int64_t shared_slots() const { return shared_ranks > 0 ? shared : 0; }
  int64_t slots() const { return shared_slots() + each; }
  // The most rows that this rank may receive.
  int64_t capacity() const;
};

// 561002 for an attribute out of range, 361001 for a group that does not exist. `tokens` is BS.
Status find_experts(const ExpertAttributes &given, int64_t tokens, int64_t each, int64_t width,
                    Experts *experts);

// One row that goes to an expert.
struct TokenRoute {
  int64_t token, slot;
  int64_t rank, expert;  // expert: among those of its rank
  int64_t factors;       // the row of this expert in a table of shared experts and experts
};

// What becomes of a token at each expert it chose.
enum class Chosen : uint8_t { nothing, sent, zero, copy, constant };

struct Routing {
  std::vector<TokenRoute> routes;  // by rank, by expert, then as the tokens come
  std::vector<Chosen> chosen;      // (tokens, each)
  std::vector<int64_t> which;      // (tokens, each): the copy or constant expert's number
};

// Reads the experts of the tokens. Ends the communicator for an expert that does not exist and a
// mask with holes. `ids` and `mask` are positions in the plan; the mask may be absent.
Status route_tokens(const Experts &experts, PlanContext &context, size_t ids, size_t mask,
                    Routing *routing);

// The place of each (token, k) among those that this rank sends to the same expert; 0 for one that
// is not sent.
std::vector<int64_t> places_of(const Experts &experts, const Routing &routing);

// Ends the communicator for all ranks: data of this rank make the call impossible.
[[gnu::format(printf, 2, 3)]] Status stop_all(const Experts &experts, const char *format, ...);

// The number of rows between each pair of ranks, by expert of the rank that has it.
class RowCounts {
 public:
  explicit RowCounts(const Experts &experts);
  void add(int64_t rank, int64_t expert, int64_t rows) {
    sent_[static_cast<size_t>(rank * stride_ + expert)] += rows;
  }
  // The communicator's ranks tell each other their counts, and since when they wait.
  Status exchange(hccl::Session &session);

  int64_t sent(int64_t rank) const { return total(sent_, rank); }
  int64_t received(int64_t rank) const { return total(received_, rank); }
  int64_t received(int64_t rank, int64_t expert) const {
    return received_[static_cast<size_t>(rank * stride_ + expert)];
  }
  int64_t all_received() const;
  // Microseconds that this rank waited for each rank.
  const std::vector<int64_t> &waited() const { return waited_; }

 private:
  int64_t total(const std::vector<int64_t> &counts, int64_t rank) const;
  int64_t ranks_, experts_, stride_;
  std::vector<int64_t> sent_, received_, waited_;
};

// A token on its way: its row, its scales, whence it came and its weight.
struct Origin {
  int32_t token, slot;
  float weight;
};
struct Envelope {
  int64_t row_bytes = 0, scale_bytes = 0;
  int64_t size() const {
    return (row_bytes + scale_bytes + static_cast<int64_t>(sizeof(Origin)) + 15) / 16 * 16;
  }
  char *scales(char *message) const { return message + row_bytes; }
  const char *scales(const char *message) const { return message + row_bytes; }
  void address(char *message, const Origin &origin) const;
  Origin origin(const char *message) const;
};

// Sends `send[r]` messages to rank r and receives `receive[r]` from it, each densely in the order
// of the ranks.
Status exchange_messages(hccl::Session &session, const Envelope &envelope, const void *from,
                         const std::vector<int64_t> &send, void *to,
                         const std::vector<int64_t> &receive);

// Quantises a token to int8 as the documents of dispatch give it: values times 127 / max. The
// inverse of that factor on return.
float quantise_token(const float *values, int64_t width, int8_t *to);

// Adds the times to a tensor of int64.
void add_times(PlanContext &context, size_t position, const std::vector<int64_t> &times);

}  // namespace emu
