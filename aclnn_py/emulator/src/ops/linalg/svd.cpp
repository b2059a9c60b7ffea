// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Singular values: a matrix becomes triangular, then bidiagonal, then diagonal. Values come in
// descending order; the signs of the vectors are not prescribed. A matrix with an infinity or NaN
// has NaN for all results.
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "aclnnop/math.h"
#include "core/statuses.h"
#include "ops/linalg/bidiagonal.h"
#include "ops/linalg/rotations.h"
#include "ops/op.h"

namespace emu {
namespace {

// A = U diag(values) V^H, with the columns of U and V as lines.
template <class T>
struct Singular {
  std::vector<double> values;
  Lines<T> u, v;
  bool converged = true;
};

// What to compute beside the values.
struct Vectors {
  bool any, full;  // full: U and V are square; else they have as many columns as there are values
};

RotatedLines rotated(Lines<double> *lines) {
  return {lines->at(0), lines->length(), lines->stride()};
}
RotatedLines rotated(Lines<Complex128> *lines) {  // real rotations turn both parts alike
  return {reinterpret_cast<double *>(lines->at(0)), 2 * lines->length(), 2 * lines->stride()};
}

// Line k becomes what line order[k] was.
template <class T>
void reorder(Lines<T> *lines, std::vector<int64_t> order) {
  for (int64_t start = 0; start < lines->count(); ++start) {
    for (int64_t k = start;;) {
      const int64_t from = std::exchange(order[static_cast<size_t>(k)], k);
      if (from == start || from == k) break;
      std::swap_ranges(lines->at(k), lines->at(k) + lines->length(), lines->at(from));
      k = from;
    }
  }
}

// Values without signs, the largest first, and their vectors.
template <class T>
void sort_descending(Singular<T> *of, bool vectors) {
  std::vector<double> &values = of->values;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!std::signbit(values[k])) continue;
    values[k] = -values[k];
    if (!vectors) continue;
    T *line = of->v.at(static_cast<int64_t>(k));
    for (int64_t i = 0; i < of->v.length(); ++i) line[i] *= -1.0;
  }
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return values[static_cast<size_t>(i)] > values[static_cast<size_t>(j)];
  });
  std::sort(values.begin(), values.end(), std::greater<double>());
  if (!vectors) return;
  reorder(&of->u, order);
  reorder(&of->v, order);
}

// Of a square matrix, given by its columns.
template <class T>
Singular<T> decompose_square(Lines<T> columns, bool vectors) {
  const int64_t n = columns.count();
  Singular<T> result;
  std::vector<double> above;
  {
    Bidiagonal<T> form(&columns, vectors);
    columns = {};
    result.values = std::move(form.diagonal);
    above = std::move(form.above);
    if (vectors) {
      result.u = orthogonal_columns(form.left, n, n);
      result.v = orthogonal_columns(form.right, n, n);
    }
  }
  const RotatedLines none{nullptr, 0, 0};
  result.converged = diagonalise(&result.values, &above, vectors ? rotated(&result.u) : none,
                                 vectors ? rotated(&result.v) : none);
  sort_descending(&result, vectors);
  return result;
}

// Lines with zeros behind them up to `length`; unit lines follow up to `count`.
template <class T>
Lines<T> padded(const Lines<T> &lines, int64_t count, int64_t length) {
  Lines<T> result(count, length);
  for (int64_t k = 0; k < lines.count(); ++k)
    std::copy_n(lines.at(k), lines.length(), result.at(k));
  for (int64_t k = lines.count(); k < count; ++k) result.at(k)[k] = T(1);
  return result;
}

// Of a matrix with at least as many rows as columns, given by its columns, whose largest element is
// about 1.
template <class T>
Singular<T> decompose_tall(Lines<T> columns, const Vectors &wanted) {
  const int64_t n = columns.count(), length = columns.length();
  if (length == n) return decompose_square(std::move(columns), wanted.any);
  std::vector<Reflections<T>> outer = triangulate(&columns);
  Lines<T> upper(n, n);
  for (int64_t k = 0; k < n; ++k) std::copy_n(columns.at(k), k + 1, upper.at(k));
  columns = {};
  Singular<T> result = decompose_square(std::move(upper), wanted.any);
  if (!wanted.any) return result;
  result.u = padded(result.u, wanted.full ? length : n, length);
  reflect_all(outer, false, &result.u);
  return result;
}

// Lines as the columns of a matrix.
template <class T>
Numbers<T> matrix_of_columns(Lines<T> *lines) {
  DenseMatrix<T> result(lines->length(), lines->count());
  turn_over(lines->part(0, 0, lines->count()), whole(&result));
  return std::move(result.items);
}

double largest_part(double x) { return std::abs(x); }
double largest_part(Complex128 x) { return std::max(std::abs(x.real()), std::abs(x.imag())); }

// A power of two that brings the largest element of a finite matrix near 1.
template <class T>
int scale_of(const DenseMatrix<T> &a) {
  double largest = 0;
  for (const T &item : a.items) largest = std::max(largest, largest_part(item));
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  return -exponent;
}

template <class T>
Numbers<T> numberless(int64_t count) {
  return Numbers<T>(static_cast<size_t>(count), T(std::numeric_limits<double>::quiet_NaN()));
}

// Values, U and V of one matrix, where they are wanted.
template <class T>
struct Decomposed {
  Numbers<T> values, u, v;
  bool converged = true;
};

template <class T>
Decomposed<T> decompose(DenseMatrix<T> a, const Vectors &wanted) {
  const int64_t m = a.rows, n = a.columns, least = std::min(m, n);
  if (!std::all_of(a.items.begin(), a.items.end(), [](const T &x) { return is_finite(x); })) {
    return {numberless<T>(least), numberless<T>(m * (wanted.full ? m : least)),
            numberless<T>(n * (wanted.full ? n : least)), true};
  }
  const int scale = scale_of(a);
  // In two steps: one power of two may not be a number.
  const double half = std::ldexp(1.0, scale / 2), rest = std::ldexp(1.0, scale - scale / 2);
  for (T &item : a.items) item = item * half * rest;
  // The rows of a matrix that is not tall are the conjugate columns of one that is.
  const bool tall = m > n;
  Lines<T> columns(least, std::max(m, n));
  if (tall) {
    turn_over(whole(&a), columns.part(0, 0, n));
  } else {
    for (int64_t i = 0; i < m; ++i)
      std::transform(a.items.begin() + i * n, a.items.begin() + (i + 1) * n, columns.at(i),
                     [](const T &x) { return conjugate(x); });
  }
  a = {};
  Singular<T> found = decompose_tall(std::move(columns), wanted);
  if (!tall) std::swap(found.u, found.v);
  Decomposed<T> result{{}, {}, {}, found.converged};
  for (const double value : found.values) result.values.push_back(T(std::ldexp(value, -scale)));
  if (!wanted.any) return result;
  result.u = matrix_of_columns(&found.u);
  result.v = matrix_of_columns(&found.v);
  return result;
}

struct Results {
  View sigma, u, v;
  Vectors wanted;
};

// Whether all matrices converged.
template <class T>
bool decompose_all(const View &in, const Results &out) {
  const MatrixReader<T> reader(in);
  const MatrixWriter<T> write_sigma(out.sigma), write_u(out.u), write_v(out.v);
  const int64_t rows = in.layout.shape[in.layout.rank - 2],
                columns = in.layout.shape[in.layout.rank - 1];
  const int64_t batch = batch_count(in.layout);
  std::vector<char> failed(static_cast<size_t>(batch));
  for_each_matrix(batch, rows, columns, [&](int64_t index) {
    const Decomposed<T> result = decompose(reader.read(index), out.wanted);
    failed[static_cast<size_t>(index)] = !result.converged;
    write_sigma.put(index, result.values);
    if (!out.wanted.any) return;
    write_u.put(index, result.u);
    write_v.put(index, result.v);
  });
  return std::none_of(failed.begin(), failed.end(), [](char one) { return one != 0; });
}

}  // namespace

// Without `computeUV` u and v may have any shape and are filled with zeros.
EMU_OPERATOR(Svd, (const aclTensor *input, bool fullMatrices, bool computeUV, aclTensor *sigma,
                   aclTensor *u, aclTensor *v)) {
  Check check("aclnnSvd");
  check.required("input", input).required("sigma", sigma).required("u", u).required("v", v);
  check.dtype("input", input).dtype("sigma", sigma).dtype("u", u).dtype("v", v);
  if (!check.ok()) return check.status();
  check.same_dtype("sigma", sigma->dtype, "input", input->dtype)
      .same_dtype("u", u->dtype, "input", input->dtype);
  check.same_dtype("v", v->dtype, "input", input->dtype).rank("input", input, 2, 8);
  if (!check.ok()) return check.status();
  const Layout in = layout_of(*input);
  const int64_t m = in.shape[in.rank - 2], n = in.shape[in.rank - 1], k = std::min(m, n);
  if (computeUV) check.shape("u", u, batch_shape(in, {m, fullMatrices ? m : k}));
  check.shape("sigma", sigma, batch_shape(in, {k}));
  if (computeUV) check.shape("v", v, batch_shape(in, {n, fullMatrices ? n : k}));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnSvd");
  const size_t source = plan.input(input), values = plan.output(sigma), left = plan.output(u),
               right = plan.output(v);
  return plan.finish(
      [=](PlanContext &context) {
        const Results out{view_of(context.tensor(values)),
                          view_of(context.tensor(left)),
                          view_of(context.tensor(right)),
                          {computeUV, fullMatrices}};
        const SafeView from(view_of(context.tensor(source)), {out.sigma, out.u, out.v});
        bool converged = true;
        with_wide_type(from.view().dtype, [&](auto zero) {
          converged = decompose_all<decltype(zero)>(from.view(), out);
        });
        if (!computeUV) {
          const Complex128 zero{};
          fill_view(out.u, &zero);
          fill_view(out.v, &zero);
        }
        if (!converged)
          return fail(kKernelFault, "aclnnSvd: the singular values of a matrix did not converge");
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
