#include "autograph/symbols.h"

namespace graphwright::autograph {

using namespace field;

SymbolSet& SymbolSet::operator|=(const SymbolSet& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size(), 0);
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

SymbolSet& SymbolSet::operator-=(const SymbolSet& other) {
  for (size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i)
    words_[i] &= ~other.words_[i];
  return *this;
}

bool SymbolSet::operator==(const SymbolSet& other) const {
  const auto& longer = words_.size() >= other.words_.size() ? words_ : other.words_;
  const auto& shorter = words_.size() >= other.words_.size() ? other.words_ : words_;
  for (size_t i = 0; i < longer.size(); ++i) {
    if (longer[i] != (i < shorter.size() ? shorter[i] : 0)) return false;
  }
  return true;
}

std::vector<SymbolId> SymbolSet::members() const {
  std::vector<SymbolId> result;
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
      result.push_back(static_cast<SymbolId>(i * 64 + __builtin_ctzll(word)));
    }
  }
  return result;
}

SymbolId Symbols::intern(Entry entry, const std::string& key) {
  auto [it, inserted] = ids_.try_emplace({entry.type, entry.parent, entry.index, entry.string, key},
                                         static_cast<SymbolId>(entries_.size()));
  if (inserted) entries_.push_back(std::move(entry));
  return it->second;
}

SymbolId Symbols::name(StringId id) {
  return intern({.type = Type::kName, .string = id, .text = table_.string(id)}, "");
}

SymbolId Symbols::of_node(NodeId node) {
  if (node == 0) return kNoSymbol;
  if (node < by_node_.size() && by_node_[node] != 0) return by_node_[node] - 2;
  SymbolId result = kNoSymbol;
  switch (table_.kind(node)) {
    case Kind::kName:
      result = name(table_.get(node, kNameId));
      break;
    case Kind::kAttribute: {
      SymbolId base = of_node(table_.get(node, kAttributeValue));
      if (base == kNoSymbol) break;
      StringId attribute = table_.get(node, kAttributeName);
      result = intern({.type = Type::kAttribute,
                       .parent = base,
                       .string = attribute,
                       .text = entries_[base].text + "." + table_.string(attribute)},
                      "");
      break;
    }
    case Kind::kSubscript: {
      NodeId slice = table_.get(node, kSubscriptSlice);
      SymbolId index = kNoSymbol;
      if (table_.kind(slice) == Kind::kConstant) {
        ConstantId id = table_.get(slice, 0);
        const Constant& constant = table_.constant(id);
        if (constant.type == ConstantType::kEllipsis) break;
        std::string text;
        switch (constant.type) {
          case ConstantType::kNone:
            text = "None";
            break;
          case ConstantType::kTrue:
            text = "True";
            break;
          case ConstantType::kFalse:
            text = "False";
            break;
          case ConstantType::kString:
            text = "'" + constant.text + "'";
            break;
          default:
            text = constant.text;
        }
        index = intern({.type = Type::kLiteral, .constant = id, .text = text},
                       std::to_string(static_cast<int>(constant.type)) + constant.text);
      } else {
        index = of_node(slice);
      }
      if (index == kNoSymbol) break;
      SymbolId base = of_node(table_.get(node, kSubscriptValue));
      if (base == kNoSymbol) break;
      result = intern({.type = Type::kSubscript,
                       .parent = base,
                       .index = index,
                       .text = entries_[base].text + "[" + entries_[index].text + "]"},
                      "");
      break;
    }
    default:
      break;
  }
  if (node >= by_node_.size()) by_node_.resize(std::max<size_t>(table_.size(), node + 1), 0);
  by_node_[node] = result + 2;
  return result;
}

std::string Symbols::identifier_text(SymbolId symbol) const {
  const Entry& entry = entries_[symbol];
  switch (entry.type) {
    case Type::kAttribute:
      return identifier_text(entry.parent) + "_" + table_.string(entry.string);
    case Type::kSubscript:
      return identifier_text(entry.parent) + "_sub_" + identifier_text(entry.index);
    default:
      return entry.text;
  }
}

void Symbols::support(SymbolId symbol, SymbolSet* names) const {
  const Entry& entry = entries_[symbol];
  switch (entry.type) {
    case Type::kName:
      names->add(symbol);
      break;
    case Type::kAttribute:
      support(entry.parent, names);
      break;
    case Type::kSubscript:
      support(entry.parent, names);
      support(entry.index, names);
      break;
    case Type::kLiteral:
      break;
  }
}

bool Symbols::owned_by(SymbolId symbol, const SymbolSet& owners) const {
  for (SymbolId s = entries_[symbol].parent; s != kNoSymbol; s = entries_[s].parent) {
    if (owners.contains(s)) return true;
  }
  return false;
}

void Symbols::reserved_identifiers(SymbolId symbol, std::vector<StringId>* out) const {
  const Entry& entry = entries_[symbol];
  if (entry.type == Type::kName || entry.type == Type::kAttribute) out->push_back(entry.string);
}

NodeId Symbols::expression(NodeTable* table, SymbolId symbol, Context context,
                           const Position& position) const {
  const Entry& entry = entries_[symbol];
  switch (entry.type) {
    case Type::kName: {
      NodeId node = table->add(Kind::kName, position);
      table->set(node, kNameId, entry.string);
      table->set(node, kNameContext, static_cast<uint32_t>(context));
      return node;
    }
    case Type::kAttribute: {
      NodeId value = expression(table, entry.parent, Context::kLoad, position);
      NodeId node = table->add(Kind::kAttribute, position);
      table->set(node, kAttributeValue, value);
      table->set(node, kAttributeName, entry.string);
      table->set(node, kAttributeContext, static_cast<uint32_t>(context));
      return node;
    }
    case Type::kSubscript: {
      NodeId value = expression(table, entry.parent, Context::kLoad, position);
      NodeId slice = expression(table, entry.index, Context::kLoad, position);
      NodeId node = table->add(Kind::kSubscript, position);
      table->set(node, kSubscriptValue, value);
      table->set(node, kSubscriptSlice, slice);
      table->set(node, kSubscriptContext, static_cast<uint32_t>(context));
      return node;
    }
    case Type::kLiteral: {
      NodeId node = table->add(Kind::kConstant, position);
      table->set(node, 0, entry.constant);
      return node;
    }
  }
  return 0;
}

}  // namespace graphwright::autograph
