#include "python/autograph_tree.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "python/errors.h"

namespace graphwright {
namespace {

using namespace autograph;

// Python's classes and names, looked up once.
struct Grammar {
  struct Class {
    PyObject* type = nullptr;  // null: this Python does not have it
    newfunc make = nullptr;
    std::vector<PyObject*> field_names;  // null: this Python does not have it
    bool positioned = false;
  };
  std::array<Class, static_cast<size_t>(Kind::kCount)> classes;
  std::unordered_map<PyObject*, Kind> kinds;
  std::array<PyObject*, static_cast<size_t>(Operator::kCount)> operators;  // instances
  std::unordered_map<PyObject*, Operator> operator_types;
  std::array<PyObject*, 3> contexts;
  std::unordered_map<PyObject*, Context> context_types;
  PyObject* line = interned("lineno");
  PyObject* column = interned("col_offset");
  PyObject* end_line = interned("end_lineno");
  PyObject* end_column = interned("end_col_offset");
  PyObject* kind = interned("kind");
  PyObject* empty_tuple = checked(PyTuple_New(0));

  Grammar() {
    Ref module = checked_ref(PyImport_ImportModule("ast"));
    for (size_t i = 1; i < classes.size(); ++i) {
      const KindSpec& spec = kind_spec(static_cast<Kind>(i));
      PyObject* type = PyObject_GetAttrString(module.get(), spec.name);
      if (type == nullptr) {
        PyErr_Clear();
        continue;
      }
      Class& entry = classes[i];
      entry.type = type;
      entry.make = reinterpret_cast<newfunc>(
          PyType_GetSlot(reinterpret_cast<PyTypeObject*>(type), Py_tp_new));
      kinds.emplace(type, static_cast<Kind>(i));
      Ref fields = checked_ref(PyObject_GetAttrString(type, "_fields"));
      for (int f = 0; f < spec.python_field_count; ++f) {
        PyObject* name = interned(spec.fields[f].name);
        int has = PySequence_Contains(fields.get(), name);
        if (has < 0) throw_python_error();
        entry.field_names.push_back(has ? name : nullptr);
      }
      Ref attributes = checked_ref(PyObject_GetAttrString(type, "_attributes"));
      entry.positioned = PyObject_Length(attributes.get()) > 0;
    }
    auto instance = [&](const char* name) {
      Ref type = checked_ref(PyObject_GetAttrString(module.get(), name));
      return std::pair{type, checked(PyObject_CallObject(type.get(), nullptr))};
    };
    for (size_t i = 0; i < operators.size(); ++i) {
      auto [type, object] = instance(operator_name(static_cast<Operator>(i)));
      operators[i] = object;
      operator_types.emplace(type.get(), static_cast<Operator>(i));
    }
    constexpr const char* kContexts[] = {"Load", "Store", "Del"};
    for (size_t i = 0; i < contexts.size(); ++i) {
      auto [type, object] = instance(kContexts[i]);
      contexts[i] = object;
      context_types.emplace(type.get(), static_cast<Context>(i));
    }
  }

  static const Grammar& get() {
    static const Grammar* grammar = new Grammar;  // lives as long as the interpreter
    return *grammar;
  }
};

PyObject* type_of(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

// --- ast to table

class Walker {
 public:
  Walker(PythonTree* tree, int line_offset)
      : tree_(*tree), t_(tree->table), line_offset_(line_offset) {}

  NodeId walk(PyObject* object) {
    auto found = g_.kinds.find(type_of(object));
    if (found == g_.kinds.end()) {
      throw Error(ErrorKind::kNotImplementedError, "the Python construct " + type_name(object) +
                                                       " is not supported" + line_note(object));
    }
    Kind kind = found->second;
    const KindSpec& spec = kind_spec(kind);
    const Grammar::Class& entry = g_.classes[static_cast<size_t>(kind)];
    NodeId node = t_.add(kind, entry.positioned ? position(object) : Position());
    for (int f = 0; f < spec.python_field_count; ++f) {
      if (entry.field_names[f] == nullptr) continue;
      Ref value = checked_ref(PyObject_GetAttr(object, entry.field_names[f]));
      uint32_t converted = field(spec.fields[f].type, value.get());
      t_.set(node, f, converted);
    }
    if (kind == Kind::kConstant) mark_u_prefix(object, node);
    return node;
  }

 private:
  uint32_t field(FieldType type, PyObject* value) {
    if (type == FieldType::kConstant) return constant(value);
    if (value == Py_None) return 0;
    switch (type) {
      case FieldType::kNode:
        return walk(value);
      case FieldType::kNodeList:
      case FieldType::kBlock:
        return list(value, [&](PyObject* item) { return item == Py_None ? 0 : walk(item); });
      case FieldType::kString:
        return t_.intern(text_of(value));
      case FieldType::kStringList:
        return list(value, [&](PyObject* item) { return t_.intern(text_of(item)); });
      case FieldType::kInteger:
        return static_cast<uint32_t>(integer(value));
      case FieldType::kOperator:
        return static_cast<uint32_t>(g_.operator_types.at(type_of(value)));
      case FieldType::kOperatorList:
        return list(value, [&](PyObject* item) {
          return static_cast<uint32_t>(g_.operator_types.at(type_of(item)));
        });
      case FieldType::kContext:
        return static_cast<uint32_t>(g_.context_types.at(type_of(value)));
      case FieldType::kConstant:
        break;
    }
    return 0;
  }

  template <typename F>
  ListId list(PyObject* value, F each) {
    Py_ssize_t count = PyList_Size(value);
    if (count < 0) throw_python_error();
    std::vector<uint32_t> items;
    items.reserve(count);
    for (Py_ssize_t i = 0; i < count; ++i) items.push_back(each(PyList_GetItem(value, i)));
    return t_.add_list(items);
  }

  static long integer(PyObject* value) {
    long result = PyLong_AsLong(value);
    if (result == -1 && PyErr_Occurred()) throw_python_error();
    return result;
  }

  int attribute(PyObject* object, PyObject* name) {
    Ref value = checked_ref(PyObject_GetAttr(object, name));
    return value.get() == Py_None ? 0 : static_cast<int>(integer(value.get()));
  }

  Position position(PyObject* object) {
    return {attribute(object, g_.line) + line_offset_, attribute(object, g_.column),
            attribute(object, g_.end_line) + line_offset_, attribute(object, g_.end_column)};
  }

  std::string line_note(PyObject* object) {
    if (PyObject_HasAttr(object, g_.line) == 0) return "";
    return " (line " + std::to_string(attribute(object, g_.line) + line_offset_) + ")";
  }

  ConstantId constant(PyObject* value) {
    Constant constant{.type = ConstantType::kNone};
    tree_.constants.push_back(Ref::borrow(value));
    constant.external = static_cast<uint32_t>(tree_.constants.size());
    if (value == Py_None) {
      constant.type = ConstantType::kNone;
    } else if (value == Py_True) {
      constant.type = ConstantType::kTrue;
    } else if (value == Py_False) {
      constant.type = ConstantType::kFalse;
    } else if (value == Py_Ellipsis) {
      constant.type = ConstantType::kEllipsis;
    } else if (PyUnicode_CheckExact(value)) {
      constant.type = ConstantType::kString;
      constant.text = string(value);
    } else if (PyBytes_CheckExact(value)) {
      constant.type = ConstantType::kBytes;
      constant.text.assign(PyBytes_AsString(value), PyBytes_Size(value));
    } else {
      constant.type = PyLong_CheckExact(value)    ? ConstantType::kInt
                      : PyFloat_CheckExact(value) ? ConstantType::kFloat
                                                  : ConstantType::kComplex;
      constant.text = text_of(checked_ref(PyObject_Repr(value)).get());
    }
    return t_.add_constant(std::move(constant));
  }

  std::string string(PyObject* value) {
    Py_ssize_t size = 0;
    std::string text;
    if (const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size)) {
      text.assign(utf8, size);
    } else {
      PyErr_Clear();  // a lone surrogate
      Ref bytes = checked_ref(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass"));
      text.assign(PyBytes_AsString(bytes.get()), PyBytes_Size(bytes.get()));
    }
    bool ascii = true;
    for (unsigned char c : text) ascii &= c < 0x80;
    if (!ascii) note_nonprintable(value);
    return text;
  }

  void note_nonprintable(PyObject* value) {
    Py_ssize_t length = PyUnicode_GetLength(value);
    for (Py_ssize_t i = 0; i < length; ++i) {
      Py_UCS4 point = PyUnicode_ReadChar(value, i);
      if (point < 0x80) continue;
      Ref character = checked_ref(PyUnicode_Substring(value, i, i + 1));
      Ref printable = checked_ref(PyObject_CallMethod(character.get(), "isprintable", nullptr));
      if (printable.get() == Py_False) t_.nonprintable.insert(point);
    }
  }

  void mark_u_prefix(PyObject* object, NodeId node) {
    Ref kind = Ref::steal(PyObject_GetAttr(object, g_.kind));
    if (!kind) {
      PyErr_Clear();
      return;
    }
    if (kind.get() == Py_None) return;
    Constant changed = t_.constant(t_.get(node, 0));
    changed.u_prefix = true;
    t_.set(node, 0, t_.add_constant(std::move(changed)));
  }

  PythonTree& tree_;
  NodeTable& t_;
  const Grammar& g_ = Grammar::get();
  int line_offset_;
};

// --- table to ast

class Emitter {
 public:
  explicit Emitter(const PythonTree& tree) : tree_(tree), t_(tree.table) {}

  Ref emit(NodeId node) {
    Kind kind = t_.kind(node);
    const KindSpec& spec = kind_spec(kind);
    const Grammar::Class& entry = g_.classes[static_cast<size_t>(kind)];
    Ref object = make(kind);
    for (int f = 0; f < spec.python_field_count; ++f) {
      if (entry.field_names[f] == nullptr) continue;
      set(object, entry.field_names[f], field(spec.fields[f].type, t_.get(node, f)));
    }
    if (entry.positioned) set_position(object, t_.position(node));
    return object;
  }

  Ref make(Kind kind) {
    const Grammar::Class& entry = g_.classes[static_cast<size_t>(kind)];
    return checked_ref(
        entry.make(reinterpret_cast<PyTypeObject*>(entry.type), g_.empty_tuple, nullptr));
  }

  void set(const Ref& object, PyObject* name, const Ref& value) {
    if (PyObject_SetAttr(object.get(), name, value.get()) < 0) throw_python_error();
  }

  void set_position(const Ref& object, const Position& position) {
    set(object, g_.line, number(position.line));
    set(object, g_.column, number(position.column));
    set(object, g_.end_line, number(position.end_line));
    set(object, g_.end_column, number(position.end_column));
  }

  Ref number(int value) { return checked_ref(PyLong_FromLong(value)); }

  Ref list(std::span<const uint32_t> items, auto each) {
    Ref result = checked_ref(PyList_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; i < items.size(); ++i) {
      PyList_SetItem(result.get(), static_cast<Py_ssize_t>(i), Ref(each(items[i])).release());
    }
    return result;
  }

 private:
  Ref field(FieldType type, uint32_t value) {
    switch (type) {
      case FieldType::kNode:
        return value == 0 ? Ref::borrow(Py_None) : emit(value);
      case FieldType::kNodeList:
      case FieldType::kBlock:
        return list(t_.list(value),
                    [&](NodeId item) { return item == 0 ? Ref::borrow(Py_None) : emit(item); });
      case FieldType::kString:
        return value == 0 ? Ref::borrow(Py_None) : string(value);
      case FieldType::kStringList:
        return list(t_.list(value), [&](StringId item) { return string(item); });
      case FieldType::kConstant:
        return constant(t_.constant(value));
      case FieldType::kInteger:
        return number(static_cast<int32_t>(value));
      case FieldType::kOperator:
        return Ref::borrow(g_.operators[value]);
      case FieldType::kOperatorList:
        return list(t_.list(value), [&](uint32_t item) { return Ref::borrow(g_.operators[item]); });
      case FieldType::kContext:
        return Ref::borrow(g_.contexts[value]);
    }
    return {};
  }

  Ref string(StringId id) {
    if (id >= strings_.size()) strings_.resize(t_.string_count());
    if (!strings_[id]) {
      PyObject* text = make_text(t_.string(id)).release();
      PyUnicode_InternInPlace(&text);
      strings_[id] = Ref::steal(text);
    }
    return strings_[id];
  }

  Ref constant(const Constant& constant) {
    if (constant.external != 0) return tree_.constants[constant.external - 1];
    switch (constant.type) {
      case ConstantType::kNone:
        return Ref::borrow(Py_None);
      case ConstantType::kTrue:
        return Ref::borrow(Py_True);
      case ConstantType::kFalse:
        return Ref::borrow(Py_False);
      case ConstantType::kString:
        return make_text(constant.text);
      case ConstantType::kInt:
        return checked_ref(PyLong_FromString(constant.text.c_str(), nullptr, 10));
      case ConstantType::kTuple: {
        Ref result = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(constant.parts.size())));
        for (size_t i = 0; i < constant.parts.size(); ++i) {
          PyTuple_SetItem(result.get(), static_cast<Py_ssize_t>(i),
                          this->constant(t_.constant(constant.parts[i])).release());
        }
        return result;
      }
      default:
        throw_internal("the lowering made a constant of an unexpected type");
    }
  }

  const PythonTree& tree_;
  const NodeTable& t_;
  const Grammar& g_ = Grammar::get();
  std::vector<Ref> strings_;
};

}  // namespace

NodeId walk_ast(PythonTree* tree, PyObject* node, int line_offset) {
  return Walker(tree, line_offset).walk(node);
}

Ref emit_ast(const PythonTree& tree, NodeId node) { return Emitter(tree).emit(node); }

Ref emit_module(const PythonTree& tree, NodeId node, const std::vector<std::string>& variables) {
  // Built in a small table of its own, with the function put in place of a `pass`.
  PythonTree scope;
  NodeTable& t = scope.table;
  const Position& position = tree.table.position(node);
  NodeId arguments = t.add(Kind::kArguments, position);
  std::vector<uint32_t> names;
  for (const std::string& variable : variables) {
    NodeId arg = t.add(Kind::kArg, position);
    t.set(arg, field::kArgName, t.intern(variable));
    names.push_back(arg);
  }
  t.set(arguments, field::kArgs, t.add_list(names));
  bool is_lambda = tree.table.kind(node) == Kind::kLambda;
  NodeId inner = t.add(is_lambda ? Kind::kReturn : Kind::kPass, position);
  std::vector<uint32_t> statements;
  if (!is_lambda) {
    // What the function knows by its own name is a global, unless it is a closure variable.
    const std::string& name = tree.table.string(tree.table.get(node, field::kFunctionName));
    if (std::find(variables.begin(), variables.end(), name) == variables.end()) {
      NodeId global = t.add(Kind::kGlobal, position);
      t.set(global, field::kNamesNames, t.add_list(std::vector<uint32_t>{t.intern(name)}));
      statements.push_back(global);
    }
  }
  statements.push_back(inner);
  NodeId function = t.add(Kind::kFunctionDef, position);
  t.set(function, field::kFunctionName, t.intern("ag_scope__"));
  t.set(function, field::kFunctionArgs, arguments);
  t.set(function, field::kFunctionBody, t.add_list(statements));

  Emitter emitter(tree), scope_emitter(scope);
  Ref converted = emitter.emit(node);
  Ref outer = scope_emitter.emit(function);
  Ref body = checked_ref(PyObject_GetAttr(outer.get(), interned("body")));
  if (is_lambda) {
    Ref statement = Ref::borrow(PyList_GetItem(body.get(), 0));
    scope_emitter.set(statement, interned("value"), converted);
  } else if (PyList_SetItem(body.get(), PyList_Size(body.get()) - 1, converted.release()) < 0) {
    throw_python_error();
  }
  Ref module = checked_ref(PyObject_CallObject(imported("ast", "Module"), nullptr));
  Ref functions = checked_ref(PyList_New(0));
  if (PyList_Append(functions.get(), outer.get()) < 0) throw_python_error();
  scope_emitter.set(module, interned("body"), functions);
  scope_emitter.set(module, interned("type_ignores"), checked_ref(PyList_New(0)));
  return module;
}

}  // namespace graphwright
