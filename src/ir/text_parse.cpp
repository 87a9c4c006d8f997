#include <algorithm>
#include <charconv>
#include <complex>
#include <cstring>
#include <unordered_map>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/text.h"

namespace graphwright {
namespace {

constexpr int kMaxDepth = 200;  // of nested blocks
constexpr std::string_view kNoSource = "graph text";

// What a call in a text calls: a graph of the same text, and nothing more.
class TextCallee final : public Callee {
 public:
  explicit TextCallee(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}
  std::string_view callee_name() const override { return graph_->name(); }
  const Graph& callee_graph() const override { return *graph_; }
  CalleeDerivative callee_derivative(const std::vector<bool>&) override { refuse(); }
  CalleeTangent callee_tangent(const std::vector<bool>&) override { refuse(); }
  void call_with(Builder&, std::span<const Operand>, std::vector<Operand>&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw_unimplemented("the function '" + graph_->name() +
                        "' was read from text and can only be called by the graphs around it");
  }
  std::shared_ptr<Graph> graph_;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view source, CalleeResolver callees)
      : text_(text), source_(source), callees_(std::move(callees)) {}

  void version() {
    expect("graphwright-ir");
    int64_t version = integer();
    if (version != kTextVersion) {
      fail("version " + std::to_string(version) + " of the text form; this is version " +
           std::to_string(kTextVersion));
    }
  }

  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  [[noreturn]] void fail_at_end() const { fail("text after the end"); }

  std::shared_ptr<Graph> parse() {
    scope_count_ = 1;
    values_.clear();
    blocks_.clear();
    nodes_.clear();
    symbols_.clear();
    expect("graph");
    graph_ = std::make_shared<Graph>(string());
    int64_t next_id = accept("next") ? integer() : 0;
    struct ParsedScope {
      std::string name;
      int64_t parent, block, before;
      bool absolute;
    };
    std::vector<ParsedScope> scopes;
    while (accept("scope")) {
      ParsedScope scope;
      scope.name = string();
      scope.parent = keyword_integer("in");
      scope.block = keyword_integer("block");
      scope.before = keyword_integer("before");
      scope.absolute = accept("absolute");
      if (scope.parent > static_cast<int64_t>(scopes.size())) fail("a scope before its parent");
      graph_->add_scope(static_cast<ScopeId>(scope.parent), scope.name, graph_->body(),
                        scope.absolute);
      scopes.push_back(std::move(scope));
    }
    scope_count_ = static_cast<int64_t>(scopes.size()) + 1;
    expect("body");
    arguments(graph_->body());
    if (accept("captures")) captures();
    block_body(graph_->body());
    std::vector<NameScope> table{graph_->scopes()[0]};
    for (size_t i = 0; i < scopes.size(); ++i) {
      if (scopes[i].block >= static_cast<int64_t>(blocks_.size())) fail("a scope in no block");
      NameScope scope = graph_->scopes()[i + 1];
      scope.block = blocks_[static_cast<size_t>(scopes[i].block)];
      scope.entered_before = static_cast<uint32_t>(scopes[i].before);
      table.push_back(scope);
    }
    graph_->restore_numbering(std::move(table),
                              static_cast<uint32_t>(std::clamp<int64_t>(next_id, 0, UINT32_MAX)));
    try {
      verify_graph(*graph_);
    } catch (const Error& error) {
      throw_invalid_argument(std::string(source_) + ": " + error.what());
    }
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, Code code = Code::kInvalidArgument) const {
    auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Error(code, place(line) + what);
  }

  std::string place(std::ptrdiff_t line) const {
    std::string number = std::to_string(line);
    return source_ == kNoSource ? "graph text, line " + number + ": "
                                : std::string(source_) + ":" + number + ": ";
  }

  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (text_[at_] != ' ' && text_[at_] != '\n') {
        return;
      }
    }
  }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  // A whole word, or punctuation.
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    size_t end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  std::string_view word() {
    skip();
    size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (start == at_) fail("expected a name");
    return text_.substr(start, at_ - start);
  }
  template <class T>
  T number() {
    skip();
    T value{};
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  int64_t integer() { return number<int64_t>(); }
  int64_t keyword_integer(std::string_view keyword) {
    expect(keyword);
    int64_t value = integer();
    if (value < 0 || value > UINT32_MAX) fail("a number out of range");
    return value;
  }
  template <class Bits>
  bool accept_bits(Bits& bits) {
    skip();
    if (text_.substr(at_, 2) != "0x") return false;
    const char* start = text_.data() + at_ + 2;
    auto [end, error] = std::from_chars(start, text_.data() + text_.size(), bits, 16);
    if (error != std::errc()) fail("expected bits after 0x");
    at_ = static_cast<size_t>(end - text_.data());
    return true;
  }
  template <class T, class Bits>
  T real() {
    Bits bits;
    if (!accept_bits(bits)) return number<T>();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  }
  std::string string() {
    skip();
    if (at_ >= text_.size() || text_[at_] != '"') fail("expected a quoted string");
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      if (text_[at_] != 'x') {
        result += text_[at_];
        continue;
      }
      int high = at_ + 1 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
      int low = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 2]) : -1;
      if (high < 0 || low < 0) fail("expected two hexadecimal digits after \\x");
      result += static_cast<char>(high << 4 | low);
      at_ += 2;
    }
    if (at_ >= text_.size()) fail("a string does not end");
    ++at_;
    return result;
  }

  PartialShape shape() {
    expect("[");
    if (accept("...")) {
      expect("]");
      return PartialShape::unknown();
    }
    std::vector<Dim> dims;
    while (!accept("]")) {
      if (!dims.empty()) expect(",");
      skip();
      if (accept("?")) {
        dims.push_back(kUnknownDim);
      } else if (at_ < text_.size() && text_[at_] == 's') {
        Dim& symbol = symbols_[std::string(word())];
        if (symbol == 0) symbol = new_symbol();
        dims.push_back(symbol);
      } else {
        dims.push_back(integer());
        if (dims.back() < 0) fail("a negative dimension");
      }
    }
    return PartialShape(std::span<const Dim>(dims));
  }
  DType dtype() {
    std::string_view name = word();
    DType type = dtype_from_name(name);
    if (type == DType::kInvalid) fail("unknown dtype " + std::string(name));
    return type;
  }

  ValueType type() {
    for (HandleType::Kind kind :
         {HandleType::Kind::kVariable, HandleType::Kind::kList, HandleType::Kind::kDataset,
          HandleType::Kind::kIterator, HandleType::Kind::kOptional, HandleType::Kind::kOther}) {
      if (!accept(handle_kind_name(kind))) continue;
      HandleType handle{kind, DType::kInvalid, {}};
      expect("<");
      if (!accept(">")) {
        handle.dtype = dtype();
        handle.shape = shape();
        if (accept(",")) {
          expect("not");
          expect("trainable");
          handle.trainable = false;
        }
        expect(">");
      }
      bool resource = kind == HandleType::Kind::kVariable || kind == HandleType::Kind::kIterator;
      ValueType result{resource ? DType::kResource : DType::kVariant, PartialShape::scalar(),
                       std::make_shared<HandleType>(std::move(handle))};
      if (accept("@")) {
        result.dtype = dtype();
        result.shape = shape();
      }
      return result;
    }
    DType element = dtype();
    return tensor_type(element, shape());
  }

  size_t value_number() {
    expect("%");
    int64_t value = integer();
    if (value < 0) fail("a negative value number");
    return static_cast<size_t>(value);
  }
  void define(size_t number, Value* value) {
    if (number != values_.size()) fail("values must be numbered in order");
    values_.push_back(value);
  }
  Value* use() {
    size_t number = value_number();
    if (number >= values_.size()) fail("%" + std::to_string(number) + " is not defined");
    return values_[number];
  }
  ScopeId scope() {
    int64_t value = integer();
    if (value < 0 || value >= scope_count_) fail("no such scope");
    return static_cast<ScopeId>(value);
  }

  void arguments(Block& block) {
    blocks_.push_back(&block);
    expect("(");
    while (!accept(")")) {
      if (!block.arguments.empty()) expect(",");
      size_t number = value_number();
      expect(":");
      Value* argument = graph_->add_argument(block, type());
      define(number, argument);
      skip();
      if (at_ < text_.size() && text_[at_] == '"') argument->name = InternedString(string());
      if (accept("scope")) argument->scope = scope();
      argument->made_before = 0;
      if (accept("before")) argument->made_before = static_cast<uint32_t>(integer());
    }
  }

  void captures() {
    int64_t count = integer();
    const auto& all = graph_->body().arguments;
    if (count < 0 || count > static_cast<int64_t>(all.size())) fail("more captures than arguments");
    for (size_t i = all.size() - static_cast<size_t>(count); i < all.size(); ++i) {
      graph_->captures().push_back({Tensor(), nullptr, all[i]});
    }
    // Either what they are, or the nodes of the body.
    size_t before = at_;
    expect("{");
    skip();
    if (at_ >= text_.size() || text_[at_] != '%') {
      at_ = before;
      return;
    }
    size_t start = at_;
    value_number();
    bool is_list = accept("=");
    at_ = is_list ? start : before;
    if (!is_list) return;
    for (Capture& capture : graph_->captures()) {
      if (&capture != &graph_->captures().front()) expect(",");
      if (use() != capture.inner) fail("captures are not in the order of the arguments");
      expect("=");
      if (accept("outer") || accept("handle")) continue;
      capture.tensor = tensor();
      if (capture.tensor.dtype() != capture.inner->dtype() ||
          !capture.inner->shape().without_symbols().is_supertype_of(capture.tensor.shape())) {
        fail("a captured tensor of another type than its argument");
      }
    }
    expect("}");
  }

  void block_body(Block& block) {
    if (++depth_ > kMaxDepth) fail("blocks are nested too deeply");
    expect("{");
    while (!accept("return")) node(block);
    skip();
    while (at_ < text_.size() && text_[at_] != '}') {
      if (!block.results.empty()) expect(",");
      block.results.push_back(use());
      skip();
    }
    expect("}");
    --depth_;
  }

  void node(Block& block) {
    std::vector<std::pair<size_t, ValueType>> outputs;
    skip();
    if (at_ < text_.size() && text_[at_] == '%') {
      do {
        size_t number = value_number();
        expect(":");
        outputs.emplace_back(number, type());
      } while (accept(","));
      expect("=");
    }
    std::string_view name = word();
    const OpDef* op = find_op(name);
    if (!op) fail("there is no op " + std::string(name), Code::kNotFound);
    expect("(");
    std::vector<Value*> inputs;
    while (!accept(")")) {
      if (!inputs.empty()) expect(",");
      inputs.push_back(use());
    }
    Attributes values = attributes(*op);
    std::vector<ValueType> types;
    for (const auto& output : outputs) types.push_back(output.second);
    Node* made =
        graph_->add_node(block, *op, std::move(inputs), std::move(values), std::move(types));
    for (size_t i = 0; i < outputs.size(); ++i) define(outputs[i].first, made->outputs[i]);
    skip();
    if (at_ < text_.size() && text_[at_] == '"') made->base_name = InternedString(string());
    if (accept("scope")) made->scope = scope();
    if (accept("id")) {
      int64_t id = integer();
      if (id < 0 || id > UINT32_MAX) fail("a number out of range");
      made->id = static_cast<uint32_t>(id);
    }
    nodes_[made->id] = made;
    if (accept("device")) made->device = InternedString(string());
    while (accept("after")) {
      auto found = nodes_.find(static_cast<uint32_t>(integer()));
      if (found == nodes_.end()) fail("a control input that is not there");
      made->control_inputs.push_back(found->second);
    }
    if (accept("calls")) {
      std::string callee = string();
      if (callees_) made->callee = callees_(callee);
      if (!made->callee) fail("there is no function " + callee, Code::kNotFound);
    }
    while (accept("block")) {
      Block* inner = graph_->add_block(*made);
      arguments(*inner);
      block_body(*inner);
    }
  }

  Attributes attributes(const OpDef& op) {
    Attributes result;
    if (!accept("{")) return result;
    bool first = true;
    while (!accept("}")) {
      if (!first) expect(",");
      first = false;
      std::string_view name = word();
      int index = op.signature.attribute_index(name);
      if (index < 0) fail(std::string(op.name) + " has no attribute " + std::string(name));
      expect("=");
      result.set(index, attribute(op.signature.attributes[static_cast<size_t>(index)].kind));
    }
    return result;
  }

  template <class Parse>
  auto list(Parse parse) {
    std::vector<decltype(parse())> items;
    expect("[");
    while (!accept("]")) {
      if (!items.empty()) expect(",");
      items.push_back(parse());
    }
    return items;
  }

  bool boolean() {
    if (accept("true")) return true;
    expect("false");
    return false;
  }

  AttributeValue attribute(AttributeKind kind) {
    switch (kind) {
      case AttributeKind::kBool:
        return boolean();
      case AttributeKind::kInt:
        return integer();
      case AttributeKind::kFloat:
        return real<double, uint64_t>();
      case AttributeKind::kString:
        return string();
      case AttributeKind::kType:
        return dtype();
      case AttributeKind::kShape:
        return shape();
      case AttributeKind::kTensor:
        return tensor();
      case AttributeKind::kIntList:
        return list([this] { return integer(); });
      case AttributeKind::kFloatList:
        return list([this] { return real<double, uint64_t>(); });
      case AttributeKind::kStringList:
        return list([this] { return string(); });
      case AttributeKind::kTypeList:
        return list([this] { return dtype(); });
      case AttributeKind::kShapeList:
        return list([this] { return shape(); });
      case AttributeKind::kBlock:
        break;
    }
    fail("an attribute that has no text");
  }

  Tensor tensor() {
    DType element = dtype();
    PartialShape dims = shape();
    if (!dims.is_fully_defined()) fail("a constant of unknown shape");
    if (element == DType::kResource || element == DType::kVariant) {
      fail("a constant that holds a handle cannot be read back");
    }
    int64_t count = checked_element_count(dims.dims());
    // Every element takes a character at least: what is claimed cannot exceed what is there.
    if (count > static_cast<int64_t>(text_.size() - at_)) fail("a constant with too few elements");
    Tensor result = Tensor::empty(element, dims.dims());
    expect("{");
    for (int64_t i = 0; i < count; ++i) {
      if (i) expect(",");
      read_element(result, i);
    }
    expect("}");
    return result;
  }

  template <class T>
  void store(Tensor& tensor, int64_t index, T value) {
    std::memcpy(
        static_cast<char*>(tensor.mutable_raw_data()) + static_cast<size_t>(index) * sizeof(T),
        &value, sizeof value);
  }
  template <class T>
  void store_bits(Tensor& tensor, int64_t index) {
    T bits{};
    if (!accept_bits(bits)) fail("expected bits as 0x...");
    store(tensor, index, bits);
  }
  template <class T, class Bits>
  void store_complex(Tensor& tensor, int64_t index) {
    expect("(");
    T re = real<T, Bits>();
    expect(",");
    T im = real<T, Bits>();
    expect(")");
    store(tensor, index, std::complex<T>(re, im));
  }

  void read_element(Tensor& tensor, int64_t index) {
    switch (tensor.dtype()) {
      case DType::kBool:
        return store(tensor, index, boolean());
      case DType::kFloat:
        return store(tensor, index, real<float, uint32_t>());
      case DType::kDouble:
        return store(tensor, index, real<double, uint64_t>());
      case DType::kComplex64:
        return store_complex<float, uint32_t>(tensor, index);
      case DType::kComplex128:
        return store_complex<double, uint64_t>(tensor, index);
      case DType::kHalf:
      case DType::kBfloat16:
        return store_bits<uint16_t>(tensor, index);
      case DType::kFloat8E5m2:
      case DType::kFloat8E4m3fn:
        return store_bits<uint8_t>(tensor, index);
      case DType::kInt8:
        return store(tensor, index, number<int8_t>());
      case DType::kInt16:
        return store(tensor, index, number<int16_t>());
      case DType::kInt32:
        return store(tensor, index, number<int32_t>());
      case DType::kInt64:
        return store(tensor, index, number<int64_t>());
      case DType::kUint8:
        return store(tensor, index, number<uint8_t>());
      case DType::kUint16:
        return store(tensor, index, number<uint16_t>());
      case DType::kUint32:
        return store(tensor, index, number<uint32_t>());
      case DType::kUint64:
        return store(tensor, index, number<uint64_t>());
      case DType::kString:
        tensor.mutable_data<StringElement>()[index] = string();
        return;
      default:
        fail("a constant of this dtype has no text");
    }
  }

  std::string_view text_;
  std::string_view source_;
  CalleeResolver callees_;
  size_t at_ = 0;
  int depth_ = 0;
  int64_t scope_count_ = 1;
  std::shared_ptr<Graph> graph_;
  std::vector<Value*> values_;
  std::vector<Block*> blocks_;
  std::unordered_map<uint32_t, Node*> nodes_;
  std::unordered_map<std::string, Dim> symbols_;
};

}  // namespace

std::shared_ptr<Graph> parse_graph(std::string_view text, const CalleeResolver& callees) {
  Parser parser(text, kNoSource, callees);
  parser.version();
  std::shared_ptr<Graph> graph = parser.parse();
  if (!parser.at_end()) parser.fail_at_end();
  return graph;
}

std::vector<std::shared_ptr<Graph>> parse_module(std::string_view text, std::string_view source) {
  std::vector<std::shared_ptr<Graph>> graphs;
  Parser parser(text, source, [&](std::string_view name) -> std::shared_ptr<Callee> {
    for (const auto& graph : graphs) {
      if (graph->name() == name) return std::make_shared<TextCallee>(graph);
    }
    return nullptr;
  });
  parser.version();
  do {
    graphs.push_back(parser.parse());
    graphs.back()->freeze();
  } while (!parser.at_end());
  return graphs;
}

}  // namespace graphwright
