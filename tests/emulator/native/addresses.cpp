// SPDX-License-Identifier: Apache-2.0
// New addresses for repeatable executors: which tensor a position, a list or an aclTensor means.
#include <cmath>
#include <string>

#include "aclnnop/conv.h"
#include "aclnnop/conversion.h"
#include "aclnnop/foreach.h"
#include "aclnnop/norm.h"
#include "operands.h"

namespace {

using Values = std::vector<float>;

// Device memory without a tensor.
struct Memory {
  explicit Memory(const Values &values) : count(values.size()) {
    EXPECT_OK(aclrtMalloc(&data, count * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemcpy(data, count * 4, values.data(), count * 4, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  ~Memory() { EXPECT_OK(aclrtFree(data)); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  Values read() const {
    Values values(count);
    EXPECT_OK(aclrtMemcpy(values.data(), count * 4, data, count * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }
  size_t count;
  void *data = nullptr;
};

aclTensor *tensor_at(void *data, std::vector<int64_t> shape) {
  aclTensor *tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0,
                                      ACL_FORMAT_ND, shape.data(), shape.size(), data);
  EXPECT(tensor != nullptr);
  return tensor;
}

bool close(const Values &a, const Values &b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) <= 1e-4f)) return false;
  }
  return true;
}

// A refusal with 161002 whose text holds all the words.
#define EXPECT_REFUSED(call, ...)                                                             \
  do {                                                                                        \
    EXPECT((call) == ACLNN_ERR_PARAM_INVALID);                                                \
    const char *text_ = aclGetRecentErrMsg();                                                 \
    EXPECT(text_ != nullptr);                                                                 \
    for (const char *word : {__VA_ARGS__}) {                                                  \
      if (strstr(text_, word) == nullptr) fprintf(stderr, "no \"%s\" in: %s\n", word, text_); \
      EXPECT(strstr(text_, word) != nullptr);                                                 \
    }                                                                                         \
  } while (0)

const Values kRows = {1, 2, 3, 4, 5, 6, 7, 9}, kOther = {2, 2, 6, 6, 0, 0, 0, 8};
const Values kUnset8(8, -1), kUnset2(2, -1);

Values normalised(const Values &x) {
  Values y(x.size());
  for (size_t r = 0; r < 2; ++r) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < 4; ++i) mean += x[r * 4 + i] / 4.0;
    for (size_t i = 0; i < 4; ++i) square += (x[r * 4 + i] - mean) * (x[r * 4 + i] - mean) / 4.0;
    for (size_t i = 0; i < 4; ++i)
      y[r * 4 + i] = static_cast<float>((x[r * 4 + i] - mean) / std::sqrt(square + 1e-5));
  }
  return y;
}

Values means(const Values &x) {
  return {(x[0] + x[1] + x[2] + x[3]) / 4, (x[4] + x[5] + x[6] + x[7]) / 4};
}

// LayerNorm without weight and bias: positions 0 input, 3 out, 4 mean, 5 rstd.
struct Norm {
  Norm() {
    const int64_t last = 4;
    aclIntArray *shape = aclCreateIntArray(&last, 1);
    EXPECT_OK(aclnnLayerNormGetWorkspaceSize(in, shape, nullptr, nullptr, 1e-5, out, mean, rstd,
                                             &size, &executor));
    EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
    EXPECT_OK(aclDestroyIntArray(shape));
    if (size > 0) EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Norm() {
    EXPECT_OK(aclDestroyAclOpExecutor(executor));
    for (aclTensor *tensor : {in, out, mean, rstd}) EXPECT_OK(aclDestroyTensor(tensor));
    if (workspace != nullptr) EXPECT_OK(aclrtFree(workspace));
  }
  void run() {
    EXPECT_OK(aclnnLayerNorm(workspace, size, executor, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
  }
  Memory x{kRows}, y{kUnset8}, m{kUnset2}, r{kUnset2};
  aclTensor *in = tensor_at(x.data, {2, 4}), *out = tensor_at(y.data, {2, 4});
  aclTensor *mean = tensor_at(m.data, {2, 1}), *rstd = tensor_at(r.data, {2, 1});
  uint64_t size = 0;
  void *workspace = nullptr;
  aclOpExecutor *executor = nullptr;
};

void null_tensors_count() {
  Norm norm;
  norm.run();
  const Values first = norm.y.read(), first_mean = norm.m.read(), first_rstd = norm.r.read();
  EXPECT(close(first, normalised(kRows)) && close(first_mean, means(kRows)));
  Memory x(kOther), y(kUnset8), m(kUnset2), r(kUnset2);
  EXPECT_OK(aclSetTensorAddr(norm.executor, 0, norm.in, x.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 3, norm.out, y.data));
  EXPECT_OK(AclSetTensorAddr(norm.executor, 4, norm.mean, m.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 5, norm.rstd, r.data));
  norm.run();
  EXPECT(close(y.read(), normalised(kOther)) && close(m.read(), means(kOther)));
  EXPECT(norm.y.read() == first && norm.m.read() == first_mean && norm.r.read() == first_rstd);
  EXPECT(r.read() != kUnset2);
  // The aclTensor decides, whatever number comes with it.
  EXPECT_OK(aclSetOutputTensorAddr(norm.executor, 9, norm.out, norm.y.data));
  EXPECT_OK(aclSetInputTensorAddr(norm.executor, 7, norm.in, norm.x.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 0, norm.mean, norm.m.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 0, norm.rstd, norm.r.data));
  EXPECT_OK(aclrtMemset(y.data, 32, 0, 32));
  norm.run();
  EXPECT(norm.y.read() == first && norm.m.read() == first_mean && norm.r.read() == first_rstd);
  EXPECT(y.read() == Values(8, 0));
}

void tensors_made_anew() {
  Norm norm;
  Memory x(kOther), y(kUnset8), m(kUnset2), r(kUnset2);
  aclTensor *in = tensor_at(x.data, {2, 4}), *out = tensor_at(y.data, {2, 4});
  aclTensor *mean = tensor_at(m.data, {2, 1}), *rstd = tensor_at(r.data, {2, 1});
  EXPECT_REFUSED(aclSetTensorAddr(norm.executor, 1, in, x.data), "1", "weightOptional", "null",
                 "5 rstdOutOptional");
  EXPECT_REFUSED(aclSetTensorAddr(norm.executor, 6, in, x.data), "6", "out of range", "0 input",
                 "3 out");
  EXPECT_REFUSED(aclSetTensorAddr(norm.executor, 4, in, x.data), "meanOutOptional", "shape",
                 "0 input");
  EXPECT_REFUSED(aclSetInputTensorAddr(norm.executor, 3, in, x.data), "3", "2 biasOptional (null)");
  EXPECT_OK(aclSetTensorAddr(norm.executor, 0, in, x.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 3, out, y.data));
  EXPECT_OK(aclSetTensorAddr(norm.executor, 4, mean, m.data));
  EXPECT_OK(aclSetOutputTensorAddr(norm.executor, 2, rstd, r.data));
  norm.run();
  EXPECT(close(y.read(), normalised(kOther)) && close(m.read(), means(kOther)) &&
         r.read() != kUnset2);
  EXPECT(norm.y.read() == kUnset8 && norm.m.read() == kUnset2 && norm.r.read() == kUnset2);
  for (aclTensor *tensor : {in, out, mean, rstd}) EXPECT_OK(aclDestroyTensor(tensor));
}

// The handle of a tensor that is gone is given to another one in time; it does not stand for the
// old one.
void a_handle_used_again_is_another_tensor() {
  Norm norm;
  const aclTensor *gone = norm.mean;
  EXPECT_OK(aclDestroyTensor(norm.mean));
  Memory x(kOther);
  aclTensor *again = nullptr;
  std::vector<aclTensor *> between;
  while (again == nullptr && between.size() < 100000) {
    aclTensor *next = tensor_at(x.data, {2, 4});
    (next == gone ? again : between.emplace_back()) = next;
    if (next != gone && between.size() > 100) {
      EXPECT_OK(aclDestroyTensor(between.back()));
      between.pop_back();
    }
    if (next == gone) break;
  }
  EXPECT(again != nullptr);
  EXPECT_OK(aclSetTensorAddr(norm.executor, 0, again, x.data));
  norm.run();
  EXPECT(close(norm.y.read(), normalised(kOther)) && close(norm.m.read(), means(kOther)));
  EXPECT(x.read() == kOther);
  for (aclTensor *tensor : between) EXPECT_OK(aclDestroyTensor(tensor));
  norm.mean = again;
}

// One aclTensor given twice is one address in CANN's composed executors.
void one_tensor_in_two_places() {
  Vector x({1, 2}), out({0, 0}), step({10, 20}), total({5, 5});
  Memory other({7, 8});
  uint64_t size = 0;
  aclOpExecutor *executor = add(x.tensor, x.tensor, out.tensor, &size);
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetTensorAddr(executor, 0, x.tensor, other.data));
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((out.read() == Values{14, 16}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));

  executor = add(total.tensor, step.tensor, total.tensor, &size);
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetOutputTensorAddr(executor, 0, total.tensor, other.data));
  for (int i = 0; i < 2; ++i) EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((other.read() == Values{27, 48}));
  EXPECT((total.read() == Values{5, 5}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
}

// An operator whose interface CANN generates from its kernel: the position decides.
void positions_of_a_generated_interface() {
  Memory x(kRows), gamma({1, 1, 1, 1}), y(kUnset8), r(kUnset2), twos({2, 2, 2, 2}),
      elsewhere(kUnset8);
  aclTensor *in = tensor_at(x.data, {2, 4}), *scale = tensor_at(gamma.data, {4});
  aclTensor *out = tensor_at(y.data, {2, 4}), *rstd = tensor_at(r.data, {2, 1});
  uint64_t size = 0;
  void *workspace = nullptr;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnRmsNormGetWorkspaceSize(in, scale, 1e-6, out, rstd, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  if (size > 0) EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclnnRmsNorm(workspace, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  const Values once = y.read();
  EXPECT_OK(aclSetTensorAddr(executor, 1, out, twos.data));  // gamma, in spite of the tensor
  EXPECT_OK(aclSetTensorAddr(executor, 2, out, elsewhere.data));
  EXPECT_REFUSED(aclSetTensorAddr(executor, 4, in, x.data), "4", "0 x, 1 gamma, 2 yOut, 3 rstdOut");
  EXPECT_OK(aclnnRmsNorm(workspace, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  Values twice = once;
  for (float &value : twice) value *= 2;
  EXPECT(close(elsewhere.read(), twice) && y.read() == once);
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  for (aclTensor *tensor : {in, scale, out, rstd}) EXPECT_OK(aclDestroyTensor(tensor));
  if (workspace != nullptr) EXPECT_OK(aclrtFree(workspace));
}

void members_of_lists() {
  Memory a({-1, -2}), b({-3}), ya({0, 0}), yb({0}), c({-4, -5}), d({-6}), yc({0, 0}), yd({0});
  aclTensor *in[] = {tensor_at(a.data, {2}), tensor_at(b.data, {1})};
  aclTensor *to[] = {tensor_at(ya.data, {2}), tensor_at(yb.data, {1})};
  aclTensorList *x = aclCreateTensorList(in, 2), *out = aclCreateTensorList(to, 2);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnForeachAbsGetWorkspaceSize(x, out, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetDynamicInputTensorAddr(executor, 0, 0, x, c.data));
  EXPECT_OK(aclSetTensorAddr(executor, 1, in[1], d.data));
  EXPECT_OK(AclSetDynamicOutputTensorAddr(executor, 0, 1, out, yd.data));
  EXPECT_OK(aclSetDynamicTensorAddr(executor, 1, 0, out, yc.data));
  EXPECT_REFUSED(aclSetDynamicTensorAddr(executor, 2, 0, out, yc.data), "irIndex 2",
                 "0 x[0] and on, 2 out[0] and on");
  EXPECT_REFUSED(aclSetDynamicInputTensorAddr(executor, 0, 2, x, c.data), "relativeIndex 2",
                 "2 tensors");
  EXPECT_CODE(ACLNN_ERR_INNER_NULLPTR,
              aclSetDynamicInputTensorAddr(executor, 0, 0, nullptr, c.data));
  EXPECT_OK(aclnnForeachAbs(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((yc.read() == Values{4, 5} && yd.read() == Values{6}));
  EXPECT((ya.read() == Values{0, 0} && yb.read() == Values{0}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));

  // Composed: members by their aclTensor.
  Memory joined({0, 0, 0});
  aclTensor *whole = tensor_at(joined.data, {3});
  EXPECT_OK(aclnnCatGetWorkspaceSize(x, 0, whole, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetTensorAddr(executor, 0, in[1], b.data));
  EXPECT_OK(aclSetDynamicInputTensorAddr(executor, 0, 0, x, a.data));
  EXPECT_OK(aclnnCat(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((joined.read() == Values{-1, -2, -3}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  EXPECT_OK(aclDestroyTensor(whole));
  EXPECT_OK(aclDestroyTensorList(x));
  EXPECT_OK(aclDestroyTensorList(out));
}

// A reference is read and written: one address, set as an input.
void references() {
  Memory a({1, 2}), b({3, 4});
  aclTensor *members[] = {tensor_at(a.data, {2})};
  aclTensorList *x = aclCreateTensorList(members, 1);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnForeachZeroInplaceGetWorkspaceSize(x, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_REFUSED(aclSetOutputTensorAddr(executor, 0, members[0], b.data), "xRef", "as an input");
  EXPECT_OK(aclSetInputTensorAddr(executor, 0, members[0], b.data));
  EXPECT_OK(aclSetOutputTensorAddr(executor, 0, members[0], b.data));
  EXPECT_OK(aclnnForeachZeroInplace(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((a.read() == Values{1, 2} && b.read() == Values{0, 0}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  EXPECT_OK(aclDestroyTensorList(x));
}

void convolution_without_bias() {
  Memory x({1, 2, 3, 4}), w({2}), y({0, 0, 0, 0}), x2({5, 6, 7, 8}), y2({0, 0, 0, 0});
  const int64_t image[] = {1, 1, 2, 2}, one[] = {1, 1, 1, 1}, ones[] = {1, 1}, zeros[] = {0, 0};
  const auto nchw = [](const int64_t *shape, void *data) {
    return aclCreateTensor(shape, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, shape, 4, data);
  };
  aclTensor *in = nchw(image, x.data), *weight = nchw(one, w.data), *out = nchw(image, y.data);
  aclIntArray *stride = aclCreateIntArray(ones, 2), *padding = aclCreateIntArray(zeros, 2);
  uint64_t size = 0;
  void *workspace = nullptr;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnConvolutionGetWorkspaceSize(in, weight, nullptr, stride, padding, stride, false,
                                             padding, 1, out, 0, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  if (size > 0) EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclSetTensorAddr(executor, 0, in, x2.data));
  EXPECT_OK(aclSetTensorAddr(executor, 1, weight, w.data));
  EXPECT_OK(aclSetTensorAddr(executor, 3, out, y2.data));
  aclTensor *anew = nchw(image, y2.data);
  EXPECT_REFUSED(aclSetTensorAddr(executor, 2, anew, y2.data), "biasOptional", "null", "3 output");
  EXPECT_OK(aclSetTensorAddr(executor, 3, anew, y2.data));
  EXPECT_OK(aclnnConvolution(workspace, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((y2.read() == Values{10, 12, 14, 16} && y.read() == Values{0, 0, 0, 0}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  for (aclTensor *tensor : {in, weight, out, anew}) EXPECT_OK(aclDestroyTensor(tensor));
  EXPECT_OK(aclDestroyIntArray(stride));
  EXPECT_OK(aclDestroyIntArray(padding));
  if (workspace != nullptr) EXPECT_OK(aclrtFree(workspace));
}

// An operator of a family whose other members have more tensors.
void positions_of_a_family() {
  Memory x({1, 1}), y({0}), x2({3, 3}), y2({0});
  aclTensor *in = tensor_at(x.data, {2}), *out = tensor_at(y.data, {1}),
            *anew = tensor_at(y2.data, {1});
  const int64_t zero = 0;
  aclIntArray *dim = aclCreateIntArray(&zero, 1);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnLogSumExpGetWorkspaceSize(in, dim, true, out, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetTensorAddr(executor, 0, in, x2.data));
  EXPECT_REFUSED(aclSetTensorAddr(executor, 2, anew, y2.data), "2", "0 self, 1 out");
  EXPECT_OK(aclSetTensorAddr(executor, 1, anew, y2.data));
  EXPECT_OK(aclnnLogSumExp(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(close(y2.read(), {3 + std::log(2.0f)}) && y.read() == Values{0});
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  for (aclTensor *tensor : {in, out, anew}) EXPECT_OK(aclDestroyTensor(tensor));
  EXPECT_OK(aclDestroyIntArray(dim));
}

// aclSetRawTensorAddr: an executor of several kernels reads the address when it runs.
void moved_tensors() {
  Memory a({1, 2}), b({10, 20}), y({0, 0}), a2({3, 4}), a3({5, 6}), y2({0, 0});
  aclTensor *x = tensor_at(a.data, {2}), *other = tensor_at(b.data, {2}),
            *out = tensor_at(y.data, {2}), *spare = tensor_at(a3.data, {2});
  uint64_t size = 0;
  aclOpExecutor *executor = add(x, other, out, &size);
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  const auto run = [&] {
    EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
  };
  run();
  EXPECT((y.read() == Values{11, 22}));
  EXPECT_OK(aclSetRawTensorAddr(x, a2.data));
  EXPECT_OK(aclSetRawTensorAddr(out, y2.data));
  run();
  EXPECT((y2.read() == Values{13, 24}) && (y.read() == Values{11, 22}));
  run();  // and stays so
  // The last word counts, whichever call says it.
  EXPECT_OK(aclSetTensorAddr(executor, 0, x, a.data));
  run();
  EXPECT((y2.read() == Values{11, 22}));
  EXPECT_OK(aclSetRawTensorAddr(x, a2.data));
  EXPECT_OK(aclSetInputTensorAddr(executor, 0, spare, a3.data));
  run();
  EXPECT((y2.read() == Values{15, 26}));
  // A tensor that is gone, and one that came in its place, move nothing.
  EXPECT_OK(aclDestroyTensor(x));
  x = tensor_at(a.data, {2});
  EXPECT_OK(aclSetRawTensorAddr(x, a2.data));
  run();
  EXPECT((y2.read() == Values{15, 26}));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));

  // Between the phases of an executor that runs once.
  executor = add(x, other, out, &size);
  EXPECT_OK(aclSetRawTensorAddr(x, a.data));
  run();
  EXPECT((y2.read() == Values{11, 22}));
  for (aclTensor *tensor : {x, other, out, spare}) EXPECT_OK(aclDestroyTensor(tensor));
}

// One whose interface is generated has read the addresses in phase one.
void moved_tensors_of_a_generated_interface() {
  Memory a({0.0f, 1.0f / 0.0f}), b({1.0f / 0.0f, 0.0f});
  void *y = nullptr;
  EXPECT_OK(aclrtMalloc(&y, 2, ACL_MEM_MALLOC_HUGE_FIRST));
  const int64_t two = 2;
  aclTensor *x = tensor_at(a.data, {2});
  aclTensor *out = aclCreateTensor(&two, 1, ACL_BOOL, nullptr, 0, ACL_FORMAT_ND, &two, 1, y);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnIsInfGetWorkspaceSize(x, out, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclSetRawTensorAddr(x, b.data));
  EXPECT_REFUSED(aclnnIsInf(nullptr, size, executor, nullptr), "x", "aclSetRawTensorAddr",
                 "aclSetTensorAddr");
  EXPECT_OK(aclSetTensorAddr(executor, 0, x, b.data));
  EXPECT_OK(aclnnIsInf(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  bool found[2] = {};
  EXPECT_OK(aclrtMemcpy(found, 2, y, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(found[0] && !found[1]);
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  for (aclTensor *tensor : {x, out}) EXPECT_OK(aclDestroyTensor(tensor));
  EXPECT_OK(aclrtFree(y));
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  null_tensors_count();
  tensors_made_anew();
  a_handle_used_again_is_another_tensor();
  one_tensor_in_two_places();
  positions_of_a_generated_interface();
  members_of_lists();
  references();
  convolution_without_bias();
  positions_of_a_family();
  moved_tensors();
  moved_tensors_of_a_generated_interface();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
