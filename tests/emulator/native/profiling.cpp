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

aclprofConfig *config_of(uint64_t what) {
  uint32_t device = 0;
  return aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, what);
}

void run_one() {
  Vector a({1, 1, 1, 1}), b({2, 2, 2, 2}), out({0, 0, 0, 0});
  uint64_t size = 0;
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
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

}  // namespace

int main(int count_of_words, char **words) {
  EXPECT(count_of_words == 2);
  const std::filesystem::path root(words[1]);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));

  const std::string full = root / "full", times = root / "times", nothing = root / "nothing";
  profile(full, ACL_PROF_TASK_TIME);
  const std::string table = text_of(full, "op_summary_");
  EXPECT(count(table, ",aclnnAdd,Add,AI_CORE,") == 2);
  EXPECT(count(table, "\"4;4\",FLOAT;FLOAT,ND;ND,\"4\",FLOAT,ND") == 2);
  EXPECT(count(text_of(full, "msprof_"), "\"aclnnAdd\"") == 2);

  profile(times, ACL_PROF_TASK_TIME_L0);  // times without shapes
  EXPECT(count(text_of(times, "op_summary_"), ",aclnnAdd,Add,AI_CORE,") == 2);
  EXPECT(count(text_of(times, "op_summary_"), "FLOAT") == 0);

  profile(nothing, ACL_PROF_ACL_API);
  EXPECT(count(text_of(nothing, "op_summary_"), "aclnnAdd") == 0);

  // A file in the place of the directory.
  const std::string file = root / "file";
  std::ofstream(file) << "here";
  EXPECT_CODE(ACL_ERROR_PROFILING_FAILURE, aclprofInit(file.c_str(), file.size()));
  EXPECT_CODE(ACL_ERROR_PROF_NOT_RUN, aclprofFinalize());

  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
