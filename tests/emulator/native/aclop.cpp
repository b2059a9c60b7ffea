// SPDX-License-Identifier: Apache-2.0
// Operators of the aclop interface as a C++ program calls them: descriptions that go at once, host
// constants, formats, handles, threads.
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "expect.h"

namespace {

// An operand: a description, a buffer, device memory.
struct Operand {
  Operand(const std::vector<float> &values, const std::vector<int64_t> &dims)
      : count(values.size()),
        desc(aclCreateTensorDesc(ACL_FLOAT, static_cast<int>(dims.size()), dims.data(),
                                 ACL_FORMAT_ND)) {
    EXPECT(desc != nullptr);
    EXPECT_OK(aclrtMalloc(&memory, count * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemcpy(memory, count * 4, values.data(), count * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    buffer = aclCreateDataBuffer(memory, count * 4);
    EXPECT(buffer != nullptr);
  }
  ~Operand() {
    aclDestroyTensorDesc(desc);
    EXPECT_OK(aclDestroyDataBuffer(buffer));
    EXPECT_OK(aclrtFree(memory));
  }
  Operand(const Operand &) = delete;
  Operand &operator=(const Operand &) = delete;
  std::vector<float> read() const {
    std::vector<float> values(count);
    EXPECT_OK(aclrtMemcpy(values.data(), count * 4, memory, count * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

  size_t count;
  void *memory = nullptr;
  aclTensorDesc *desc;
  aclDataBuffer *buffer = nullptr;
};

aclError run(const char *type, const std::vector<Operand *> &inputs, Operand &output,
             const aclopAttr *attr, aclrtStream stream) {
  std::vector<const aclTensorDesc *> descs;
  std::vector<const aclDataBuffer *> buffers;
  for (const Operand *input : inputs) {
    descs.push_back(input->desc);
    buffers.push_back(input->buffer);
  }
  const aclTensorDesc *out_descs[] = {output.desc};
  aclDataBuffer *out_buffers[] = {output.buffer};
  return aclopCompileAndExecute(type, static_cast<int>(inputs.size()), descs.data(), buffers.data(),
                                1, out_descs, out_buffers, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                                nullptr, stream);
}

void operators_run() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Operand a({1, 2, 3, 4}, {2, 2}), b({10, 20, 30, 40}, {2, 2}), y({-9, -9, -9, -9}, {2, 2});
  EXPECT_OK(run("Add", {&a, &b}, y, nullptr, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT((y.read() == std::vector<float>{11, 22, 33, 44}));

  aclopAttr *attr = aclopCreateAttr();
  EXPECT_OK(aclopSetAttrFloat(attr, "value", 0.5f));
  EXPECT_OK(run("Muls", {&a}, y, attr, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT((y.read() == std::vector<float>{0.5f, 1, 1.5f, 2}));
  EXPECT(run("Add", {&a, &b}, y, attr, stream) == ACL_ERROR_OP_ATTR_NOT_MATCH);
  const char *text = aclGetRecentErrMsg();
  EXPECT(text != nullptr && strstr(text, "Add: it has no attribute value") != nullptr);
  aclopDestroyAttr(attr);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, run("Muls", {&a}, y, attr, stream));
  EXPECT_CODE(ACL_ERROR_OP_NOT_FOUND, run("Conv9D", {&a}, y, nullptr, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void constants_are_taken_at_the_call() {
  Operand x({1, 2, 3, 4, 5, 6}, {2, 3}), y({-9, -9}, {2});
  Operand axes({0}, {1});
  const int64_t dims[] = {1};
  aclDestroyTensorDesc(axes.desc);
  axes.desc = aclCreateTensorDesc(ACL_INT64, 1, dims, ACL_FORMAT_ND);
  EXPECT_CODE(ACL_ERROR_OP_INPUT_NOT_MATCH, run("ReduceSum", {&x, &axes}, y, nullptr, nullptr));
  int64_t axis = 1;
  EXPECT_OK(aclSetTensorConst(axes.desc, &axis, sizeof axis));
  axis = 7;
  EXPECT_OK(run("ReduceSum", {&x, &axes}, y, nullptr, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT((y.read() == std::vector<float>{6, 15}));
}

void formats_are_cast() {
  std::vector<float> values(16 * 16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Operand x(values, {16, 16}), blocks(std::vector<float>(256, -9), {16, 16}),
      back(std::vector<float>(256, -9), {16, 16});
  const int64_t storage[] = {2, 1, 16, 8};
  EXPECT_OK(aclSetTensorFormat(blocks.desc, ACL_FORMAT_FRACTAL_NZ));
  EXPECT_OK(aclSetTensorShape(blocks.desc, 4, storage));
  EXPECT_OK(run("Identity", {&x}, blocks, nullptr, nullptr));
  EXPECT_OK(run("Identity", {&blocks}, back, nullptr, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(blocks.read()[8] == 16 && blocks.read()[128] == 8);
  EXPECT(back.read() == values);
}

void threads_have_streams_of_their_own() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      EXPECT_OK(aclrtSetDevice(0));
      aclrtStream stream = nullptr;
      EXPECT_OK(aclrtCreateStream(&stream));
      const auto number = static_cast<float>(t);
      for (int i = 0; i < 50; ++i) {
        Operand a({number, 2}, {2}), y({-9, -9}, {2});
        EXPECT_OK(run("Maximum", {&a, &a}, y, nullptr, stream));
        EXPECT_OK(aclrtSynchronizeStream(stream));
        EXPECT((y.read() == std::vector<float>{number, 2}));
      }
      EXPECT_OK(aclrtDestroyStream(stream));
    });
  }
  for (std::thread &thread : threads) thread.join();
}

// For ACLNN_PY_CHECK=1, which names at the end what is left.
void leave_objects_behind() {
  const int64_t dims[] = {2};
  EXPECT(aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND) != nullptr);
  EXPECT(aclCreateDataBuffer(nullptr, 0) != nullptr);
  EXPECT(aclopCreateAttr() != nullptr);
}

}  // namespace

int main(int count, char **) {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  if (count > 1) leave_objects_behind();
  operators_run();
  constants_are_taken_at_the_call();
  formats_are_cast();
  threads_have_streams_of_their_own();
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
