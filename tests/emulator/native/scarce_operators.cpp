// SPDX-License-Identifier: Apache-2.0
// One accepted call of every family of operators, both phases, with each of their allocations
// refused in turn.
#include "scarce.h"

#include <list>
#include <vector>

#include "aclnnop/activation.h"
#include "aclnnop/attention.h"
#include "aclnnop/conv.h"
#include "aclnnop/conversion.h"
#include "aclnnop/foreach.h"
#include "aclnnop/gmm.h"
#include "aclnnop/image.h"
#include "aclnnop/index.h"
#include "aclnnop/loss.h"
#include "aclnnop/math.h"
#include "aclnnop/matmul.h"
#include "aclnnop/norm.h"
#include "aclnnop/pooling.h"
#include "aclnnop/posembedding.h"
#include "aclnnop/quant.h"
#include "aclnnop/random.h"

namespace {

aclrtStream g_stream = nullptr;
using Shape = std::vector<int64_t>;

// Arguments of one call; they go with it.
class Arguments {
 public:
  ~Arguments() {
    // with their members
    for (const aclTensorList *list : lists_) EXPECT_OK(aclDestroyTensorList(list));
    for (const aclTensor *tensor : tensors_) EXPECT_OK(aclDestroyTensor(tensor));
    for (const aclScalar *scalar : scalars_) EXPECT_OK(aclDestroyScalar(scalar));
    for (const aclIntArray *array : arrays_) EXPECT_OK(aclDestroyIntArray(array));
    for (void *block : blocks_) EXPECT_OK(aclrtFree(block));
  }

  aclTensor *tensor(const Shape &shape, aclDataType dtype = ACL_FLOAT,
                    aclFormat format = ACL_FORMAT_ND) {
    tensors_.push_back(make(shape, dtype, format));
    return tensors_.back();
  }
  aclTensorList *list(const Shape &shape, size_t count, aclDataType dtype = ACL_FLOAT) {
    std::vector<const aclTensor *> members;
    for (size_t i = 0; i < count; ++i) members.push_back(make(shape, dtype, ACL_FORMAT_ND));
    lists_.push_back(aclCreateTensorList(members.data(), count));
    EXPECT(lists_.back() != nullptr);
    return lists_.back();
  }
  aclScalar *scalar(float value) {
    scalars_.push_back(aclCreateScalar(&value, ACL_FLOAT));
    EXPECT(scalars_.back() != nullptr);
    return scalars_.back();
  }
  aclIntArray *ints(const Shape &values) {
    arrays_.push_back(aclCreateIntArray(values.data(), values.size()));
    EXPECT(arrays_.back() != nullptr);
    return arrays_.back();
  }

 private:
  aclTensor *make(const Shape &shape, aclDataType dtype, aclFormat format) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    void *data = nullptr;
    const size_t bytes = static_cast<size_t>(count) * aclDataTypeSize(dtype) + 2048;
    EXPECT_OK(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    blocks_.push_back(data);
    std::vector<float> values(bytes / sizeof(float));
    if (dtype == ACL_FLOAT) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 7 % 5 + i % 3 + 1);
    }
    EXPECT_OK(aclrtMemcpy(data, bytes, values.data(), values.size() * sizeof(float),
                          ACL_MEMCPY_HOST_TO_DEVICE));
    const int64_t storage = count + 1024 / static_cast<int64_t>(aclDataTypeSize(dtype));
    aclTensor *made =
        aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, format, &storage, 1, data);
    EXPECT(made != nullptr);
    return made;
  }

  std::list<aclTensor *> tensors_;
  std::list<aclTensorList *> lists_;
  std::list<aclScalar *> scalars_;
  std::list<aclIntArray *> arrays_;
  std::list<void *> blocks_;
};

using PhaseTwo = aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream);

template <class... Parameters, class... Values>
void run(const char *name, aclnnStatus (*phase_one)(Parameters...), PhaseTwo phase_two,
         Values... values) {
  void *workspace = nullptr;
  uint64_t room = 0;
  const auto attempt = [&] {
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    int code = phase_one(values..., &size, &executor);
    if (code != 0) {
      EXPECT(executor == nullptr);
      return code;
    }
    if (size > room) {
      const long left = scarce::g_left.exchange(0);
      EXPECT_OK(aclrtMalloc(&workspace, room = size, ACL_MEM_MALLOC_HUGE_FIRST));
      scarce::g_left = left;
    }
    code = phase_two(workspace, size, executor, g_stream);
    return code != 0 ? code : scarce::wait_for(g_stream);
  };
  scarce::every_allocation(name, attempt, [] {});
  if (workspace != nullptr) EXPECT_OK(aclrtFree(workspace));
}

#define RUN(NAME, ...) run("aclnn" #NAME, aclnn##NAME##GetWorkspaceSize, aclnn##NAME, __VA_ARGS__)

void elementwise() {
  Arguments a;
  aclTensor *x = a.tensor({40, 50}), *y = a.tensor({50}), *out = a.tensor({40, 50}),
            *half = a.tensor({40, 50}, ACL_FLOAT16);
  aclScalar *one = a.scalar(1);
  RUN(Add, x, y, one, out);
  RUN(InplaceAdd, out, y, one);
  RUN(Muls, x, one, out);
  RUN(Abs, x, out);
  RUN(Clamp, x, one, one, out);
  RUN(AddRelu, x, y, one, out);
  RUN(Cast, x, ACL_FLOAT16, half);
  RUN(InplaceCopy, out, x);
  RUN(InplaceFillScalar, out, one);
  RUN(GtTensor, x, y, a.tensor({40, 50}, ACL_BOOL));
  RUN(SWhere, a.tensor({40, 50}, ACL_BOOL), x, y, out);
  RUN(SwiGlu, x, -1, a.tensor({40, 25}));
  RUN(Gelu, x, out);
  RUN(SoftMarginLoss, x, out, 0, a.tensor({40, 50}));
  RUN(Arange, a.scalar(0), a.scalar(9), one, a.tensor({9}));
  RUN(Eye, 4, 5, a.tensor({4, 5}));
  RUN(InplaceUniform, out, 0, 1, 3, 0);
  RUN(InplaceNormal, out, 0, 1, 3, 0);
  RUN(ForeachAddScalar, a.list({30}, 3), a.tensor({1}), a.list({30}, 3));
}

void reductions() {
  Arguments a;
  aclTensor *x = a.tensor({40, 50}), *rows = a.tensor({40}), *out = a.tensor({40, 50});
  aclTensor *places = a.tensor({40}, ACL_INT64), *all = a.tensor({40, 50}, ACL_INT64);
  aclIntArray *last = a.ints({1});
  RUN(ReduceSum, x, last, false, ACL_FLOAT, rows);
  RUN(Mean, x, last, false, ACL_FLOAT, rows);
  RUN(Var, x, last, true, false, rows);
  RUN(Norm, x, a.scalar(2), last, false, rows);
  RUN(ArgMax, x, 1, false, places);
  RUN(MaxDim, x, 1, false, rows, a.tensor({40}, ACL_INT64));
  RUN(Cumsum, x, 1, ACL_FLOAT, out);
  RUN(Cummax, x, 1, out, all);
  RUN(Sort, x, true, 1, false, out, all);
  RUN(Topk, x, 5, 1, true, true, a.tensor({40, 5}), a.tensor({40, 5}, ACL_INT64));
  RUN(Bincount, a.tensor({30}, ACL_INT64), nullptr, 8, a.tensor({8}, ACL_INT64));
  RUN(SearchSorted, a.tensor({30}), x, false, false, nullptr, all);
  RUN(Unique2, a.tensor({30}), true, true, true, a.tensor({30}), a.tensor({30}, ACL_INT64),
      a.tensor({30}, ACL_INT64));
}

void shapes() {
  Arguments a;
  aclTensor *x = a.tensor({8, 10}), *out = a.tensor({8, 10});
  RUN(Cat, a.list({4, 10}, 2), 0, out);
  RUN(Stack, a.list({8, 10}, 2), 0, a.tensor({2, 8, 10}));
  RUN(SplitTensor, x, 4, 0, a.list({4, 10}, 2));
  RUN(Slice, x, 1, 2, 8, 2, a.tensor({8, 3}));
  RUN(Permute, x, a.ints({1, 0}), a.tensor({10, 8}));
  RUN(Roll, x, a.ints({3}), a.ints({1}), out);
  RUN(Repeat, x, a.ints({2, 3}), a.tensor({16, 30}));
  RUN(ConstantPadNd, x, a.ints({1, 2}), a.scalar(5), a.tensor({8, 13}));
  RUN(ReplicationPad1d, a.tensor({2, 3, 4}), a.ints({1, 2}), a.tensor({2, 3, 7}));
  RUN(Tril, x, 0, out);
  RUN(Flip, x, a.ints({0}), out);
}

void indexing() {
  Arguments a;
  aclTensor *x = a.tensor({8, 10}), *out = a.tensor({8, 10}), *index = a.tensor({8, 10}, ACL_INT64);
  aclTensor *row = a.tensor({3}, ACL_INT64);
  RUN(Gather, x, 0, index, out);
  RUN(IndexSelect, x, 0, row, a.tensor({3, 10}));
  RUN(Index, x, a.list({3}, 1, ACL_INT64), a.tensor({3, 10}));
  RUN(Scatter, x, 0, index, a.tensor({8, 10}), 0, out);
  RUN(IndexAdd, x, 0, row, a.tensor({3, 10}), a.scalar(1), out);
  RUN(MaskedSelect, x, a.tensor({8, 10}, ACL_BOOL), a.tensor({80}));
  RUN(Nonzero, x, a.tensor({80, 2}, ACL_INT64));
  RUN(OneHot, row, 4, a.tensor({1}), a.tensor({1}), -1, a.tensor({3, 4}));
}

void products() {
  Arguments a;
  aclTensor *x = a.tensor({70, 90}), *y = a.tensor({90, 60}), *out = a.tensor({70, 60});
  RUN(Matmul, x, y, out, 0);
  RUN(BatchMatMul, a.tensor({3, 7, 9}), a.tensor({3, 9, 5}), a.tensor({3, 7, 5}), 0);
  RUN(Mv, x, a.tensor({90}), a.tensor({70}), 0);
  RUN(GroupedMatmulV4, a.list({6, 16}, 2, ACL_FLOAT16), a.list({16, 8}, 2, ACL_FLOAT16), nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, -1, 0, 0,
      a.list({6, 8}, 2, ACL_FLOAT16), nullptr, nullptr);
  RUN(Cdist, a.tensor({5, 4}), a.tensor({6, 4}), 2, 0, a.tensor({5, 6}));
  RUN(LinalgQr, a.tensor({6, 4}), 0, a.tensor({6, 4}), a.tensor({4, 4}));
  RUN(Svd, a.tensor({6, 4}), false, true, a.tensor({4}), a.tensor({6, 4}), a.tensor({4, 4}));
  RUN(Slogdet, a.tensor({4, 4}), a.tensor({}), a.tensor({}));
  RUN(TransQuantParamV2, a.tensor({16}), nullptr, a.tensor({16}, ACL_UINT64));
}

void networks() {
  Arguments a;
  const auto image = [&](const Shape &shape, aclDataType dtype = ACL_FLOAT) {
    return a.tensor(shape, dtype, ACL_FORMAT_NCHW);
  };
  aclIntArray *ones = a.ints({1, 1}), *twos = a.ints({2, 2}), *none = a.ints({0, 0});
  RUN(Convolution, image({1, 4, 9, 9}), image({6, 4, 3, 3}), nullptr, ones, none, ones, false, none,
      1, image({1, 6, 7, 7}), 0);
  RUN(AvgPool2d, image({1, 3, 8, 8}), twos, twos, none, false, true, 0, 0, image({1, 3, 4, 4}));
  RUN(UpsampleBilinear2d, image({1, 3, 4, 4}), a.ints({8, 8}), false, 0, 0, image({1, 3, 8, 8}));
  RUN(Im2col, image({1, 2, 5, 5}), twos, ones, none, ones, a.tensor({1, 8, 16}));
  RUN(LayerNorm, a.tensor({6, 20}), a.ints({20}), a.tensor({20}), a.tensor({20}), 1e-5,
      a.tensor({6, 20}), a.tensor({6, 1}), a.tensor({6, 1}));
  RUN(GroupNorm, a.tensor({2, 8, 6}), a.tensor({8}), a.tensor({8}), 2, 8, 6, 4, 1e-5,
      a.tensor({2, 8, 6}), a.tensor({2, 4}), a.tensor({2, 4}));
  RUN(BatchNorm, image({2, 3, 4, 4}), a.tensor({3}), a.tensor({3}), a.tensor({3}), a.tensor({3}),
      true, 0.1, 1e-5, image({2, 3, 4, 4}), a.tensor({3}), a.tensor({3}));
  RUN(Softmax, a.tensor({6, 20}), -1, a.tensor({6, 20}));
  aclTensor *query = a.tensor({1, 2, 16, 32}, ACL_FLOAT16),
            *key = a.tensor({1, 2, 48, 32}, ACL_FLOAT16);
  char layout[] = "BNSD";
  RUN(PromptFlashAttention, query, key, a.tensor({1, 2, 48, 32}, ACL_FLOAT16), nullptr, nullptr,
      nullptr, 2, 0.1, 65535, 65535, layout, 0, a.tensor({1, 2, 16, 32}, ACL_FLOAT16));
  RUN(ApplyRotaryPosEmb, a.tensor({1, 4, 2, 128}, ACL_FLOAT16),
      a.tensor({1, 4, 2, 128}, ACL_FLOAT16), a.tensor({1, 4, 1, 128}, ACL_FLOAT16),
      a.tensor({1, 4, 1, 128}, ACL_FLOAT16), 1);
}

}  // namespace

int main() {
  (void)scarce::real_pthread_create();
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&g_stream));
  elementwise();
  reductions();
  shapes();
  indexing();
  products();
  networks();
  EXPECT_OK(aclrtDestroyStream(g_stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
