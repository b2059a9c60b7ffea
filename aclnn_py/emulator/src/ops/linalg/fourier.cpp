// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Fourier transforms of real rows, and of windows that slide over signals. Both transform in
// complex128 and round once.
#include "aclnnop/math.h"
#include "ops/linalg/dft.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// CANN transforms any length up to the first, and powers of two up to the second.
constexpr int64_t kMostOfAnyLength = 4096, kMostOfPowers = 262144;
constexpr int64_t kBackward = 1, kForward = 2, kOrtho = 3;

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

// Spectra in rows: `frequencies` complex numbers each, or twice as many real ones.
class SpectrumTarget {
 public:
  explicit SpectrumTarget(const View &view)
      : complex_(is_complex(view.dtype)), pairs_(view), parts_(view) {}

  void write(int64_t row, int64_t frequencies, const Complex128 *from) const {
    if (complex_) {
      pairs_.write(row * frequencies, frequencies, from);
    } else {
      const auto *parts = reinterpret_cast<const double *>(from);
      parts_.write(row * 2 * frequencies, 2 * frequencies, parts);
    }
  }

 private:
  bool complex_;
  RowTarget<Complex128> pairs_;
  RowTarget<double> parts_;
};

// `view` with dimension `from` moved to place `to`.
View moved(View view, int from, int to) {
  Layout &layout = view.layout;
  const int64_t extent = layout.shape[from], step = layout.stride[from];
  for (; from < to; ++from) {
    layout.shape[from] = layout.shape[from + 1];
    layout.stride[from] = layout.stride[from + 1];
  }
  for (; from > to; --from) {
    layout.shape[from] = layout.shape[from - 1];
    layout.stride[from] = layout.stride[from - 1];
  }
  layout.shape[to] = extent;
  layout.stride[to] = step;
  return view;
}

struct RealTransform {
  int64_t n;
  int dim;
  int64_t norm;
};

void transform_rows(const View &self, const RealTransform &form, const View &out) {
  const int last = self.layout.rank - 1;
  const View rows = moved(self, form.dim, last), spectra = moved(out, form.dim, last);
  const int64_t width = rows.layout.shape[last], frequencies = form.n / 2 + 1;
  const auto size = static_cast<double>(form.n);
  const double scale = form.norm == kForward ? 1 / size
                       : form.norm == kOrtho ? 1 / std::sqrt(size)
                                             : 1;
  const Dft dft(form.n);
  const RowSource<Complex128> source(rows);
  const SpectrumTarget target(spectra);
  const int64_t count = width == 0 ? spectra.count() / (2 * frequencies) : rows.count() / width;
  parallel_for(count, std::max<int64_t>(1, 4096 / form.n), [&](int64_t begin, int64_t end) {
    std::vector<Complex128> row(static_cast<size_t>(form.n)), scratch;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t given = std::min(width, form.n);
      source.read(i * width, given, row.data());
      std::fill(row.begin() + given, row.end(), Complex128());
      dft.run(row.data(), scratch);
      for (int64_t k = 0; k < frequencies; ++k) row[static_cast<size_t>(k)] *= scale;
      target.write(i, frequencies, row.data());
    }
  });
}

struct Windows {
  int64_t fft, hop, length;
  bool normalized, onesided;

  int64_t frequencies() const { return onesided ? fft / 2 + 1 : fft; }
  int64_t count(int64_t samples) const { return (samples - fft) / hop + 1; }
};

void transform_windows(const View &self, const std::vector<Complex128> &window, const Windows &form,
                       const View &out) {
  const int64_t samples = self.layout.shape[self.layout.rank - 1];
  const int64_t count = form.count(samples), frequencies = form.frequencies();
  const double scale = form.normalized ? 1 / std::sqrt(static_cast<double>(form.fft)) : 1;
  const Dft dft(form.fft);
  const RowSource<Complex128> source(self);
  // In memory the windows lie beside each other: frequency, then window.
  const int axis = self.layout.rank - 1;
  const SpectrumTarget target(moved(out, axis, axis + 1));
  const int64_t rows = self.count() / samples * count;
  parallel_for(rows, std::max<int64_t>(1, 4096 / form.fft), [&](int64_t begin, int64_t end) {
    std::vector<Complex128> row(static_cast<size_t>(form.fft)), scratch;
    for (int64_t i = begin; i < end; ++i) {
      source.read(i / count * samples + i % count * form.hop, form.length, row.data());
      for (size_t k = 0; k < window.size(); ++k) row[k] *= window[k];
      std::fill(row.begin() + form.length, row.end(), Complex128());
      dft.run(row.data(), scratch);
      for (int64_t k = 0; k < frequencies; ++k) row[static_cast<size_t>(k)] *= scale;
      target.write(i, frequencies, row.data());
    }
  });
}

aclDataType real_of(aclDataType dtype) {
  if (dtype == ACL_COMPLEX64) return ACL_FLOAT;
  return dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

aclDataType complex_of(aclDataType dtype) {
  if (dtype == ACL_FLOAT) return ACL_COMPLEX64;
  return dtype == ACL_DOUBLE ? ACL_COMPLEX128 : dtype;
}

}  // namespace

EMU_OPERATOR_NAMED(aclRfft1D,
                   (const aclTensor *self, int64_t n, int64_t dim, int64_t norm, aclTensor *out)) {
  Check check("aclRfft1D");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.rank("self", self, 1, 7);
  if (!check.ok()) return check.status();
  check.that((n >= 1 && n <= kMostOfAnyLength) ||
                 (n > kMostOfAnyLength && n <= kMostOfPowers && is_power_of_two(n)),
             "n is %lld; it must lie in [1, %lld], or be a power of two up to %lld",
             static_cast<long long>(n), static_cast<long long>(kMostOfAnyLength),
             static_cast<long long>(kMostOfPowers));
  const int rank = static_cast<int>(self->rank());
  int axis = 0;
  check.that(wrap_dim(dim, rank, &axis), "dim is %lld; self has %d dimensions",
             static_cast<long long>(dim), rank);
  check.that(norm >= kBackward && norm <= kOrtho,
             "norm is %lld; it must be 1 (no factor), 2 (1 / n) or 3 (1 / sqrt(n))",
             static_cast<long long>(norm));
  if (!check.ok()) return check.status();
  Layout expected = layout_of(*self);
  expected.shape[axis] = n / 2 + 1;
  expected.push(2, 1);
  check.shape("out", out, expected);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclRfft1D");
  const size_t from = plan.input(self), to = plan.output(out);
  const RealTransform form{n, axis, norm};
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        transform_rows(operands.safe(view_of(c.tensor(from)), {result}), form, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR_NAMED(aclStft, (const aclTensor *self, const aclTensor *windowOptional, aclTensor *out,
                             int64_t nFft, int64_t hopLength, int64_t winLength, bool normalized,
                             bool onesided, bool returnComplex)) {
  Check check("aclStft");
  check.required("self", self).optional("windowOptional", windowOptional).required("out", out);
  check.dtype("self", self).dtype("windowOptional", windowOptional).dtype("out", out);
  if (!check.ok()) return check.status();
  if (windowOptional != nullptr) {
    check.same_dtype("windowOptional", windowOptional->dtype, "self", self->dtype);
    check.rank("windowOptional", windowOptional, 1, 1);
  }
  const aclDataType wanted = returnComplex ? complex_of(self->dtype) : real_of(self->dtype);
  check.that(out->dtype == wanted,
             "out has dtype %s; with self of %s and returnComplex %s it is %s",
             dtype_name(out->dtype), dtype_name(self->dtype), returnComplex ? "true" : "false",
             dtype_name(wanted));
  check.rank("self", self, 1, 2);
  check.that(!onesided || !is_complex(self->dtype),
             "onesided is true; the transform of a complex self has no redundant half: pass false");
  if (!check.ok()) return check.status();
  const Layout given = layout_of(*self);
  const int64_t samples = given.shape[given.rank - 1];
  check.that(given.count() > 0, "self has shape %s; it must have elements",
             shape_text(given).c_str());
  check.that(nFft >= 1 && nFft <= samples, "nFft is %lld; it must lie in [1, %lld], the samples",
             static_cast<long long>(nFft), static_cast<long long>(samples));
  check.that(hopLength >= 1, "hopLength is %lld; it must be positive",
             static_cast<long long>(hopLength));
  check.that(winLength >= 1 && winLength <= nFft, "winLength is %lld; it must lie in [1, nFft]",
             static_cast<long long>(winLength));
  if (!check.ok()) return check.status();
  const Windows form{nFft, hopLength, winLength, normalized, onesided};
  if (windowOptional != nullptr) {
    Layout width;
    width.push(winLength, 1);
    check.shape("windowOptional", windowOptional, width);
  }
  Layout expected;
  if (given.rank == 2) expected.push(given.shape[0], 1);
  expected.push(form.frequencies(), 1);
  expected.push(form.count(samples), 1);
  if (!returnComplex) expected.push(2, 1);
  check.shape("out", out, expected);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclStft");
  const size_t from = plan.input(self), taper = plan.input_if(windowOptional),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        std::vector<Complex128> window;
        if (c.has(taper)) window = read_all<Complex128>(c, taper, form.length, 0);
        transform_windows(operands.safe(view_of(c.tensor(from)), {result}), window, form, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
