// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Floating point numbers without loss in less memory: the byte with the exponent is coded by its
// frequency, the others are kept as they are. The code begins in one tensor and goes on in another.
// It is this device's own: only what it wrote can be read.
#include <cinttypes>
#include <cstring>

#include "aclnnop/math.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/copy/byte_code.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr int64_t kCounts = 256;
constexpr int64_t kUnit = 64, kFewest = 32768;  // elements
constexpr int64_t kHeaderBytes = 512, kCoreBytes = 8448;
constexpr int64_t kPiece = 65536;               // elements that are coded by themselves
constexpr uint32_t kAsTheyAre = 1u << 31;       // a piece whose bytes are not coded
constexpr uint64_t kMark = 0x314e534148504341;  // "ACPHANS1"

struct Header {
  uint64_t mark = kMark;
  int64_t elements = 0;
  int64_t element_bytes = 0;
  char unused[kHeaderBytes - 24] = {};
};
static_assert(sizeof(Header) == kHeaderBytes);

int64_t pieces_of(int64_t elements) { return (elements + kPiece - 1) / kPiece; }
int64_t bytes_of(const View &view) { return view.count() * item_size(view.dtype); }

// The elements of a tensor as dense bytes.
class DenseBytes {
 public:
  explicit DenseBytes(const View &view) : copy_(view) {}
  const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(copy_.view().data); }

 private:
  Snapshot copy_;
};

// The first bytes of a tensor, whose others stay.
void write_front(const View &to, const uint8_t *bytes, int64_t count) {
  if (count == 0) return;
  if (to.layout.is_dense()) {
    std::memcpy(to.data, bytes, static_cast<size_t>(count));
    return;
  }
  const Snapshot whole(to);
  std::memcpy(whole.view().data, bytes, static_cast<size_t>(count));
  copy_view(whole.view(), to);
}

// The last byte of each element has its exponent.
void split(const uint8_t *elements, int64_t count, int64_t width, uint8_t *exponents,
           uint8_t *others) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(others + i * (width - 1), elements + i * width, static_cast<size_t>(width - 1));
    exponents[i] = elements[i * width + width - 1];
  }
}

void join(const uint8_t *exponents, const uint8_t *others, int64_t count, int64_t width,
          uint8_t *elements) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(elements + i * width, others + i * (width - 1), static_cast<size_t>(width - 1));
    elements[i * width + width - 1] = exponents[i];
  }
}

void count_bytes(const std::vector<uint8_t> &bytes, int32_t *counts) {
  int64_t wide[kCounts] = {};
  for (const uint8_t byte : bytes) ++wide[byte];
  for (int64_t b = 0; b < kCounts; ++b)
    counts[b] = static_cast<int32_t>(std::min<int64_t>(wide[b], INT32_MAX));
}

// Header, sizes of the pieces, pieces.
std::vector<uint8_t> encode(const std::vector<uint8_t> &exponents, int64_t width,
                            const int32_t *counts) {
  const auto total = static_cast<int64_t>(exponents.size()), pieces = pieces_of(total);
  const ByteCode code(counts);
  std::vector<std::vector<uint8_t>> coded(static_cast<size_t>(pieces));
  std::vector<uint32_t> sizes(coded.size());
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const uint8_t *from = exponents.data() + piece * kPiece;
      const int64_t count = std::min(kPiece, total - piece * kPiece);
      std::vector<uint8_t> &to = coded[static_cast<size_t>(piece)];
      to = code.encode(from, count);
      uint32_t mark = 0;
      if (static_cast<int64_t>(to.size()) >= count)
        to.assign(from, from + count), mark = kAsTheyAre;
      sizes[static_cast<size_t>(piece)] = static_cast<uint32_t>(to.size()) | mark;
    }
  });
  Header header;
  header.elements = total;
  header.element_bytes = width;
  std::vector<uint8_t> stream(sizeof(header) + sizes.size() * sizeof(uint32_t));
  std::memcpy(stream.data(), &header, sizeof(header));
  std::memcpy(stream.data() + sizeof(header), sizes.data(), sizes.size() * sizeof(uint32_t));
  for (const std::vector<uint8_t> &piece : coded)
    stream.insert(stream.end(), piece.begin(), piece.end());
  return stream;
}

// False when the stream is not the code of so many exponents.
bool decode(const std::vector<uint8_t> &stream, int64_t width, const int32_t *counts,
            std::vector<uint8_t> *exponents) {
  const auto total = static_cast<int64_t>(exponents->size()), pieces = pieces_of(total);
  const size_t table = static_cast<size_t>(pieces) * sizeof(uint32_t);
  Header header;
  if (stream.size() < sizeof(header) + table) return false;
  std::memcpy(&header, stream.data(), sizeof(header));
  if (header.mark != kMark || header.elements != total || header.element_bytes != width)
    return false;
  std::vector<uint32_t> sizes(static_cast<size_t>(pieces));
  std::memcpy(sizes.data(), stream.data() + sizeof(header), table);
  std::vector<size_t> starts;
  size_t start = sizeof(header) + table;
  for (const uint32_t size : sizes) {
    starts.push_back(start);
    start += size & ~kAsTheyAre;
    if (start > stream.size()) return false;
  }
  const ByteCode code(counts);
  std::vector<char> good(sizes.size());
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const auto at = static_cast<size_t>(piece);
      const uint8_t *from = stream.data() + starts[at];
      uint8_t *to = exponents->data() + piece * kPiece;
      const int64_t count = std::min(kPiece, total - piece * kPiece);
      const size_t size = sizes[at] & ~kAsTheyAre;
      if ((sizes[at] & kAsTheyAre) == 0) {
        good[at] = code.decode(from, size, to, count);
      } else if (size == static_cast<size_t>(count)) {
        std::memcpy(to, from, size);
        good[at] = true;
      }
    }
  });
  return std::find(good.begin(), good.end(), 0) == good.end();
}

// What both directions ask of their tensors; `whole` has the elements.
void check_parts(Check &check, const char *whole_name, const aclTensor *whole, const char *pdf_name,
                 const aclTensor *pdf, const char *mantissa_name, const aclTensor *mantissa) {
  if (!check.ok()) return;
  const int64_t counts[] = {1, kCounts}, width = item_size(whole->dtype);
  check.shape(pdf_name, pdf, dense_layout(counts, 2));
  check.that(whole->numel() >= kFewest && whole->numel() % kUnit == 0,
             "%s has %" PRId64 " elements; expected a multiple of 64 of at least 32768", whole_name,
             whole->numel());
  const int64_t rest = check.size(whole_name, Checked(whole->numel()) * (width - 1)),
                given = check.size(mantissa_name, Checked(mantissa->numel()) * width);
  check.that(rest == given, "%s has %" PRId64 " bytes; expected %" PRId64, mantissa_name, given,
             rest);
}

}  // namespace
}  // namespace emu

// Where the parts of the code lie is one and the same with and without `reshuff`.
EMU_OPERATOR(HansEncode,
             (const aclTensor *inputTensor, aclTensor *pdfRef, bool statistic, bool /* reshuff */,
              aclTensor *mantissaOut, aclTensor *fixedOut, aclTensor *varOut)) {
  using namespace emu;
  Check check("aclnnHansEncode");
  check.required("inputTensor", inputTensor).required("pdfRef", pdfRef);
  check.required("mantissaOut", mantissaOut).required("fixedOut", fixedOut);
  check.required("varOut", varOut).dtype("inputTensor", inputTensor).dtype("pdfRef", pdfRef);
  check.dtype("mantissaOut", mantissaOut).dtype("fixedOut", fixedOut).dtype("varOut", varOut);
  if (!check.ok()) return check.status();
  const aclDataType dtype = inputTensor->dtype;
  check.same_dtype("mantissaOut", mantissaOut->dtype, "inputTensor", dtype)
      .same_dtype("fixedOut", fixedOut->dtype, "inputTensor", dtype)
      .same_dtype("varOut", varOut->dtype, "inputTensor", dtype);
  check_parts(check, "inputTensor", inputTensor, "pdfRef", pdfRef, "mantissaOut", mantissaOut);
  if (!check.ok()) return check.status();
  const int64_t width = item_size(dtype), total = inputTensor->numel();
  const int64_t fixed_bytes = check.size("fixedOut", Checked(fixedOut->numel()) * width);
  check.size("varOut", Checked(varOut->numel()) * width);
  check.that(fixed_bytes >= kHeaderBytes, "fixedOut has %" PRId64 " bytes; expected at least 512",
             fixed_bytes);
  if (!check.ok()) return check.status();
  const Checked room = Checked(fixed_bytes) + Checked(mantissaOut->numel()) * width;
  const int64_t least = check.size("inputTensor", Checked(total) + total / kUnit + kCoreBytes);
  check.that(room.fits() && room.value() >= least,
             "fixedOut and mantissaOut have %" PRId64 " bytes; expected at least %" PRId64,
             room.value(), least);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(inputTensor), pdf = plan.in_place(pdfRef);
  const size_t others = plan.output(mantissaOut), first = plan.output(fixedOut),
               second = plan.output(varOut);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<uint8_t> exponents(static_cast<size_t>(total)),
            rest(static_cast<size_t>(total * (width - 1)));
        split(DenseBytes(view_of(c.tensor(from))).data(), total, width, exponents.data(),
              rest.data());
        const View counts_view = view_of(c.tensor(pdf));
        int32_t counts[kCounts];
        if (statistic) count_bytes(exponents, counts);
        else std::memcpy(counts, DenseBytes(counts_view).data(), sizeof(counts));
        const std::vector<uint8_t> stream = encode(exponents, width, counts);
        const View front = view_of(c.tensor(first)), behind = view_of(c.tensor(second));
        const auto size = static_cast<int64_t>(stream.size());
        const int64_t in_front = std::min(size, bytes_of(front));
        if (size - in_front > bytes_of(behind)) {
          return fail(kKernelFault,
                      "aclnnHansEncode: the code has %" PRId64
                      " bytes; fixedOut and varOut have"
                      " %" PRId64,
                      size, bytes_of(front) + bytes_of(behind));
        }
        if (statistic)
          write_front(counts_view, reinterpret_cast<uint8_t *>(counts), sizeof(counts));
        write_front(view_of(c.tensor(others)), rest.data(), total * (width - 1));
        write_front(front, stream.data(), in_front);
        write_front(behind, stream.data() + in_front, size - in_front);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(HansDecode, (const aclTensor *mantissa, const aclTensor *fixed, const aclTensor *var,
                          const aclTensor *pdf, bool /* reshuff */, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnHansDecode");
  check.required("mantissa", mantissa).required("fixed", fixed).required("var", var);
  check.required("pdf", pdf).required("out", out).dtype("mantissa", mantissa);
  check.dtype("fixed", fixed).dtype("var", var).dtype("pdf", pdf).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("mantissa", mantissa->dtype, "out", out->dtype)
      .same_dtype("fixed", fixed->dtype, "out", out->dtype)
      .same_dtype("var", var->dtype, "out", out->dtype);
  check_parts(check, "out", out, "pdf", pdf, "mantissa", mantissa);
  if (!check.ok()) return check.status();
  const int64_t width = item_size(out->dtype), total = out->numel();
  PlanBuilder plan(check.op());
  const size_t others = plan.input(mantissa), first = plan.input(fixed), second = plan.input(var);
  const size_t frequencies = plan.input(pdf), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View front = view_of(c.tensor(first)), behind = view_of(c.tensor(second));
        const DenseBytes a(front), b(behind);
        std::vector<uint8_t> stream(a.data(), a.data() + bytes_of(front));
        stream.insert(stream.end(), b.data(), b.data() + bytes_of(behind));
        int32_t counts[kCounts];
        std::memcpy(counts, DenseBytes(view_of(c.tensor(frequencies))).data(), sizeof(counts));
        std::vector<uint8_t> exponents(static_cast<size_t>(total)),
            elements(static_cast<size_t>(total * width));
        if (!decode(stream, width, counts, &exponents)) {
          return fail(kKernelFault,
                      "aclnnHansDecode: fixed and var do not hold the code of %" PRId64
                      " elements that HansEncode made with this pdf",
                      total);
        }
        join(exponents.data(), DenseBytes(view_of(c.tensor(others))).data(), total, width,
             elements.data());
        write_front(view_of(c.tensor(to)), elements.data(), total * width);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
