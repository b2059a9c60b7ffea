// SPDX-License-Identifier: Apache-2.0
// Singular values by one-sided Jacobi rotations: columns are turned against each other until all
// are orthogonal; then their lengths are the singular values. Where the rank ends, columns of zeros
// are left. Values come in descending order; the signs of the vectors are not prescribed. A matrix
// with an infinity or NaN has NaN for all results.
#include <limits>
#include <numeric>

#include "aclnnop/math.h"
#include "core/statuses.h"
#include "ops/linalg/householder.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr int kMostSweeps = 100;  // a dozen do for anything but a defect
// Columns shorter than this, in a matrix whose largest element is 1, count as zeros: their squares
// near the end of the range of float64, where angles between them mean nothing.
constexpr double kNegligible = 1e-140;

// A = U diag(values) V^H.
template <class T>
struct Singular {
  std::vector<double> values;
  DenseMatrix<T> u, v;
  bool converged = true;
};

// Columns as rows of memory: rows of the matrices here are what the algorithm calls columns.
template <class T>
void rotate(T *x, T *y, int64_t count, double c, T s) {
  for (int64_t i = 0; i < count; ++i) {
    const T left = x[i], right = y[i];
    x[i] = c * left - conjugate(s) * right;
    y[i] = s * left + c * right;
  }
}

// Turns columns p and q until they are orthogonal; false when they are already.
template <class T>
bool turn(DenseMatrix<T> *columns, DenseMatrix<T> *turns, int64_t p, int64_t q, double tolerance) {
  const int64_t length = columns->columns;
  T *x = columns->items.data() + p * length, *y = columns->items.data() + q * length;
  double a = 0, b = 0;
  T product{};
  for (int64_t i = 0; i < length; ++i) {
    a += squared(x[i]);
    b += squared(y[i]);
    product += conjugate(x[i]) * y[i];
  }
  if (std::min(a, b) < kNegligible * kNegligible) return false;
  const double size = std::abs(product);
  if (size == 0 || size <= tolerance * std::sqrt(a) * std::sqrt(b)) return false;
  const double zeta = (b - a) / (2 * size);
  const double tangent = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::hypot(1, zeta));
  const double cosine = 1 / std::hypot(1, tangent);
  const T sine = cosine * tangent * (product / size);
  rotate(x, y, length, cosine, sine);
  rotate(turns->items.data() + p * turns->columns, turns->items.data() + q * turns->columns,
         turns->columns, cosine, sine);
  return true;
}

// Orthonormal columns in the order of `order`, scaled from those that are not negligible; the
// others, and more up to `wanted`, complete the basis.
template <class T>
DenseMatrix<T> basis(const DenseMatrix<T> &columns, const std::vector<int64_t> &order,
                     const std::vector<double> &lengths, int64_t wanted) {
  const int64_t height = columns.columns;
  int64_t known = 0;
  while (known < static_cast<int64_t>(order.size()) &&
         lengths[static_cast<size_t>(known)] > kNegligible)
    ++known;
  DenseMatrix<T> result(height, wanted);
  DenseMatrix<T> found(height, known);
  for (int64_t j = 0; j < known; ++j) {
    for (int64_t i = 0; i < height; ++i) {
      found.at(i, j) =
          columns.at(order[static_cast<size_t>(j)], i) / lengths[static_cast<size_t>(j)];
    }
  }
  const DenseMatrix<T> rest =
      known < wanted ? orthogonal_factor(reflections(found), wanted) : DenseMatrix<T>();
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < wanted; ++j)
      result.at(i, j) = j < known ? found.at(i, j) : rest.at(i, j);
  }
  return result;
}

// For a matrix with at least as many rows as columns; `wanted` columns of U.
template <class T>
Singular<T> decompose_tall(const DenseMatrix<T> &a, int64_t wanted) {
  const int64_t n = a.columns;
  DenseMatrix<T> columns(n, a.rows), turns(n, n);
  double largest = 0;
  for (const T &item : a.items) largest = std::max(largest, static_cast<double>(std::abs(item)));
  const double scale = largest > 0 ? largest : 1;
  for (int64_t j = 0; j < n; ++j) {
    turns.at(j, j) = T(1);
    for (int64_t i = 0; i < a.rows; ++i) columns.at(j, i) = a.at(i, j) / scale;
  }
  const double tolerance =
      std::numeric_limits<double>::epsilon() * static_cast<double>(std::max<int64_t>(8, a.rows));
  Singular<T> result;
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) turned |= turn(&columns, &turns, p, q, tolerance);
    }
  }
  result.converged = !turned;
  std::vector<double> lengths(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    lengths[static_cast<size_t>(j)] = length_of(columns.items.data() + j * a.rows, a.rows, 1);
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return lengths[static_cast<size_t>(i)] > lengths[static_cast<size_t>(j)];
  });
  std::vector<double> sorted;
  for (const int64_t j : order) sorted.push_back(lengths[static_cast<size_t>(j)]);
  result.u = basis(columns, order, sorted, wanted);
  result.v = DenseMatrix<T>(n, n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) result.v.at(i, j) = turns.at(order[static_cast<size_t>(j)], i);
  }
  for (const double length : sorted) result.values.push_back(length * scale);
  return result;
}

// `full`: U and V are square; else they have as many columns as there are values.
template <class T>
Singular<T> decompose(const DenseMatrix<T> &a, bool full) {
  const int64_t most = std::max(a.rows, a.columns), least = std::min(a.rows, a.columns);
  const bool tall = a.rows >= a.columns;
  if (!std::all_of(a.items.begin(), a.items.end(), [](const T &x) { return is_finite(x); })) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Singular<T> result{std::vector<double>(static_cast<size_t>(least), nan),
                       DenseMatrix<T>(a.rows, full ? a.rows : least),
                       DenseMatrix<T>(a.columns, full ? a.columns : least)};
    std::fill(result.u.items.begin(), result.u.items.end(), T(nan));
    std::fill(result.v.items.begin(), result.v.items.end(), T(nan));
    return result;
  }
  Singular<T> result = decompose_tall(tall ? a : conjugate_transposed(a), full ? most : least);
  if (!tall) std::swap(result.u, result.v);
  return result;
}

struct Results {
  View sigma, u, v;
  bool vectors;
};

// Whether all matrices converged.
template <class T>
bool decompose_all(const View &in, bool full, const Results &out) {
  const MatrixReader<T> reader(in);
  const MatrixWriter<T> write_sigma(out.sigma), write_u(out.u), write_v(out.v);
  const int64_t rows = in.layout.shape[in.layout.rank - 2],
                columns = in.layout.shape[in.layout.rank - 1];
  const int64_t batch = batch_count(in.layout);
  std::vector<char> failed(static_cast<size_t>(batch));
  for_each_matrix(batch, rows, columns, [&](int64_t index) {
    Singular<T> result = decompose(reader.read(index), full);
    failed[static_cast<size_t>(index)] = !result.converged;
    write_sigma.put(index, std::vector<T>(result.values.begin(), result.values.end()));
    if (!out.vectors) return;
    write_u.put(index, result.u.items);
    write_v.put(index, result.v.items);
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
        const Results out{view_of(context.tensor(values)), view_of(context.tensor(left)),
                          view_of(context.tensor(right)), computeUV};
        const SafeView from(view_of(context.tensor(source)), {out.sigma, out.u, out.v});
        bool converged = true;
        with_wide_type(from.view().dtype, [&](auto zero) {
          converged = decompose_all<decltype(zero)>(from.view(), fullMatrices, out);
        });
        if (!computeUV) {
          const Complex128 zero{};
          fill_view(out.u, &zero);
          fill_view(out.v, &zero);
        }
        if (!converged)
          return fail(kKernelFault, "aclnnSvd: no convergence after %d sweeps", kMostSweeps);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
