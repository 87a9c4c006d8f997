#include "serial/library_names.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_set>

namespace graphwright::serial {
namespace {

// How much there is in a block: gradients append to blocks, which makes them other functions.
size_t content_size(const Block& block) {
  size_t size = block.arguments.size() + block.results.size() + block.nodes.size();
  for (const Node* node : block.nodes) {
    size += node->outputs.size();
    for (const auto& inner : node->blocks) size += content_size(*inner);
  }
  return size;
}

std::string valid_name(std::string name) {
  for (char& c : name) {
    bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '.' || c == '-';
    if (!allowed) c = '_';
  }
  return name;
}

// The owner's id, which of its blocks, and how much is in it; a called graph is kNotABlock.
using Position = std::tuple<uint32_t, size_t, size_t>;
constexpr size_t kNotABlock = SIZE_MAX;

class LibraryNames {
 public:
  std::string name(const Graph& graph, const Position& position, const std::string& stem) {
    std::lock_guard lock(mutex_);
    bool is_callee = std::get<1>(position) == kNotABlock;
    std::weak_ptr<const Graph> owner = graph.weak_from_this();
    // Without an owner a graph cannot be told from a later one at the same place.
    if (owner.expired()) return take(stem, is_callee);
    if (names_.size() >= sweep_at_) {
      std::erase_if(names_, [](const auto& entry) { return entry.first.expired(); });
      sweep_at_ = std::max<size_t>(64, 2 * names_.size());
    }
    std::string& known = names_[owner][position];
    if (known.empty()) known = take(stem, is_callee);
    return known;
  }

 private:
  std::string take(const std::string& stem, bool may_be_whole) {
    std::string name = valid_name(stem);
    if (may_be_whole && taken_.insert(name).second) return name;
    std::string numbered;
    do {
      numbered = name + "_" + std::to_string(next_number_++);
    } while (!taken_.insert(numbered).second);
    return numbered;
  }

  std::mutex mutex_;
  int64_t next_number_ = 0;
  // Names outlive their graphs: what was exported may still be loaded somewhere.
  std::unordered_set<std::string> taken_;
  std::map<std::weak_ptr<const Graph>, std::map<Position, std::string>, std::owner_less<>> names_;
  size_t sweep_at_ = 64;
};

LibraryNames& library_names() {
  static auto* names = new LibraryNames;  // used until the process ends
  return *names;
}

}  // namespace

std::string control_function_name(const Block& block, const std::string& stem) {
  const auto& blocks = block.owner->blocks;
  size_t index = 0;
  while (index + 1 < blocks.size() && blocks[index].get() != &block) ++index;
  return library_names().name(*block.graph, {block.owner->id, index, content_size(block)}, stem);
}

std::string callee_function_name(const Graph& graph, const std::string& wanted) {
  return library_names().name(graph, {0, kNotABlock, 0}, wanted);
}

}  // namespace graphwright::serial
