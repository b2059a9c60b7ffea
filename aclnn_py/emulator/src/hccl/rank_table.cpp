// SPDX-License-Identifier: Apache-2.0
#include "hccl/rank_table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "hccl/arguments.h"
#include "hccl/json.h"
#include "hccl/region.h"

namespace emu::hccl {
namespace {

constexpr size_t kMaxFile = size_t{16} << 20;
constexpr size_t kMaxServerName = 64;
constexpr size_t kMaxShown = 100;

class Table {
 public:
  Table(const char *routine, const char *path) : routine_(routine), path_(path) {}

  Status read_file(std::string *contents) {
    // without waiting: a pipe of this name would hold the rank for ever
    const int fd = open(path_, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
      return fail_as("EI0004", HCCL_E_OPEN_FILE_FAILURE,
                     "%s: the rank table %s cannot be opened: %s", routine_, path_,
                     std::strerror(errno));
    }
    const Status status = read_descriptor(fd, contents);
    close(fd);
    return status;
  }

  Status parse(const std::string &contents, RankTable *table, bool *complete) {
    Json root;
    std::string why, text;
    if (!parse_json(contents, &root, &why)) return bad("EI0004", why);
    if (root.kind != Json::Kind::object) return bad("EI0004", "the document is no object");
    if (const Status s = field(root, "", "status", &text)) return s;
    *complete = text == "completed";
    if (!*complete && text != "initializing") return bad("EI0004", "status is " + shown(text));
    if (!*complete) return 0;
    if (const Status s = field(root, "", "version", &version_)) return s;
    if (version_ != "1.0" && version_ != "1.2")
      return bad("EI0004", "version " + shown(version_) + " is neither 1.0 nor 1.2");
    if (const Status s = servers(root, table)) return s;
    if (version_ == "1.2") {
      if (const Status s = super_pods(root)) return s;
    }
    for (size_t r = 0; r < table->ranks.size(); ++r) {
      if (!found_.count(static_cast<uint32_t>(r)))
        return bad("EI0004", "rank_id " + std::to_string(r) + " is missing");
    }
    return 0;
  }

 private:
  Status read_descriptor(int fd, std::string *contents) {
    struct stat about{};
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
      return fail_as("EI0004", HCCL_E_OPEN_FILE_FAILURE,
                     "%s: the rank table %s is not a regular file", routine_, path_);
    }
    contents->clear();
    std::vector<char> block(65536);
    while (contents->size() <= kMaxFile) {
      const ssize_t n = read(fd, block.data(), block.size());
      if (n == 0) return 0;
      if (n > 0) {
        contents->append(block.data(), static_cast<size_t>(n));
      } else if (errno != EINTR) {
        return fail_as("EI0004", HCCL_E_OPEN_FILE_FAILURE,
                       "%s: the rank table %s cannot be read: %s", routine_, path_,
                       std::strerror(errno));
      }
    }
    return bad("EI0004", "it is larger than 16 MiB");
  }

  // A text of the file as a message may show it.
  static std::string shown(const std::string &text) {
    std::string out;
    for (const char c : text.substr(0, kMaxShown)) out += c >= 0x20 && c < 0x7f ? c : '?';
    return "\"" + out + (text.size() > kMaxShown ? "...\"" : "\"");
  }

  Status bad(const char *message_code, const std::string &why) {
    return fail_as(message_code, HCCL_E_PARA, "%s: the rank table %s is refused: %s", routine_,
                   path_, why.c_str());
  }

  Status field(const Json &object, const std::string &place, const char *name, std::string *value) {
    const Json *member = object.member(name);
    if (!member) return bad("EI0017", place + name + " is missing");
    if (member->kind != Json::Kind::string) return bad("EI0004", place + name + " is no string");
    *value = member->text;
    return 0;
  }

  Status number(const Json &object, const std::string &place, const char *name, uint32_t *value) {
    std::string text;
    if (const Status s = field(object, place, name, &text)) return s;
    if (text.empty() || text.size() > 9 ||
        text.find_first_not_of("0123456789") != std::string::npos) {
      return bad("EI0004", place + name + " is " + shown(text) + ", which is not a number");
    }
    *value = static_cast<uint32_t>(std::stoul(text));
    return 0;
  }

  Status list(const Json &object, const std::string &place, const char *name, const Json **value) {
    *value = object.member(name);
    if (!*value) return bad("EI0017", place + name + " is missing");
    if ((*value)->kind != Json::Kind::array || (*value)->items.empty())
      return bad("EI0004", place + name + " is no list with members");
    return 0;
  }

  Status servers(const Json &root, RankTable *table) {
    uint32_t count = 0;
    const Json *all = nullptr;
    if (const Status s = list(root, "", "server_list", &all)) return s;
    if (root.member("server_count")) {
      if (const Status s = number(root, "", "server_count", &count)) return s;
      if (count != all->items.size()) {
        return bad("EI0004", "server_count is " + std::to_string(count) + ", but server_list has " +
                                 std::to_string(all->items.size()));
      }
    } else if (version_ == "1.0") {
      return bad("EI0017", "server_count is missing");
    }
    size_t ranks = 0;
    for (const Json &server : all->items) {
      const Json *devices = server.member("device");
      ranks += devices ? devices->items.size() : 0;
    }
    if (ranks > kMaxRanks)
      return bad("EI0004", "more than " + std::to_string(kMaxRanks) + " ranks");
    table->ranks.assign(ranks, {});
    for (size_t i = 0; i < all->items.size(); ++i) {
      const std::string place = "server_list[" + std::to_string(i) + "].";
      std::string name;
      if (const Status s = field(all->items[i], place, "server_id", &name)) return s;
      if (name.empty() || name.size() > kMaxServerName)
        return bad("EI0004", place + "server_id must have 1 to 64 characters");
      if (!names_.insert(name).second)
        return bad("EI0004", place + "server_id " + shown(name) + " appears twice");
      if (const Status s = devices(all->items[i], place, name, table)) return s;
    }
    return 0;
  }

  Status devices(const Json &server, const std::string &place, const std::string &name,
                 RankTable *table) {
    const Json *all = nullptr;
    if (const Status s = list(server, place, "device", &all)) return s;
    std::set<uint32_t> used;
    for (size_t i = 0; i < all->items.size(); ++i) {
      const std::string here = place + "device[" + std::to_string(i) + "].";
      const Json &entry = all->items[i];
      uint32_t rank = 0, device = 0;
      std::string text;
      if (const Status s = number(entry, here, "rank_id", &rank)) return s;
      if (const Status s = number(entry, here, "device_id", &device)) return s;
      if (chip() == Chip::a1) {
        if (const Status s = field(entry, here, "device_ip", &text)) return s;
      }
      if (version_ == "1.2") {
        if (const Status s = field(entry, here, "super_device_id", &text)) return s;
      }
      if (rank >= table->ranks.size()) {
        return bad("EI0004", here + "rank_id is " + std::to_string(rank) + " in a table of " +
                                 std::to_string(table->ranks.size()) + " ranks");
      }
      if (!found_.insert(rank).second)
        return bad("EI0004", here + "rank_id " + std::to_string(rank) + " appears twice");
      if (!used.insert(device).second)
        return bad("EI0004",
                   here + "device_id " + std::to_string(device) + " appears twice on a server");
      table->ranks[rank] = {name, device};
    }
    return 0;
  }

  Status super_pods(const Json &root) {
    const Json *pods = nullptr;
    if (const Status s = list(root, "", "super_pod_list", &pods)) return s;
    std::set<std::string> placed;
    for (size_t i = 0; i < pods->items.size(); ++i) {
      const std::string place = "super_pod_list[" + std::to_string(i) + "].";
      std::string name;
      const Json *members = nullptr;
      if (const Status s = field(pods->items[i], place, "super_pod_id", &name)) return s;
      if (const Status s = list(pods->items[i], place, "server_list", &members)) return s;
      for (const Json &server : members->items) {
        if (const Status s = field(server, place + "server_list[].", "server_id", &name)) return s;
        if (!names_.count(name))
          return bad("EI0004", place + "server " + shown(name) + " is not in server_list");
        if (!placed.insert(name).second)
          return bad("EI0004", "server " + shown(name) + " is in two super pods");
      }
    }
    return placed.size() == names_.size() ? 0 : bad("EI0004", "a server is in no super pod");
  }

  const char *routine_;
  const char *path_;
  std::string version_;
  std::set<std::string> names_;
  std::set<uint32_t> found_;
};

}  // namespace

Status read_rank_table(const char *routine, const char *path, double timeout, RankTable *table) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    Table reader(routine, path);
    bool complete = false;
    if (const Status s = reader.read_file(&table->contents)) return s;
    if (const Status s = reader.parse(table->contents, table, &complete)) return s;
    if (complete) return 0;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > timeout) {
      return fail_as("EI0004", HCCL_E_TIMEOUT,
                     "%s: the rank table %s is still \"initializing\" after %g s", routine, path,
                     timeout);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace emu::hccl
