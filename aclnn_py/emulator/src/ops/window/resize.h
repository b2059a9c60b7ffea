// SPDX-License-Identifier: Apache-2.0
// What resizing of images and its gradients check alike.
#pragma once

#include "ops/window/resampling.h"

namespace emu {

// Formats besides that of the documents' shapes.
struct ImageFormats {
  bool channels_last = false, nd = false;
};

// Antialiasing takes an image that is at most so much larger than the result.
constexpr int64_t kMostReduced = 50;

void check_image_format(Check &check, const char *name, const aclTensor *tensor, int spatial,
                        ImageFormats allowed);
// `result` has the format, the batch and the channels of `tensor`; of both only the batch may be
// empty.
void check_image_pair(Check &check, const char *name, const aclTensor *tensor, const Image &image,
                      const char *result_name, const aclTensor *result, const Image &made);
// The sizes in `array`, from value `first` on, are those of the image.
void check_image_sizes(Check &check, const char *name, const aclIntArray *array, size_t first,
                       const char *tensor_name, const aclTensor *tensor, const Image &image,
                       int spatial);
// What antialiasing cannot do: `image` is the larger one of a reduction.
void check_smoothing(Check &check, const Resampling &how, const Image &image, const Image &made);
// "scales", or "scalesD" to "scalesW".
void refuse_negative_scales(Check &check, const Resampling &how);

// The tensor as (n, channels, sizes).
Image whole_image(const View &view, aclFormat format, int spatial);
Image whole_image(const aclTensor *tensor, int spatial);

}  // namespace emu
