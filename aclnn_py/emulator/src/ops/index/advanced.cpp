// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// self[i, None, j, ...] with one index tensor per dimension: Index and IndexPutImpl. Index tensors
// broadcast against each other; a mask of bools stands for the coordinates of its true elements.
// The dimensions they replace stand where the first of them was when they are neighbours, in front
// otherwise.
#include "aclnnop/index.h"
#include "core/statuses.h"
#include "ops/index/addresses.h"
#include "ops/index/masks.h"
#include "ops/shape/movement.h"

#include <string>

namespace emu {
namespace {

// One entry of the list at rest: which dimensions of self it speaks for.
struct Entry {
  bool given = false, mask = false;
  int dims = 1;
};

// An absent entry is a null pointer or an empty tensor of one dimension.
bool absent(const aclTensor *tensor) {
  return tensor == nullptr ||
         (tensor->rank() == 1 && tensor->shape[0] == 0 && tensor->data == nullptr);
}

bool is_mask(const aclTensor &tensor) {
  return tensor.dtype == ACL_BOOL || tensor.dtype == ACL_UINT8;
}

Check &check_entries(Check &check, const char *self_name, const aclTensor *self,
                     const aclTensorList *indices, bool plain, std::vector<Entry> *entries) {
  int used = 0, given = 0;
  for (size_t i = 0; check.ok() && i < indices->members.size(); ++i) {
    const aclTensor *index = indices->members[i];
    Entry entry;
    if (!absent(index)) {
      const std::string name = "indices[" + std::to_string(i) + "]";
      check.required(name.c_str(), index);
      if (!check.ok()) return check;
      check.dtype("indices", index).rank(name.c_str(), index, 0, 8);
      if (plain) check.plain_format(name.c_str(), index);
      entry.given = true;
      ++given;
      if (is_mask(*index)) {
        entry.mask = true;
        entry.dims = static_cast<int>(index->rank());
        for (size_t d = 0; check.ok() && d < index->rank(); ++d) {
          const size_t at = static_cast<size_t>(used) + d;
          check.that(at < self->rank() && index->shape[d] == self->shape[at],
                     "%s has shape %s, which is not that of %s from dimension %d", name.c_str(),
                     shape_text(layout_of(*index)).c_str(), self_name, used);
        }
      }
    }
    used += entry.dims;
    entries->push_back(entry);
  }
  check.that(used <= static_cast<int>(self->rank()), "indices speaks for %d dimensions; %s has %zu",
             used, self_name, self->rank());
  return check.that(given > 0, "indices holds no index");
}

// The walk of an advanced index: its shape, the addresses in self and where the index dimensions
// stand.
struct Selection {
  Layout walk;
  View base;
  std::vector<View> names;
  std::vector<int64_t> extents, strides;
  std::vector<std::vector<int64_t>> coordinates;  // of masks
  std::vector<std::unique_ptr<Snapshot>> kept;

  Addresses addresses() const {
    Addresses list(base);
    for (size_t i = 0; i < names.size(); ++i)
      list.add_index(names[i], extents[i], strides[i], Negative::kFromEnd);
    return list;
  }
};

// Shapes of masks are known only when their elements are: false when the index tensors do not
// broadcast. Those that lie under `written` are copied first.
bool resolve(PlanContext &c, size_t first, const std::vector<Entry> &entries, const View &self,
             const View &written, Selection *s) {
  std::vector<View> raw;
  // from_mask: which vector of coordinates, -1 for an index tensor, -2 for a single truth value
  std::vector<int> dims, from_mask;
  std::vector<size_t> places;  // in the list of indices
  std::vector<bool> indexed(static_cast<size_t>(self.layout.rank));
  int d = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].given) {
      View index = view_of(c.tensor(first + i));
      if (clash(index, written) || index.data == written.data) {
        s->kept.push_back(std::make_unique<Snapshot>(index));
        index = s->kept.back()->view();
      }
      if (entries[i].mask && entries[i].dims == 0) {
        // A bool index of rank 0 adds a dimension with one element (true) or none (false).
        View line;
        line.dtype = ACL_INT64;
        line.layout.push(Truth(index)[0] ? 1 : 0, 1);
        raw.push_back(line);
        dims.push_back(d);
        from_mask.push_back(-2);
        places.push_back(i);
      } else if (entries[i].mask) {
        const size_t at = s->coordinates.size();
        true_coordinates(index, &s->coordinates);
        for (int m = 0; m < entries[i].dims; ++m) {
          View line;
          line.dtype = ACL_INT64;
          line.layout.push(static_cast<int64_t>(s->coordinates[at].size()), 1);
          raw.push_back(line);
          dims.push_back(d + m);
          from_mask.push_back(static_cast<int>(at) + m);
          places.push_back(i);
        }
      } else {
        raw.push_back(index);
        dims.push_back(d);
        from_mask.push_back(-1);
        places.push_back(i);
      }
      for (int m = 0; m < entries[i].dims; ++m) indexed[static_cast<size_t>(d + m)] = true;
    }
    d += entries[i].dims;
  }
  // The vectors of coordinates have their final address only now.
  for (size_t i = 0; i < raw.size(); ++i) {
    if (from_mask[i] < 0) continue;
    raw[i].data =
        reinterpret_cast<char *>(s->coordinates[static_cast<size_t>(from_mask[i])].data());
  }
  Layout met = raw[0].layout;
  for (const View &view : raw) {
    Layout wider;
    if (!broadcast_shapes(met, view.layout, &wider)) return false;
    met = wider;
  }
  bool neighbours = true;
  for (size_t i = 1; i < places.size(); ++i)
    neighbours = neighbours && places[i] <= places[i - 1] + 1;
  const int place = neighbours ? dims[0] : 0;
  s->base = self;
  s->base.layout = Layout();
  int front = 0;
  const auto push_index = [&] {
    front = s->walk.rank;
    for (int m = 0; m < met.rank; ++m) {
      s->walk.push(met.shape[m], 0);
      s->base.layout.push(met.shape[m], 0);
    }
  };
  if (!neighbours) push_index();
  for (int m = 0; m < self.layout.rank; ++m) {
    if (neighbours && m == place) push_index();
    if (indexed[static_cast<size_t>(m)]) continue;
    s->walk.push(self.layout.shape[m], 0);
    s->base.layout.push(self.layout.shape[m], self.layout.stride[m]);
  }
  if (neighbours && place == self.layout.rank) push_index();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (from_mask[i] == -2) continue;
    const Layout spread = broadcast_to(raw[i].layout, met);
    View name = raw[i];
    name.layout = still(s->walk);
    for (int m = 0; m < met.rank; ++m) name.layout.stride[front + m] = spread.stride[m];
    s->names.push_back(name);
    s->extents.push_back(self.layout.shape[dims[i]]);
    s->strides.push_back(self.layout.stride[dims[i]]);
  }
  return true;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Index, (const aclTensor *self, const aclTensorList *indices, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnIndex");
  check.required("self", self)
      .required("indices", indices)
      .required("out", out)
      .dtype("self", self);
  check.rank("self", self, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  std::vector<Entry> entries;
  check.plain_format("self", self).plain_format("out", out);
  check_entries(check, "self", self, indices, true, &entries);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnIndex", KernelTime::linear);
  const size_t from = plan.input(self), first = plan.input_list(indices), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Selection selection;
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        if (!resolve(c, first, entries, source, target, &selection)) {
          return fail(emu::kKernelFault,
                      "aclnnIndex: the members of indices do not broadcast to one shape");
        }
        if (!same_shape(selection.walk, target.layout)) {
          return fail(emu::kKernelFault, "aclnnIndex: out has shape %s; the indices select %s",
                      shape_text(target.layout).c_str(), shape_text(selection.walk).c_str());
        }
        if (target.count() == 0) return Status{0};
        IndexFault fault;
        const Addresses chosen = selection.addresses();
        // Nothing is written when an index is wrong.
        if (!chosen.in_range(fault)) return fault.status("aclnnIndex", "indices");
        if (target.data == source.data || clash(source, target)) {
          const Snapshot aside(target);
          copy_addressed(chosen, Addresses(aside.view()), Order::kFree, fault);
          copy_view(aside.view(), target);
        } else {
          copy_addressed(chosen, Addresses(target), Order::kFree, fault);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// `unsafe` leaves range checks out on the hardware; here they are always made.
EMU_OPERATOR(IndexPutImpl, (aclTensor *selfRef, const aclTensorList *indices,
                            const aclTensor *values, bool accumulate, bool unsafe)) {
  using namespace emu;
  (void)unsafe;
  Check check("aclnnIndexPutImpl");
  check.required("selfRef", selfRef)
      .required("indices", indices)
      .required("values", values)
      .dtype("selfRef", selfRef);
  check.rank("selfRef", selfRef, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("values", values->dtype, "selfRef", selfRef->dtype);
  std::vector<Entry> entries;
  check_entries(check, "selfRef", selfRef, indices, false, &entries);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnIndexPutImpl", KernelTime::linear);
  const size_t to = plan.output(selfRef), first = plan.input_list(indices),
               from = plan.input(values);
  return plan.finish(
      [=](PlanContext &c) {
        Selection selection;
        const View target = view_of(c.tensor(to));
        if (!resolve(c, first, entries, target, target, &selection)) {
          return fail(emu::kKernelFault,
                      "aclnnIndexPutImpl: the members of indices do not broadcast to one shape");
        }
        const Snapshot kept(view_of(c.tensor(from)));
        View source = kept.view();
        Layout met;
        if (!broadcast_shapes(source.layout, selection.walk, &met) ||
            !same_shape(met, selection.walk)) {
          return fail(
              emu::kKernelFault,
              "aclnnIndexPutImpl: values %s does not broadcast to the %s the indices select",
              shape_text(source.layout).c_str(), shape_text(selection.walk).c_str());
        }
        if (selection.walk.count() == 0) return Status{0};
        source.layout = broadcast_to(source.layout, selection.walk);
        IndexFault fault;
        if (accumulate) {
          combine_addressed(Addresses(source), selection.addresses(), Combine::kAdd, fault);
        } else {
          copy_addressed(Addresses(source), selection.addresses(), Order::kSequential, fault);
        }
        return fault.status("aclnnIndexPutImpl", "indices");
      },
      workspaceSize, executor);
}
EMU_CATCH
