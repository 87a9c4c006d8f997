// The Variable type: what it is made of, how it is made, read and written.
#include "python/variable_object.h"

#include <new>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/name_scope.h"
#include "python/python_api.h"
#include "python/tensor_object.h"
#include "python/tensor_slots.h"
#include "python/variable_methods.h"
#include "tensor/format.h"
#include "trace/build_context.h"

namespace graphwright {

PyTypeObject* variable_type_object = nullptr;

namespace {

PyTypeObject* resource_variable_type = nullptr;
PyTypeObject* unread_variable_type = nullptr;

// The variable that Python knows for each resource; entries go when the variable does.
std::unordered_map<const Object*, PyObject*>& registry() {
  static auto* const variables = new std::unordered_map<const Object*, PyObject*>();
  return *variables;
}

struct Members {
  std::shared_ptr<VariableResource> resource;
  Operand handle;
  ValueType type;
  std::string name;
};

struct VariableObject {
  PyObject ob_base;
  Members* members;  // null until __init__ has run
  bool trainable;
  bool registered;
  PyObject* constraint;
  PyObject* synchronization;
  PyObject* aggregation;
  PyObject* dictionary;
  PyObject* weak_references;
};

VariableObject* as_variable(PyObject* object) { return reinterpret_cast<VariableObject*>(object); }

Members& members_of(PyObject* object) {
  Members* members = as_variable(object)->members;
  if (!members) {
    throw_type_error(
        "this variable was not initialized: its class did not call "
        "tf.Variable.__init__");
  }
  return *members;
}

// --- Life ----------------------------------------------------------------------------------------

PyObject* allocate(PyTypeObject* type) {
  auto* generic_alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return checked(generic_alloc(type, 0));  // zeroed
}

PyObject* new_variable(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded(
      [&] { return allocate(type == variable_type_object ? resource_variable_type : type); });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  VariableObject* variable = as_variable(self);
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(variable->constraint);
  Py_VISIT(variable->synchronization);
  Py_VISIT(variable->aggregation);
  Py_VISIT(variable->dictionary);
  return 0;
}

int clear(PyObject* self) {
  VariableObject* variable = as_variable(self);
  Py_CLEAR(variable->constraint);
  Py_CLEAR(variable->synchronization);
  Py_CLEAR(variable->aggregation);
  Py_CLEAR(variable->dictionary);
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  VariableObject* variable = as_variable(self);
  if (variable->weak_references) PyObject_ClearWeakRefs(self);
  if (variable->registered) registry().erase(variable->members->resource.get());
  delete variable->members;
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  auto* release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

// --- Construction --------------------------------------------------------------------------------

struct VariableArguments {
  PyObject *initial_value = Py_None, *trainable = Py_None, *validate_shape = Py_True,
           *caching_device = Py_None, *name = Py_None, *variable_def = Py_None, *dtype = Py_None,
           *import_scope = Py_None, *constraint = Py_None, *synchronization = nullptr,
           *aggregation = nullptr, *shape = Py_None, *lifting = Py_True;
};

VariableArguments parse(PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"initial_value",
                                      "trainable",
                                      "validate_shape",
                                      "caching_device",
                                      "name",
                                      "variable_def",
                                      "dtype",
                                      "import_scope",
                                      "constraint",
                                      "synchronization",
                                      "aggregation",
                                      "shape",
                                      "experimental_enable_variable_lifting",
                                      nullptr};
  VariableArguments a;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOOOOOOOOOOOO:Variable",
                                   const_cast<char**>(names), &a.initial_value, &a.trainable,
                                   &a.validate_shape, &a.caching_device, &a.name, &a.variable_def,
                                   &a.dtype, &a.import_scope, &a.constraint, &a.synchronization,
                                   &a.aggregation, &a.shape, &a.lifting)) {
    throw_python_error();
  }
  return a;
}

Operand initial_operand(PyObject* initial_value, DType dtype) {
  Ref value = Ref::borrow(initial_value);
  if (PyCallable_Check(initial_value) && !is_tensor_like(initial_value)) {
    value = checked_ref(PyObject_CallNoArgs(initial_value));
  }
  try {
    return operand_of(value.get(), ConversionOptions{dtype, DType::kInvalid, "initial_value"});
  } catch (Error& error) {
    if (error.detail().kind == ErrorKind::kValueError && !error.detail().foreign) {
      throw_value_error("initial_value: " + error.detail().message);
    }
    throw;
  }
}

PartialShape declared_shape(PyObject* shape, const PartialShape& value_shape) {
  if (shape == Py_None) return value_shape.without_symbols();
  PartialShape declared = shape_from_python(shape);
  if (!declared.is_compatible_with(value_shape)) {
    throw_value_error("In this `tf.Variable` creation, the initial value's shape (" +
                      value_shape.without_symbols().to_string() +
                      ") is not compatible with the explicitly supplied `shape` argument (" +
                      repr_of(shape) + ").");
  }
  return declared;
}

[[noreturn]] void throw_not_singleton() {
  throw_value_error(
      "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
      "tf.Variable is only created once or created outside tf.function. See "
      "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
}

void initialize(PyObject* self, const VariableArguments& a) {
  if (a.initial_value == Py_None) {
    throw_value_error(
        "The `initial_value` arg to `tf.Variable` must be specified except when you are not "
        "providing a `variable_def`. You provided neither.");
  }
  if (a.constraint != Py_None && !PyCallable_Check(a.constraint)) {
    throw_value_error("The `constraint` argument must be a callable.");
  }
  BuildContext& context = current_context();
  if (!context.is_eager() && context.variable_creation() == VariableCreation::kForbid) {
    throw_not_singleton();
  }
  DType dtype = a.dtype == Py_None ? DType::kInvalid : dtype_from_python(a.dtype);
  Operand value = initial_operand(a.initial_value, dtype);
  PartialShape shape = declared_shape(a.shape, shape_of(value));

  auto members = std::make_unique<Members>();
  members->name = current_scope_path() +
                  (a.name == Py_None ? std::string("Variable") : std::string(text_of(a.name)));
  members->type = tensor_type(dtype_of(value), shape);
  members->resource =
      std::make_shared<VariableResource>(members->name, members->type.dtype, std::move(shape),
                                         a.trainable == Py_None || PyObject_IsTrue(a.trainable));
  members->handle = Tensor::object(DType::kResource, members->resource);
  if (context.is_eager() || value.is_tensor()) {
    members->resource->assign(value.tensor().owned()).throw_if_error();
  }
  if (!context.is_eager()) {
    context.lifted_variables().push_back({members->resource, std::move(value)});
  }

  VariableObject* variable = as_variable(self);
  if (variable->members) throw_type_error("tf.Variable.__init__ was called twice");
  variable->trainable = a.trainable == Py_None || PyObject_IsTrue(a.trainable) == 1;
  auto keep = [](PyObject*& target, PyObject* object) {
    Py_INCREF(object);
    target = object;
  };
  keep(variable->constraint, a.constraint);
  keep(variable->synchronization,
       a.synchronization ? a.synchronization : default_synchronization());
  keep(variable->aggregation, a.aggregation ? a.aggregation : default_aggregation());
  registry()[members->resource.get()] = self;
  variable->registered = true;
  variable->members = members.release();
}

int init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded_int([&] {
    initialize(self, parse(arguments, keywords));
    return 0;
  });
}

// A second Python object for the state of `source`.
PyObject* derived_variable(PyTypeObject* type, PyObject* source, Operand handle, std::string name) {
  const Members& from = members_of(source);
  Ref result = Ref::steal(allocate(type));
  VariableObject* variable = as_variable(result.get());
  variable->members =
      new Members{handle.is_tensor() ? from.resource : nullptr, handle, from.type, std::move(name)};
  variable->trainable = as_variable(source)->trainable;
  for (PyObject* VariableObject::* field :
       {&VariableObject::constraint, &VariableObject::synchronization,
        &VariableObject::aggregation}) {
    variable->*field = as_variable(source)->*field;
    Py_XINCREF(variable->*field);
  }
  return result.release();
}

// --- Text and attributes -------------------------------------------------------------------------

PyObject* repr(PyObject* self) {
  return guarded([&] {
    const Members& members = members_of(self);
    bool unread = Py_TYPE(self) == unread_variable_type;
    std::string text = "<tf.Variable '" + (unread ? members.name : members.name + ":0") +
                       "' shape=" + members.type.shape.to_string() +
                       " dtype=" + std::string(dtype_name(members.type.dtype));
    if (members.resource && current_context().is_eager()) {
      Tensor value = members.resource->read();
      text += ", numpy=" + (value ? array_text(value) : std::string("<uninitialized>"));
    }
    return make_text(text + ">").release();
  });
}

Py_hash_t refuse_hash(PyObject* self) {
  PyErr_SetString(PyExc_TypeError,
                  ("Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " +
                   repr_of(self) + ")")
                      .c_str());
  return -1;
}

template <auto Get>
PyObject* getter(PyObject* self, void*) {
  return guarded([&] { return Get(self); });
}
PyObject* owned(PyObject* object) {
  if (!object) object = Py_None;
  Py_INCREF(object);
  return object;
}

PyObject* get_name(PyObject* self) {
  const Members& members = members_of(self);
  bool unread = Py_TYPE(self) == unread_variable_type;
  return make_text(unread ? members.name : members.name + ":0").release();
}
PyObject* get_shared_name(PyObject* self) { return make_text(members_of(self).name).release(); }
PyObject* get_dtype(PyObject* self) { return dtype_object(members_of(self).type.dtype); }
PyObject* get_shape(PyObject* self) { return shape_object(members_of(self).type.shape); }
PyObject* get_handle(PyObject* self) { return wrap(members_of(self).handle); }
PyObject* get_trainable(PyObject* self) { return PyBool_FromLong(as_variable(self)->trainable); }
PyObject* get_constraint(PyObject* self) { return owned(as_variable(self)->constraint); }
PyObject* get_synchronization(PyObject* self) { return owned(as_variable(self)->synchronization); }
PyObject* get_aggregation(PyObject* self) { return owned(as_variable(self)->aggregation); }
PyObject* get_id(PyObject* self) {
  const Members& members = members_of(self);
  return checked(members.resource ? PyLong_FromVoidPtr(members.resource.get())
                                  : PyLong_FromUnsignedLongLong(members.handle.identity()));
}
PyObject* get_device(PyObject*) {
  return checked(PyUnicode_FromString("/job:localhost/replica:0/task:0/device:CPU:0"));
}
PyObject* get_none(PyObject*) { Py_RETURN_NONE; }
PyObject* refuse_initial_value(PyObject*) {
  throw Error(ErrorKind::kRuntimeError,
              "This property is not supported when eager execution is enabled.");
}
PyObject* get_ndim(PyObject* self) {
  const PartialShape& shape = members_of(self).type.shape;
  if (!shape.has_rank()) Py_RETURN_NONE;
  return checked(PyLong_FromLong(shape.rank()));
}

PyGetSetDef attributes[] = {
    {"name", getter<get_name>, nullptr, "The variable's name, 'Variable:0'.", nullptr},
    {"dtype", getter<get_dtype>, nullptr, "The DType of its elements.", nullptr},
    {"shape", getter<get_shape>, nullptr, "The TensorShape that values must be compatible with.",
     nullptr},
    {"handle", getter<get_handle>, nullptr, "The resource tensor that refers to its state.",
     nullptr},
    {"trainable", getter<get_trainable>, nullptr, "Whether tapes watch it by themselves.", nullptr},
    {"constraint", getter<get_constraint>, nullptr,
     "The function that optimizers apply to a new value, or None.", nullptr},
    {"synchronization", getter<get_synchronization>, nullptr, "A tf.VariableSynchronization.",
     nullptr},
    {"aggregation", getter<get_aggregation>, nullptr, "A tf.VariableAggregation.", nullptr},
    {"device", getter<get_device>, nullptr, "Where its elements are.", nullptr},
    {"ndim", getter<get_ndim>, nullptr, "The number of dimensions; None if it is not known.",
     nullptr},
    {"initializer", getter<get_none>, nullptr, "None: variables are initialised at once.", nullptr},
    {"initial_value", getter<refuse_initial_value>, nullptr, "RuntimeError: it is not kept.",
     nullptr},
    {"_shared_name", getter<get_shared_name>, nullptr, "The name without ':0'.", nullptr},
    {"_id", getter<get_id>, nullptr, "Equal only for the same variable.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef type_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(VariableObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(VariableObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kVariableDoc =
    "A tensor that can be changed.\n\n"
    "initial_value: a tensor, anything that converts to one, or a function without arguments that\n"
    "returns one. dtype and shape of later values must fit; shape= may leave dimensions open.\n"
    "Trainable variables are watched by gradient tapes.";

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* create_type(const char* name, std::vector<PyType_Slot> slots, PyTypeObject* base,
                          bool is_base) {
  slots.push_back({0, nullptr});
  unsigned long flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | (is_base ? Py_TPFLAGS_BASETYPE : 0);
  PyType_Spec spec = {name, sizeof(VariableObject), 0, static_cast<unsigned int>(flags),
                      slots.data()};
  Ref bases;
  if (base) bases = checked_ref(PyTuple_Pack(1, reinterpret_cast<PyObject*>(base)));
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.get())));
}

}  // namespace

// --- For the rest of the module ------------------------------------------------------------------

bool is_variable(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  bool is_one = type == resource_variable_type || type == unread_variable_type;
  if (!is_one) {
    if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) return false;  // no walk for these
    is_one = PyType_IsSubtype(type, variable_type_object);
  }
  return is_one && as_variable(object)->members;
}

bool is_unread_variable(PyObject* object) { return Py_TYPE(object) == unread_variable_type; }

Operand variable_handle(PyObject* variable) { return members_of(variable).handle; }

const std::shared_ptr<VariableResource>& variable_resource(PyObject* variable) {
  return members_of(variable).resource;
}

ValueType variable_value_type(PyObject* variable) { return members_of(variable).type; }

bool variable_is_trainable(PyObject* variable) { return as_variable(variable)->trainable; }

void notify_variable_use(PyObject* variable) {
  const Members& members = members_of(variable);
  if (!members.resource || thread_state.bits == 0) return;
  if (thread_state.bits & ThreadState::kObserving) {
    std::vector<OpObserver*> observers = thread_state.observers;
    for (OpObserver* observer : observers) {
      observer->on_variable(members.resource, as_variable(variable)->trainable);
    }
  }
  BuildContext& context = current_context();
  if (!context.is_eager()) context.watch_variable(members.resource);
}

Operand read_variable(PyObject* variable) {
  const Members& members = members_of(variable);
  if (thread_state.bits == 0 && members.resource) {
    if (Tensor value = members.resource->read()) return value;
  }
  notify_variable_use(variable);
  static const OpDef& op = get_op("ReadVariableOp");
  static const int dtype_index = op.signature.attribute_index("dtype");
  Attributes attributes;
  attributes.set(dtype_index, members.type.dtype);
  Operand value = current_builder().op("ReadVariableOp", {members.handle}, attributes);
  if (value.is_value() && !value.value()->type.shape.is_fully_defined()) {
    value.value()->type.shape = value.value()->type.shape.merged_with(members.type.shape);
  }
  return value;
}

PyObject* variable_with_handle(PyObject* variable, Operand handle) {
  return derived_variable(resource_variable_type, variable, std::move(handle),
                          members_of(variable).name);
}

PyObject* public_class(PyObject* variable) {
  PyTypeObject* type = Py_TYPE(variable);
  bool own = type == resource_variable_type || type == unread_variable_type;
  return reinterpret_cast<PyObject*>(own ? variable_type_object : type);
}

PyObject* unread_variable(PyObject* variable) {
  const Members& members = members_of(variable);
  return derived_variable(unread_variable_type, variable, members.handle, "UnreadVariable");
}

PyObject* variable_of_handle(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.rank() != 0) return nullptr;
  auto found = registry().find(handle.object_element().get());
  if (found == registry().end()) return nullptr;
  Py_INCREF(found->second);
  return found->second;
}

void create_variable_type(PyObject* module) {
  std::vector<PyType_Slot> slots = {{Py_tp_doc, const_cast<char*>(kVariableDoc)},
                                    {Py_tp_new, slot(new_variable)},
                                    {Py_tp_init, slot(init)},
                                    {Py_tp_dealloc, slot(deallocate)},
                                    {Py_tp_traverse, slot(traverse)},
                                    {Py_tp_clear, slot(clear)},
                                    {Py_tp_repr, slot(repr)},
                                    {Py_tp_str, slot(repr)},
                                    {Py_tp_hash, slot(refuse_hash)},
                                    {Py_tp_getset, attributes},
                                    {Py_tp_methods, variable_methods()},
                                    {Py_tp_members, type_members},
                                    {Py_mp_subscript, slot(variable_subscript)}};
  for (std::span<const PyType_Slot> more : {operator_slots(), variable_protocol_slots()}) {
    slots.insert(slots.end(), more.begin(), more.end());
  }
  variable_type_object = create_type("graphwright.Variable", slots, nullptr, true);
  resource_variable_type =
      create_type("graphwright.ResourceVariable",
                  {{Py_tp_doc, const_cast<char*>("A variable that tf.Variable made.")},
                   {Py_tp_dealloc, slot(deallocate)},
                   {Py_tp_traverse, slot(traverse)},
                   {Py_tp_clear, slot(clear)}},
                  variable_type_object, true);
  unread_variable_type =
      create_type("graphwright._UnreadVariable",
                  {{Py_tp_doc, const_cast<char*>("A variable as an assignment returned it.")},
                   {Py_tp_dealloc, slot(deallocate)},
                   {Py_tp_traverse, slot(traverse)},
                   {Py_tp_clear, slot(clear)}},
                  variable_type_object, false);
  Ref priority = checked_ref(PyLong_FromLong(100));
  PyObject* type = reinterpret_cast<PyObject*>(variable_type_object);
  if (PyObject_SetAttrString(type, "__array_priority__", priority.get()) < 0 ||
      PyObject_SetAttrString(module, "Variable", type) < 0 ||
      PyObject_SetAttrString(module, "ResourceVariable",
                             reinterpret_cast<PyObject*>(resource_variable_type)) < 0) {
    throw_python_error();
  }
}

}  // namespace graphwright
