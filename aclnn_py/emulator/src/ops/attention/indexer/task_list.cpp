// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/attention/indexer/task_list.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <limits>

#include "core/chip.h"
#include "core/statuses.h"

namespace emu {
namespace {

constexpr int64_t kCores = 36;  // that a list has room for
constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// Fields of a core; those that are not named stay 0.
enum Field { kEnabled, kFirstSequence, kFirstToken, kFirstKeys, kLastSequence, kLastToken };

bool given(const Named<aclTensor> &t) { return t && t->numel() != 0; }

template <class F>
void each_list(const TaskCall &c, F &&f) {
  f(c.query.offsets);
  for (const TaskLengths &side : c.key) f(side.offsets);
  f(c.query.used);
  for (const TaskLengths &side : c.key) f(side.used);
  for (const auto *t : {&c.residuals, &c.unused[0], &c.unused[1]}) f(*t);
}

void check_side(Check &check, const TaskLengths &side, bool packed, bool uniform, int64_t batch,
                const char *layout_name) {
  if (given(side.offsets))
    check_lengths(check, side.offsets.name, side.offsets.given, LengthList::kOffsets, batch);
  if (given(side.used))
    check_lengths(check, side.used.name, side.used.given, LengthList::kCounts, batch);
  if (!side.needed) return;
  check.that(!packed || given(side.offsets), "%s is null or empty; with %s TND it is needed",
             side.offsets.name, layout_name);
  check.that(!uniform || given(side.used) || side.longest >= 0,
             "%s is %" PRId64 "; without %s it must be the length of the sequences",
             side.longest_name, side.longest, side.used.name);
}

// The list that has the lengths of the queries: those in use, or offsets.
struct Source {
  bool offsets = false;
  const Named<aclTensor> *list = nullptr;  // null: all have the same length
};

Source source_of(const TaskCall &c, bool packed) {
  if (given(c.query.used)) return {false, &c.query.used};
  if (packed) return {true, &c.query.offsets};
  return {};
}

struct Tasks {
  const char *op, *name;
  bool offsets;
  size_t list_at, to;
  int64_t batch, each;
  int fields;
  TaskForm form;
  int64_t numbers;
};

// Tokens in front of every sequence, and of all.
Status read_starts(PlanContext &c, const Tasks &t, std::vector<int64_t> *starts) {
  const int64_t count = t.batch + (t.offsets ? 1 : 0);
  const std::vector<int64_t> values = read_all<int64_t>(c, t.list_at, count, 0);
  starts->assign(1, 0);
  for (int64_t b = 0; b < t.batch; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t length = t.offsets ? values[at + 1] - values[at] : values[at];
    if (length < 0 || (t.offsets && values[0] != 0)) {
      return fail(kKernelFault, "%s: %s gives sequence %" PRId64 " %" PRId64 " tokens%s", t.op,
                  t.name, b, length,
                  t.offsets ? "; it must begin with 0 and not decrease" : "; allowed: 0 and above");
    }
    starts->push_back(starts->back() + length);
  }
  return 0;
}

// Where token `row` of all lies.
void locate(const Tasks &t, const std::vector<int64_t> &starts, int64_t row, int32_t *sequence,
            int32_t *token) {
  int64_t b, first;
  if (starts.empty()) {
    b = row / t.each;
    first = b * t.each;
  } else {
    const auto behind = std::upper_bound(starts.begin(), starts.end(), row);
    b = behind == starts.end() ? t.batch : behind - starts.begin() - 1;
    first = b == t.batch ? row : starts[static_cast<size_t>(b)];
  }
  *sequence = static_cast<int32_t>(b);
  *token = static_cast<int32_t>(row - first);
}

// The forms of the gradients: how many tokens each core takes. Lists of starts have room for 25.
void share_rows(const Tasks &t, int64_t rows, int32_t *numbers) {
  constexpr int64_t kStartsOfCores = 8, kMostStarts = 25;
  const int64_t chip = cube_cores(),
                cores = t.form == TaskForm::kStarts ? std::min(kMostStarts, chip) : chip,
                used = std::min(cores, rows), most = (rows + cores - 1) / cores;
  const auto put = [&](int64_t at, int64_t value) { numbers[at] = static_cast<int32_t>(value); };
  if (t.form == TaskForm::kShares) {
    const int64_t shares[] = {rows, most, most - 1, most * cores - rows, used};
    for (int64_t i = 0; i < 5; ++i) put(i, rows == 0 ? 0 : shares[i]);
    return;
  }
  put(0, used);
  put(1, rows);
  put(2, most);
  for (int64_t core = 0; core < kMostStarts; ++core)
    put(kStartsOfCores + core,
        core < used ? rows / used * core + std::min(core, rows % used) : rows);
}

Status share_out(PlanContext &c, const Tasks &t) {
  std::vector<int64_t> starts;
  if (t.list_at != kAbsent) {
    if (const Status bad = read_starts(c, t, &starts)) return bad;
  }
  const int64_t rows = starts.empty() ? t.batch * t.each : starts.back();
  const int64_t cores = std::min({kCores, static_cast<int64_t>(cube_cores()), rows});
  auto *numbers = reinterpret_cast<int32_t *>(view_of(c.tensor(t.to)).data);
  std::memset(numbers, 0, static_cast<size_t>(t.numbers) * sizeof *numbers);
  if (t.form != TaskForm::kCores) {
    if (rows > kLargest)
      return fail(kKernelFault,
                  "%s: there are %" PRId64 " tokens; at most %" PRId64 " can be counted", t.op,
                  rows, kLargest);
    share_rows(t, rows, numbers);
    return 0;
  }
  const auto begin = [&](int64_t core) {
    return rows / cores * core + std::min(core, rows % cores);
  };
  for (int64_t core = 0; core < cores; ++core) {
    int32_t *task = numbers + core * t.fields;
    task[kEnabled] = 1;
    locate(t, starts, begin(core), task + kFirstSequence, task + kFirstToken);
    locate(t, starts, begin(core + 1), task + kLastSequence, task + kLastToken);
  }
  return 0;
}

}  // namespace

Status plan_tasks(Check &check, const TaskCall &c, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  each_list(c, [&](const Named<aclTensor> &t) { check.optional(t.name, t.given); });
  check.that(c.list.given != nullptr, "%s is null; it must be given", c.list.name);
  if (check.ok()) check.required(c.list.name, c.list.given);
  each_list(c, [&](const Named<aclTensor> &t) { check.dtype(t.name, t.given); });
  check.dtype(c.list.name, c.list.given);
  if (!check.ok()) return check.status();
  check.shape(c.list.name, c.list.given, dense_layout(&c.numbers, 1));
  check.that(c.list.given->contiguous(), "%s must be contiguous", c.list.name);
  const auto is = [](const char *layout, const char *name) {
    return layout != nullptr && std::strcmp(layout, name) == 0;
  };
  const char *query = c.query_layout ? c.query_layout : "BSND";
  const char *key = c.key_layout ? c.key_layout : "BSND";
  const bool packed = is(query, "TND"), paged = is(key, "PA_BBND");
  check.that(packed || is(query, "BSND"), "layoutQOptional is \"%.40s\"; allowed: BSND, TND",
             query);
  check.that(paged || is(key, "TND") || is(key, "BSND"),
             "%s is \"%.40s\"; allowed: BSND, TND, PA_BBND", c.key_layout_name, key);
  check.that(paged || std::strcmp(query, key) == 0,
             "%s is \"%.40s\"; it must be layoutQOptional, or PA_BBND", c.key_layout_name, key);
  check.that(c.batch >= 0 && c.batch <= kLargest,
             "batchSize is %" PRId64 "; allowed: 0 to %" PRId64, c.batch, kLargest);
  for (const TaskLengths *side : {&c.query, &c.key[0], &c.key[1]}) {
    check.that(side->longest_name == nullptr || (side->longest >= -1 && side->longest <= kLargest),
               "%s is %" PRId64 "; allowed: -1 to %" PRId64,
               side->longest_name ? side->longest_name : "", side->longest, kLargest);
  }
  check.that(!packed || given(c.query.offsets),
             "%s is null or empty; with layoutQOptional TND it is needed", c.query.offsets.name);
  check.that(!c.residuals_needed || given(c.residuals),
             "%s is null or empty; with a cmpRatio above 1 and a causal mask it is needed",
             c.residuals.name);
  if (!check.ok()) return check.status();
  const Source source = source_of(c, packed);
  const int64_t batch = source.list ? (*source.list)->numel() - (source.offsets ? 1 : 0) : c.batch;
  check_side(check, c.query, packed, !packed, batch, "layoutQOptional");
  for (const TaskLengths &side : c.key)
    check_side(check, side, is(key, "TND"), is(key, "BSND"), batch, c.key_layout_name);
  check.that(!paged || !c.key[0].needed || given(c.key[0].used),
             "%s is null or empty; with %s PA_BBND it is needed", c.key[0].used.name,
             c.key_layout_name);
  if (given(c.residuals))
    check_lengths(check, c.residuals.name, c.residuals.given, LengthList::kCounts, batch);
  if (!check.ok()) return check.status();
  PlanBuilder plan(c.op);
  Tasks tasks{};
  tasks.op = c.op;
  tasks.name = source.list ? source.list->name : "";
  tasks.offsets = source.offsets;
  tasks.list_at = kAbsent;
  each_list(c, [&](const Named<aclTensor> &t) {
    if (source.list != nullptr && t.name == source.list->name) tasks.list_at = plan.input(t.given);
    else if (t.name != nullptr) plan.unused(t.given);
  });
  tasks.batch = batch;
  tasks.each = std::max<int64_t>(c.query.longest, 0);
  tasks.fields = c.fields;
  tasks.form = c.form;
  tasks.numbers = c.numbers;
  tasks.to = plan.output(c.list.given);
  return plan.finish([tasks](PlanContext &context) { return share_out(context, tasks); },
                     workspace_size, executor);
}

}  // namespace emu
