// SPDX-License-Identifier: Apache-2.0
// A profile of a program without Python: states, and the table that is written at the end. Its
// argument is a directory for the files.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "acl/acl_prof.h"
#include "gate.h"
#include "mstx/ms_tools_ext.h"
#include "operands.h"

namespace {

std::string text_of(const std::filesystem::path &root, const std::string &prefix) {
  std::string all;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    std::ifstream file(entry.path());
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// The column Count of a function's row.
size_t calls_of(const std::string &table, const std::string &function) {
  const std::string head = "host,acl," + function + ",";
  const size_t at = table.find(head);
  if (at == std::string::npos) return 0;
  const size_t comma = table.find(',', at + head.size());
  return std::stoul(table.substr(comma + 1));
}

aclprofConfig *config_of(uint64_t what) {
  uint32_t device = 0;
  return aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, what);
}

void run_one() {
  const mstxRangeId range = mstxRangeStartA("run", nullptr);
  Vector a({1, 1, 1, 1}), b({2, 2, 2, 2}), out({0, 0, 0, 0});
  uint64_t size = 0;
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  mstxRangeEnd(range);
}

void profile(const std::string &root, uint64_t what) {
  EXPECT_OK(aclprofInit(root.c_str(), root.size()));
  run_one();  // before the start
  aclprofConfig *config = config_of(what);
  EXPECT_OK(aclprofStart(config));
  run_one();
  run_one();
  EXPECT_OK(aclprofStop(config));
  run_one();  // after the stop
  EXPECT_OK(aclprofDestroyConfig(config));
  EXPECT_OK(aclprofFinalize());
}

// An operator of the program's own, which the profile knows by what the program says about it.
void describe(const std::string &root) {
  EXPECT_OK(aclprofInit(root.c_str(), root.size()));
  aclprofConfig *config = config_of(ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
  EXPECT_OK(aclprofStart(config));
  aclprofTensor tensors[2] = {{0, ACL_FORMAT_ND, ACL_FLOAT16, 2, {4, 8}},
                              {1, ACL_FORMAT_NCHW, ACL_INT8, 1, {3}}};
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  aclprofTensorInfo info{
      aclprofStr2Id("my \"add\""), aclprofStr2Id("MyAdd"), 0, 2, 0, 1, stream, tensors};
  EXPECT(info.opNameId != 0 && info.opNameId == aclprofStr2Id("my \"add\"") &&
         info.opTypeId != info.opNameId);
  aclprofEventAttributes attributes{};
  attributes.message.tensorInfo = &info;
  EXPECT_OK(aclprofRangePushEx(&attributes));
  run_one();
  EXPECT_OK(aclprofRangePop());
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofRangePop());
  EXPECT(aclprofStr2Id(nullptr) == 0);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofRangePushEx(nullptr));
  tensors[1].shapeDim = 9;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofRangePushEx(&attributes));
  tensors[1].shapeDim = 1;
  info.opTypeId = 1;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofRangePushEx(&attributes));
  attributes.messageType = 1;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofRangePushEx(&attributes));
  EXPECT_OK(aclprofStop(config));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclprofDestroyConfig(config));
  EXPECT_OK(aclprofFinalize());

  const std::string marks = text_of(root, "msprof_tx_"), trace = text_of(root, "msprof_2");
  EXPECT(count(marks, "push/pop") == 1 && count(marks, "\"my \"\"add\"\"\"") == 1);
  EXPECT(count(trace, "\"OP Type\": \"MyAdd\"") == 2);  // on the host, and on the stream
  EXPECT(count(trace, "\"Input Shapes\": \"4,8\", \"Output Shapes\": \"3\"") == 2);
  EXPECT(count(trace, "\"Input Data Types\": \"FLOAT16\", \"Output Data Types\": \"INT8\"") == 2);
}

}  // namespace

int main(int count_of_words, char **words) {
  EXPECT(count_of_words == 2);
  const std::filesystem::path root(words[1]);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));

  const std::string full = root / "full", times = root / "times", nothing = root / "nothing";
  describe(root / "described");
  profile(full, ACL_PROF_TASK_TIME);
  const std::string table = text_of(full, "op_summary_");
  EXPECT(count(table, ",aclnnAdd,Add,AI_CORE,") == 2);
  EXPECT(count(table, "\"4;4\",FLOAT;FLOAT,ND;ND,\"4\",FLOAT,ND") == 2);
  EXPECT(count(text_of(full, "msprof_"), "\"aclnnAdd\"") == 2);

  const std::string calls = text_of(full, "api_statistic_");
  EXPECT(count(calls, "host,acl,aclnnAdd,") == 1);
  EXPECT(count(calls, "host,acl,aclnnAddGetWorkspaceSize,") == 1);
  EXPECT(calls_of(calls, "aclnnAdd") == 2);
  EXPECT(calls_of(calls, "aclnnAddGetWorkspaceSize") == 2);
  EXPECT(calls_of(calls, "aclrtSynchronizeStream") == 2);
  EXPECT(count(text_of(full, "op_statistic_"), "0,Add,AI_CORE,2,") == 1);
  EXPECT(text_of(full, "msprof_tx_").empty());  // nobody asked for marks

  profile(times, ACL_PROF_TASK_TIME_L0);  // times without shapes
  EXPECT(count(text_of(times, "op_summary_"), ",aclnnAdd,Add,AI_CORE,") == 2);
  EXPECT(count(text_of(times, "op_summary_"), "FLOAT") == 0);

  profile(nothing, ACL_PROF_ACL_API);
  EXPECT(count(text_of(nothing, "op_summary_"), "aclnnAdd") == 0);
  EXPECT(calls_of(text_of(nothing, "api_statistic_"), "aclnnAdd") == 2);

  const std::string marked = root / "marked";
  profile(marked, ACL_PROF_MSPROFTX);
  EXPECT(count(text_of(marked, "msprof_tx_"), "\"run\",\"default\"") == 2);
  EXPECT(text_of(marked, "api_statistic_").empty());

  // A file in the place of the directory.
  const std::string file = root / "file";
  std::ofstream(file) << "here";
  EXPECT_CODE(ACL_ERROR_PROFILING_FAILURE, aclprofInit(file.c_str(), file.size()));
  EXPECT_CODE(ACL_ERROR_PROF_NOT_RUN, aclprofFinalize());

  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
