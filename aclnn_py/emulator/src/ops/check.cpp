// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/check.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "core/refusal.h"
#include "core/statuses.h"
#include "ops/view.h"

namespace emu {
namespace {

bool is_private(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NC1HWC0:
    case ACL_FORMAT_NC1HWC0_C04:
    case ACL_FORMAT_NDC1HWC0:
    case ACL_FORMAT_FRACTAL_Z:
    case ACL_FRACTAL_Z_3D:
    case ACL_FORMAT_FRACTAL_NZ:
    case ACL_FORMAT_FRACTAL_NZ_C0_2:
    case ACL_FORMAT_FRACTAL_NZ_C0_4:
    case ACL_FORMAT_FRACTAL_NZ_C0_8:
    case ACL_FORMAT_FRACTAL_NZ_C0_16:
    case ACL_FORMAT_FRACTAL_NZ_C0_32: return true;
    default: return false;
  }
}

// "0 to 8", or "3, 5".
std::string rank_list(RankSet ranks) {
  std::vector<int> listed;
  for (int rank = 0; rank < 64; ++rank) {
    if (((ranks >> rank) & 1) != 0) listed.push_back(rank);
  }
  const bool gapless = listed.back() - listed.front() + 1 == static_cast<int>(listed.size());
  if (gapless) return std::to_string(listed.front()) + " to " + std::to_string(listed.back());
  std::string text;
  for (const int rank : listed) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

}  // namespace

template <class Handle>
Check &Check::required(const char *parameter, const Handle *given) {
  if (!ok()) return *this;
  if (given == nullptr) return null(parameter);
  return live(given) ? countable(parameter, given) : stale(parameter);
}

template <class Handle>
Check &Check::optional(const char *parameter, const Handle *given) {
  if (given == nullptr || !ok()) return *this;
  return live(given) ? countable(parameter, given) : stale(parameter);
}

template <class Handle>
Check &Check::countable(const char *parameter, const Handle *given) {
  if constexpr (std::is_same_v<Handle, aclTensor>) {
    if (!given->countable) return uncountable(parameter, *given);
  } else if constexpr (std::is_same_v<Handle, aclScalar>) {
    return readable(parameter, *given);
  } else if constexpr (std::is_same_v<Handle, aclScalarList>) {
    for (const aclScalar *member : given->members) {
      if (member != nullptr && live(member) && ok()) readable(parameter, *member);
    }
  } else if constexpr (std::is_same_v<Handle, aclTensorList>) {
    for (const aclTensor *member : given->members) {
      if (member != nullptr && live(member) && !member->countable)
        return uncountable(parameter, *member);
    }
  }
  return *this;
}

#define EMU_HANDLE(TYPE)                                       \
  template Check &Check::required(const char *, const TYPE *); \
  template Check &Check::optional(const char *, const TYPE *);
EMU_HANDLE(aclTensor)
EMU_HANDLE(aclScalar)
EMU_HANDLE(aclIntArray)
EMU_HANDLE(aclFloatArray)
EMU_HANDLE(aclBoolArray)
EMU_HANDLE(aclTensorList)
EMU_HANDLE(aclScalarList)
#undef EMU_HANDLE

Check &Check::null(const char *parameter) {
  status_ = fail_about("null", parameter, kNullPointer, "%s: %s is null", op_, parameter);
  return *this;
}

Check &Check::stale(const char *parameter) {
  status_ = fail_about("value", parameter, refusal_,
                       "%s: %s was destroyed or is not a handle of this kind", op_, parameter);
  return *this;
}

Check &Check::uncountable(const char *parameter, const aclTensor &given) {
  status_ = fail_about(
      "shape", parameter, refusal_,
      "%s: %s has shape %s, strides %s and offset %lld; its elements, or the bytes from "
      "the first to the last, are more than 64 bits can count",
      op_, parameter, shape_text(given.shape.data(), static_cast<int>(given.shape.size())).c_str(),
      shape_text(given.strides.data(), static_cast<int>(given.strides.size())).c_str(),
      static_cast<long long>(given.offset));
  return *this;
}

int64_t Check::size(const char *parameter, Checked value) {
  that(value.fits(), "%s makes a size that does not fit 64 bits", parameter);
  return value.fits() ? value.value() : 0;
}

Check &Check::dtype(const char *parameter, const aclTensor *tensor, DtypeSet refused) {
  if (!ok() || tensor == nullptr) return *this;
  return dtype_in(parameter, tensor->dtype, facts_.dtypes_of(parameter) & ~refused);
}

Check &Check::dtype(const char *parameter, const aclScalar *scalar, DtypeSet refused) {
  if (!ok() || scalar == nullptr) return *this;
  return dtype_in(parameter, scalar->dtype, facts_.dtypes_of(parameter) & ~refused);
}

Check &Check::dtype_in(const char *parameter, aclDataType given, DtypeSet allowed) {
  if (ok() && !contains(allowed, given)) {
    status_ = fail_about("dtype", parameter, refusal_, "%s: %s has dtype %s; allowed: %s", op_,
                         parameter, dtype_name(given), dtype_list(allowed).c_str());
  }
  return *this;
}

Check &Check::same_dtype(const char *parameter, aclDataType given, const char *other,
                         aclDataType expected) {
  if (ok() && given != expected) {
    status_ =
        fail_about("dtype", parameter, refusal_, "%s: %s has dtype %s; it must have that of %s, %s",
                   op_, parameter, dtype_name(given), other, dtype_name(expected));
  }
  return *this;
}

Check &Check::castable(aclDataType from, const char *parameter, aclDataType to) {
  if (ok() && !can_cast(from, to)) {
    // Programs look for the words in the middle, which CANN's text has too.
    status_ =
        fail_about("dtype", parameter, refusal_,
                   "%s: the result's dtype %s can't be cast to the desired output type %s of %s",
                   op_, dtype_name(from), dtype_name(to), parameter);
  }
  return *this;
}

Check &Check::rank(const char *parameter, const aclTensor *tensor) {
  if (!ok() || tensor == nullptr) return *this;
  const RankSet allowed = facts_.ranks_of(parameter);
  const size_t rank = tensor->rank();
  if (rank >= 64 || ((allowed >> rank) & 1) == 0) {
    status_ = fail(refusal_, "%s: %s has %zu dimensions; allowed: %s", op_, parameter, rank,
                   rank_list(allowed).c_str());
  }
  return *this;
}

Check &Check::rank(const char *parameter, const aclTensor *tensor, int lowest, int highest) {
  if (!ok() || tensor == nullptr) return *this;
  const int rank = static_cast<int>(tensor->rank());
  if (rank < lowest || rank > highest) {
    status_ = fail_about("rank", parameter, refusal_, "%s: %s has %d dimensions; allowed: %d to %d",
                         op_, parameter, rank, lowest, highest);
  }
  return *this;
}

Check &Check::shape(const char *parameter, const aclTensor *tensor, const Layout &expected) {
  if (!ok() || tensor == nullptr) return *this;
  const Layout given = layout_of(*tensor);
  if (!same_shape(given, expected)) {
    // "CheckShape failed" stands in CANN's text too, and programs look for it.
    status_ = fail_about("shape", parameter, refusal_,
                         "%s: CheckShape failed: %s has shape %s; expected %s", op_, parameter,
                         shape_text(given).c_str(), shape_text(expected).c_str());
  }
  return *this;
}

Check &Check::shape_or_one_element(const char *parameter, const aclTensor *tensor,
                                   const Layout &expected) {
  if (!ok() || tensor == nullptr) return *this;
  const bool one =
      tensor->rank() <= 1 && tensor->numel() == 1 && expected.rank <= 1 && expected.count() == 1;
  return one ? *this : shape(parameter, tensor, expected);
}

Check &Check::plain_format(const char *parameter, const aclTensor *tensor) {
  if (!ok() || tensor == nullptr || !is_private(tensor->format)) return *this;
  status_ = fail_about(
      "format", parameter, refusal_,
      "%s: %s is in the private format %s; allowed: ND, NCHW, NHWC and the like. Cast it first.",
      op_, parameter, format_name(tensor->format));
  return *this;
}

Check &Check::same_format(const char *parameter, const aclTensor *tensor, const char *other,
                          const aclTensor *model) {
  if (ok() && tensor->format != model->format) {
    status_ = fail_about("format", parameter, refusal_,
                         "%s: %s has format %s; it must have that of %s, %s", op_, parameter,
                         format_name(tensor->format), other, format_name(model->format));
  }
  return *this;
}

Check &Check::that(bool holds, const char *format, ...) {
  if (!ok() || holds) return *this;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  status_ = fail(refusal_, "%s: %s", op_, text);
  return *this;
}

bool wrap_dim(int64_t dim, int rank, int *wrapped) {
  const int64_t extent = rank == 0 ? 1 : rank;
  if (dim < -extent || dim >= extent) return false;
  *wrapped = static_cast<int>(dim < 0 ? dim + extent : dim);
  return true;
}

}  // namespace emu
