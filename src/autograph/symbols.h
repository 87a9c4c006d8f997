// Qualified names: what the analyses count as a variable. `a`, `a.b`, `a[i]`, `a['k'].b` are
// symbols; `f(x).y` and `a[i + 1]` are not. A composite symbol (one with a parent) may be part of a
// loop's state just as a plain name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "autograph/node_table.h"

namespace graphwright::autograph {

using SymbolId = uint32_t;
inline constexpr SymbolId kNoSymbol = UINT32_MAX;

// A set of symbols, as bits.
class SymbolSet {
 public:
  void add(SymbolId symbol) {
    size_t word = symbol / 64;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    words_[word] |= uint64_t{1} << (symbol % 64);
  }
  void remove(SymbolId symbol) {
    if (symbol / 64 < words_.size()) words_[symbol / 64] &= ~(uint64_t{1} << (symbol % 64));
  }
  bool contains(SymbolId symbol) const {
    return symbol / 64 < words_.size() && (words_[symbol / 64] >> (symbol % 64) & 1);
  }
  SymbolSet& operator|=(const SymbolSet& other);
  SymbolSet& operator-=(const SymbolSet& other);
  bool operator==(const SymbolSet& other) const;
  std::vector<SymbolId> members() const;  // by number

 private:
  std::vector<uint64_t> words_;
};

class Symbols {
 public:
  explicit Symbols(const NodeTable& table) : table_(table) {}

  SymbolId name(StringId id);
  // The symbol that a Name, Attribute or Subscript node denotes; kNoSymbol if it denotes none. The
  // answer is remembered per node until `forget_nodes`.
  SymbolId of_node(NodeId node);
  void forget_nodes() { by_node_.clear(); }

  bool is_name(SymbolId symbol) const { return entries_[symbol].type == Type::kName; }
  bool is_composite(SymbolId symbol) const { return entries_[symbol].parent != kNoSymbol; }
  StringId name_of(SymbolId symbol) const { return entries_[symbol].string; }  // of a plain name
  SymbolId parent(SymbolId symbol) const { return entries_[symbol].parent; }
  // As written in Python, e.g. "a.b[i]".
  const std::string& text(SymbolId symbol) const { return entries_[symbol].text; }
  // Usable as an identifier, e.g. "a_b_sub_i".
  std::string identifier_text(SymbolId symbol) const;
  // The plain names that the symbol needs for its value: of `a[i].b`, a and i.
  void support(SymbolId symbol, SymbolSet* names) const;
  // Whether `symbol` is owned by a member of the set: `a.b` is owned by `a`.
  bool owned_by(SymbolId symbol, const SymbolSet& owners) const;
  // Adds the identifiers that a symbol reserves: the name itself, or its attribute.
  void reserved_identifiers(SymbolId symbol, std::vector<StringId>* out) const;

  // An expression that reads the symbol, with the given context at its root.
  NodeId expression(NodeTable* table, SymbolId symbol, Context context,
                    const Position& position) const;

 private:
  enum class Type : uint8_t { kName, kAttribute, kSubscript, kLiteral };
  struct Entry {
    Type type;
    SymbolId parent = kNoSymbol;
    SymbolId index = kNoSymbol;  // of a subscript
    StringId string = 0;         // of a name or an attribute
    ConstantId constant = 0;     // of a literal
    std::string text = {};
  };
  SymbolId intern(Entry entry, const std::string& key);

  const NodeTable& table_;
  std::vector<Entry> entries_;
  std::map<std::tuple<Type, SymbolId, SymbolId, StringId, std::string>, SymbolId> ids_;
  std::vector<SymbolId> by_node_;  // symbol + 2; 1: none; 0: not asked yet
};

}  // namespace graphwright::autograph
