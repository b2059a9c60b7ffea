// SPDX-License-Identifier: Apache-2.0
#include "meta/dumps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "core/date_and_time.h"
#include "core/stream.h"
#include "faults/output.h"
#include "faults/pages.h"
#include "meta/pieces.h"

namespace emu {

std::atomic<bool> g_dumps_operators{false};

namespace {

constexpr size_t kMostOfPiece = size_t{1} << 20;
constexpr size_t kMostOfName = 255;

struct Dumps {
  DumpRequest request;
  DumpListener listener = nullptr;
  std::string folder;  // with the time at which the dumps began
  std::atomic<bool> incomplete{false};
};

std::mutex g_mutex;
std::shared_ptr<Dumps> g_dumps;  // guarded by g_mutex; null when nothing is dumped

std::shared_ptr<Dumps> current() {
  std::lock_guard<std::mutex> lock(g_mutex);
  return g_dumps;
}

// Microseconds since 1970; no two dumps have the same.
uint64_t time_stamp() {
  static std::atomic<uint64_t> last{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  uint64_t before = last.load(), mine = 0;
  do {
    mine = std::max(us, before + 1);
  } while (!last.compare_exchange_weak(before, mine));
  return mine;
}

// --- the description of the tensors: a message of protocol buffers

class Message {
 public:
  void number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
  }
  void bytes(int field, const std::string &value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_ += value;
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  const std::string &text() const { return text_; }

 private:
  std::string text_;
};

// The numbers that dumps have for dtypes are not those of aclDataType.
uint64_t dumped_dtype(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return 1;
    case ACL_FLOAT16: return 2;
    case ACL_INT8: return 3;
    case ACL_UINT8: return 4;
    case ACL_INT16: return 5;
    case ACL_UINT16: return 6;
    case ACL_INT32: return 7;
    case ACL_INT64: return 8;
    case ACL_UINT32: return 9;
    case ACL_UINT64: return 10;
    case ACL_BOOL: return 11;
    case ACL_DOUBLE: return 12;
    case ACL_STRING: return 13;
    case ACL_COMPLEX64: return 16;
    case ACL_COMPLEX128: return 17;
    case ACL_BF16: return 27;
    default: {
      // From 4 bits on both lists have the same order, with one number that dumps leave out.
      const int value = static_cast<int>(dtype);
      return value >= ACL_INT4 ? static_cast<uint64_t>(value - 1) : 0;
    }
  }
}

std::string shape_message(const Dims &shape) {
  Message dims, message;
  for (const int64_t extent : shape) dims.varint(static_cast<uint64_t>(extent));
  if (!shape.empty()) message.bytes(1, dims.text());
  return message.text();
}

uint64_t size_of(const PlanTensor &entry) {
  uint64_t size = 0;
  each_piece(entry, [&](const void *, size_t nbytes) {
    size += nbytes;
    return true;
  });
  return size;
}

// What lies in the file: the blocks of a private format, and elements of less than a byte as they
// are stored.
Dims stored_shape(const PlanTensor &entry, uint64_t size) {
  const aclTensor &tensor = entry.tensor;
  if (is_fractal(tensor)) return tensor.storage_shape;
  const int bits = dtype_bits(tensor.dtype);
  if (bits % 8 == 0 || tensor.contiguous()) return tensor.shape;
  return Dims{static_cast<int64_t>(size * 8) / bits};
}

std::string tensor_message(const PlanTensor &entry, DumpPart part) {
  const uint64_t size = size_of(entry);
  Message message;
  message.number(1, dumped_dtype(entry.tensor.dtype));
  message.number(2, static_cast<uint64_t>(static_cast<int64_t>(entry.tensor.format)));
  message.bytes(3, shape_message(stored_shape(entry, size)));
  // An output has one field more before its size, the operator that it comes from in a model.
  const int shift = part == DumpPart::outputs ? 1 : 0;
  message.number(5 + shift, size);
  message.bytes(6 + shift, shape_message(entry.tensor.shape));
  return message.text();
}

// --- where it goes

// A file, or the program's listener. Keeps the first failure.
class Sink {
 public:
  Sink(const Dumps &dumps, const std::string &folder, const std::string &name)
      : path_(folder.empty() ? name : folder + "/" + name), listener_(dumps.listener) {
    if (listener_ != nullptr) {
      piece_.reset(new unsigned char[sizeof(acldumpChunk) + kMostOfPiece]());
      std::strncpy(chunk()->fileName, path_.c_str(), sizeof chunk()->fileName - 1);
      chunk()->offset = -1;  // each piece is appended
      return;
    }
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file_ < 0) error_ = errno;
  }
  ~Sink() {
    if (file_ >= 0) ::close(file_);
  }
  Sink(const Sink &) = delete;
  Sink &operator=(const Sink &) = delete;

  void write(const void *data, size_t nbytes) {
    const auto *at = static_cast<const unsigned char *>(data);
    while (nbytes > 0 && !failed()) {
      const size_t part = listener_ != nullptr ? pass(at, nbytes) : put(at, nbytes);
      at += part;
      nbytes -= part;
    }
  }
  // Why the dump is incomplete; empty when it is not.
  std::string finish() {
    if (listener_ != nullptr && !failed()) tell(true);
    if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && !failed()) error_ = errno;
    if (refused_ != 0) {
      return "the function of acldumpRegCallback returned " + std::to_string(refused_) +
             " for a piece of " + path_;
    }
    return error_ == 0 ? "" : path_ + " cannot be written: " + std::strerror(error_);
  }

 private:
  bool failed() const { return error_ != 0 || refused_ != 0; }
  acldumpChunk *chunk() { return reinterpret_cast<acldumpChunk *>(piece_.get()); }

  size_t put(const unsigned char *at, size_t nbytes) {
    const faults::QuietWrites quiet;
    const ssize_t written = ::write(file_, at, nbytes);
    if (written < 0 && errno != EINTR) error_ = errno;
    return written < 0 ? 0 : static_cast<size_t>(written);
  }
  size_t pass(const unsigned char *at, size_t nbytes) {
    if (chunk()->bufLen == kMostOfPiece) tell(false);
    const size_t part = std::min(nbytes, kMostOfPiece - chunk()->bufLen);
    std::memcpy(piece_.get() + offsetof(acldumpChunk, dataBuf) + chunk()->bufLen, at, part);
    chunk()->bufLen += static_cast<uint32_t>(part);
    return part;
  }
  void tell(bool last) {
    chunk()->isLastChunk = last ? 1 : 0;
    refused_ =
        listener_(chunk(), static_cast<int32_t>(offsetof(acldumpChunk, dataBuf) + chunk()->bufLen));
    chunk()->bufLen = 0;
  }

  const std::string path_;
  const DumpListener listener_;
  std::unique_ptr<unsigned char[]> piece_;
  int file_ = -1, error_ = 0, refused_ = 0;
};

std::string plain(std::string word) {
  std::replace_if(
      word.begin(), word.end(),
      [](char c) { return c == '.' || c == '/' || c == '\\' || c == ' '; }, '_');
  return word;
}

// Makes FOLDER/device; what a name stands for that is too long for a file is written down there.
// Both answer with the reason when they cannot.
std::string make_folder(const Dumps &dumps, const std::string &folder) {
  for (const std::string &part : {dumps.folder, folder}) {
    if (mkdir(part.c_str(), 0750) == 0 || errno == EEXIST) continue;
    return "the folder " + part + " cannot be made: " + std::strerror(errno);
  }
  return "";
}

std::string map_name(const std::string &folder, const std::string &digits,
                     const std::string &name) {
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const std::string path = folder + "/mapping.csv", line = digits + "," + name + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  const faults::QuietWrites quiet;
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  return written ? "" : path + " cannot be written: " + std::strerror(error);
}

// A program does not fail because of its dumps. Said for the first of a request.
void say_incomplete(Dumps &dumps, const std::string &op, const std::string &why) {
  if (dumps.incomplete.exchange(true)) return;
  std::fprintf(stderr, "aclnn_py: the dumps are incomplete, %s is missing: %s\n", op.c_str(),
               why.c_str());
}

}  // namespace

void request_dumps(std::optional<DumpRequest> request, DumpListener listener) {
  std::shared_ptr<Dumps> made;
  if (request) {
    made = std::make_shared<Dumps>();
    made->folder =
        request->folder.empty() ? date_and_time() : request->folder + "/" + date_and_time();
    made->request = std::move(*request);
    made->listener = listener;
  }
  std::lock_guard<std::mutex> lock(g_mutex);
  g_dumps_operators.store(made != nullptr && made->request.operators);
  g_dumps = std::move(made);
}

void dump_tensors(const std::string &type, const std::string &name,
                  const std::vector<PlanTensor> &tensors, DumpPart part, const Stream &stream) try {
  const auto dumps = current();
  const bool outputs = part == DumpPart::outputs;
  if (dumps == nullptr || !(outputs ? dumps->request.outputs : dumps->request.inputs)) return;
  Message message;
  message.bytes(1, "1.0");
  const uint64_t stamp = time_stamp();
  message.number(2, stamp);
  std::vector<const PlanTensor *> dumped;
  for (const PlanTensor &entry : tensors) {
    if (!entry.present || !(outputs ? entry.output : entry.input)) continue;
    dumped.push_back(&entry);
    message.bytes(outputs ? 3 : 4, tensor_message(entry, part));
  }
  if (dumped.empty()) return;
  message.bytes(6, name);

  const std::string folder = dumps->folder + "/" + std::to_string(stream.device);
  std::string file = plain(type) + "." + plain(name) + "." +
                     std::to_string(stream.completed.load() + 1) + "." + std::to_string(stream.id) +
                     "." + std::to_string(stamp);
  if (dumps->listener == nullptr) {
    std::string why = make_folder(*dumps, folder);
    if (why.empty() && file.size() > kMostOfName) {
      const std::string digits = std::to_string(stamp);
      why = map_name(folder, digits, file);
      file = digits;
    }
    if (!why.empty()) return say_incomplete(*dumps, name, why);
  }
  Sink sink(*dumps, folder, file);
  const uint64_t length = message.text().size();
  sink.write(&length, sizeof length);
  sink.write(message.text().data(), message.text().size());
  for (const PlanTensor *entry : dumped) {
    each_piece(*entry, [&](const void *start, size_t nbytes) {
      sink.write(faults::unguarded(start), nbytes);
      return true;
    });
  }
  if (const std::string why = sink.finish(); !why.empty()) say_incomplete(*dumps, name, why);
} catch (const std::exception &problem) {
  if (const auto dumps = current()) say_incomplete(*dumps, name, problem.what());
}

}  // namespace emu
