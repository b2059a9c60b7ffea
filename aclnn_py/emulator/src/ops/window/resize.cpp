// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/window/resize.h"

namespace emu {
namespace {

std::string scale_name(int spatial, int d) {
  if (spatial == 1) return "scales";
  return std::string("scales") + "DHW"[kAxes - spatial + d];
}

}  // namespace

void check_image_format(Check &check, const char *name, const aclTensor *tensor, int spatial,
                        ImageFormats allowed) {
  constexpr aclFormat kPlain[] = {ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW},
                      kTurned[] = {ACL_FORMAT_NCL, ACL_FORMAT_NHWC, ACL_FORMAT_NDHWC};
  const aclFormat plain = kPlain[spatial - 1];
  format_in(check, name, tensor,
            {plain, allowed.channels_last ? kTurned[spatial - 1] : plain,
             allowed.nd ? ACL_FORMAT_ND : plain});
}

void check_image_pair(Check &check, const char *name, const aclTensor *tensor, const Image &image,
                      const char *result_name, const aclTensor *result, const Image &made) {
  check.that(result->format == tensor->format, "%s has format %s; it must have that of %s, %s",
             result_name, format_name(result->format), name, format_name(tensor->format));
  check.that(image.channels > 0 && image.area() > 0, "%s has shape %s; only the batch may be empty",
             name, shape_text(layout_of(*tensor)).c_str());
  check.that(made.batch == image.batch && made.channels == image.channels,
             "%s has shape %s; its batch and channels must be those of %s %s", result_name,
             shape_text(layout_of(*result)).c_str(), name, shape_text(layout_of(*tensor)).c_str());
}

void check_image_sizes(Check &check, const char *name, const aclIntArray *array, size_t first,
                       const char *tensor_name, const aclTensor *tensor, const Image &image,
                       int spatial) {
  for (int d = 0; d < spatial; ++d) {
    const int64_t wanted = array->values[first + static_cast<size_t>(d)],
                  given = image.extent[kAxes - spatial + d];
    check.that(given == wanted, "%s has shape %s; %s asks for %lld, not %lld", tensor_name,
               shape_text(layout_of(*tensor)).c_str(), name, static_cast<long long>(wanted),
               static_cast<long long>(given));
  }
}

void check_smoothing(Check &check, const Resampling &how, const Image &image, const Image &made) {
  if (!how.smooth() || !check.ok()) return;
  for (int d = 0; d < how.spatial; ++d) {
    const int axis = kAxes - how.spatial + d;
    const int64_t extent = image.extent[axis], count = made.extent[axis];
    check.that(extent / kMostReduced < count ||
                   (extent / kMostReduced == count && extent % kMostReduced == 0),
               "%lld elements along an axis become %lld; antialiasing reduces at most %lld times",
               static_cast<long long>(extent), static_cast<long long>(count),
               static_cast<long long>(kMostReduced));
    const double scale = how.scales[static_cast<size_t>(d)];
    check.that(how.align_corners || !(scale > 0) || scale >= 1.0 / kMostReduced,
               "%s is %g; antialiasing takes 0, or at least %g", scale_name(how.spatial, d).c_str(),
               scale, 1.0 / kMostReduced);
  }
}

void refuse_negative_scales(Check &check, const Resampling &how) {
  for (int d = 0; d < how.spatial; ++d) {
    const double scale = how.scales[static_cast<size_t>(d)];
    check.that(!(scale < 0), "%s is %g; it must not be negative",
               scale_name(how.spatial, d).c_str(), scale);
  }
}

Image whole_image(const View &view, aclFormat format, int spatial) {
  return image_of(channels_first(view, format), spatial);
}

Image whole_image(const aclTensor *tensor, int spatial) {
  return whole_image(view_of(*tensor), tensor->format, spatial);
}

}  // namespace emu
