// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of one length, in complex128.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/dtype.h"

namespace emu {

class Dft {
 public:
  explicit Dft(int64_t length);

  int64_t length() const { return length_; }
  // X[k] = sum of x[j] exp(-2 pi i j k / length), in place. `scratch` is memory of the caller,
  // which threads must not share.
  void run(Complex128 *x, std::vector<Complex128> &scratch) const;

 private:
  void power_of_two(Complex128 *x, int64_t length) const;

  int64_t length_;
  int64_t padded_;                  // the power of two that the butterflies run on
  std::vector<Complex128> roots_;   // exp(-2 pi i k / padded), k < padded / 2
  std::vector<Complex128> chirp_;   // exp(-pi i k^2 / length); empty for a power of two
  std::vector<Complex128> filter_;  // the transform of the conjugate chirp, divided by padded
};

}  // namespace emu
