"""Variables: every way to read and write them, eagerly and staged. TensorFlow 2.21's results."""

import copy

import pytest

import graphwright as tf

# Name, program (its first statement makes the variable v, outside of functions), and what
# TensorFlow 2.21 gives eagerly and staged: the result and the variable's value, or an error.
PROGRAMS = [
    (
        "scatter_add",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_add(S([10.,20.,30.],[0,2,0]))",
        (("float32", [41.0, 2.0, 23.0]), ("float32", [41.0, 2.0, 23.0])),
        (("float32", [41.0, 2.0, 23.0]), ("float32", [41.0, 2.0, 23.0])),
    ),
    (
        "scatter_sub",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_sub(S([10.,20.],[0,2]))",
        (("float32", [-9.0, 2.0, -17.0]), ("float32", [-9.0, 2.0, -17.0])),
        (("float32", [-9.0, 2.0, -17.0]), ("float32", [-9.0, 2.0, -17.0])),
    ),
    (
        "scatter_mul",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.scatter_mul(S([[2.,3.],[4.,5.]],[1,1]))",
        (("float32", [[1.0, 2.0], [24.0, 60.0]]), ("float32", [[1.0, 2.0], [24.0, 60.0]])),
        (("float32", [[1.0, 2.0], [24.0, 60.0]]), ("float32", [[1.0, 2.0], [24.0, 60.0]])),
    ),
    (
        "scatter_div",
        "v=tf.Variable([7,-7,9]); r=v.scatter_div(S([2,2],[0,1]))",
        (("int32", [3, -3, 9]), ("int32", [3, -3, 9])),
        (("int32", [3, -3, 9]), ("int32", [3, -3, 9])),
    ),
    (
        "scatter_min",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_min(S([0.,5.],[0,2]))",
        (("float32", [0.0, 2.0, 3.0]), ("float32", [0.0, 2.0, 3.0])),
        (("float32", [0.0, 2.0, 3.0]), ("float32", [0.0, 2.0, 3.0])),
    ),
    (
        "scatter_max",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_max(S([0.,5.],[0,2]))",
        (("float32", [1.0, 2.0, 5.0]), ("float32", [1.0, 2.0, 5.0])),
        (("float32", [1.0, 2.0, 5.0]), ("float32", [1.0, 2.0, 5.0])),
    ),
    (
        "scatter_update",
        "v=tf.Variable(['a','b','c']); r=v.scatter_update(S(['x','y'],[2,2]))",
        (("string", [b"a", b"b", b"y"]), ("string", [b"a", b"b", b"y"])),
        (("string", [b"a", b"b", b"y"]), ("string", [b"a", b"b", b"y"])),
    ),
    (
        "scatter_update_bool",
        "v=tf.Variable([True,True,False]); r=v.scatter_update(S([False],[0]))",
        (("bool", [False, True, False]), ("bool", [False, True, False])),
        (("bool", [False, True, False]), ("bool", [False, True, False])),
    ),
    (
        "scatter_div0",
        "v=tf.Variable([7,8]); r=v.scatter_div(S([0],[1]))",
        "!InvalidArgumentError",
        "!InvalidArgumentError",
    ),
    (
        "scatter_bad",
        "v=tf.Variable([1.,2.]); r=v.scatter_add(S([1.],[2]))",
        "!InvalidArgumentError",
        "!InvalidArgumentError",
    ),
    (
        "scatter_notslices",
        "v=tf.Variable([1.,2.]); r=v.scatter_add([1.])",
        "!TypeError",
        "!TypeError",
    ),
    (
        "scatter_dtype",
        "v=tf.Variable([1.,2.]); r=v.scatter_add(S([1],[0]))",
        "!ValueError",
        "!ValueError",
    ),
    (
        "nd_add",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.scatter_nd_add([[0,1],[1,0]],[10.,20.])",
        (("float32", [[1.0, 12.0], [23.0, 4.0]]), ("float32", [[1.0, 12.0], [23.0, 4.0]])),
        (("float32", [[1.0, 12.0], [23.0, 4.0]]), ("float32", [[1.0, 12.0], [23.0, 4.0]])),
    ),
    (
        "nd_sub",
        "v=tf.Variable([1,2,3]); r=v.scatter_nd_sub([[0],[0]],[1,1])",
        (("int32", [-1, 2, 3]), ("int32", [-1, 2, 3])),
        (("int32", [-1, 2, 3]), ("int32", [-1, 2, 3])),
    ),
    (
        "nd_update",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.scatter_nd_update([[1]],[[9.,8.]])",
        (("float32", [[1.0, 2.0], [9.0, 8.0]]), ("float32", [[1.0, 2.0], [9.0, 8.0]])),
        (("float32", [[1.0, 2.0], [9.0, 8.0]]), ("float32", [[1.0, 2.0], [9.0, 8.0]])),
    ),
    (
        "nd_min",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_nd_min([[0],[2]],[0.,9.])",
        (("float32", [0.0, 2.0, 3.0]), ("float32", [0.0, 2.0, 3.0])),
        (("float32", [0.0, 2.0, 3.0]), ("float32", [0.0, 2.0, 3.0])),
    ),
    (
        "nd_max",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_nd_max([[0],[2]],[0.,9.])",
        (("float32", [1.0, 2.0, 9.0]), ("float32", [1.0, 2.0, 9.0])),
        (("float32", [1.0, 2.0, 9.0]), ("float32", [1.0, 2.0, 9.0])),
    ),
    (
        "nd_bad",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_nd_add([[5]],[1.])",
        "!InvalidArgumentError",
        "!InvalidArgumentError",
    ),
    (
        "nd_shape",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_nd_add([[0]],[[1.]])",
        "!InvalidArgumentError",
        "!ValueError",
    ),
    (
        "nd_conv",
        "v=tf.Variable([1.,2.,3.]); r=v.scatter_nd_add([[0]],['a'])",
        "!TypeError",
        "!TypeError",
    ),
    (
        "batch",
        (
            "v=tf.Variable([[1,2,3],[4,5,6]]); "
            "r=v.batch_scatter_update(tf.IndexedSlices([[10,20],[30,40]],[[0,1],[2,0]]))"
        ),
        (("int32", [[10, 20, 3], [40, 5, 30]]), ("int32", [[10, 20, 3], [40, 5, 30]])),
        (("int32", [[10, 20, 3], [40, 5, 30]]), ("int32", [[10, 20, 3], [40, 5, 30]])),
    ),
    (
        "sparse_read",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.sparse_read([1,0])",
        (("float32", [[3.0, 4.0], [1.0, 2.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
        (("float32", [[3.0, 4.0], [1.0, 2.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
    ),
    (
        "gather_nd",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.gather_nd([[1,0],[0,0]])",
        (("float32", [3.0, 1.0]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
        (("float32", [3.0, 1.0]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
    ),
    (
        "gather_nd_bad",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v.gather_nd([[5,0]])",
        "!InvalidArgumentError",
        "!InvalidArgumentError",
    ),
    (
        "tf_gather_nd",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=tf.gather_nd(v,[[1,0],[0,0]])",
        (("float32", [3.0, 1.0]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
        (("float32", [3.0, 1.0]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
    ),
    (
        "count",
        "v=tf.Variable(1); r=v.count_up_to(3); r=(r,v.count_up_to(3))",
        ([("int32", 1), ("int32", 2)], ("int32", 3)),
        ([("int32", 1), ("int32", 2)], ("int32", 3)),
    ),
    ("count_limit", "v=tf.Variable(3); r=v.count_up_to(3)", "!OutOfRangeError", "!OutOfRangeError"),
    ("count_float", "v=tf.Variable(3.); r=v.count_up_to(5)", "!InvalidArgumentError", "!TypeError"),
    ("assign_bad", "v=tf.Variable([1.,2.]); r=v.assign([3.])", "!ValueError", "!ValueError"),
    (
        "assign_add_bad",
        "v=tf.Variable([1.,2.]); r=v.assign_add([3.,4.,5.])",
        "!InvalidArgumentError",
        "!ValueError",
    ),
    (
        "assign_add_bcast",
        "v=tf.Variable([1.,2.]); r=v.assign_add(1.)",
        "!InvalidArgumentError",
        "!ValueError",
    ),
    ("assign_type", "v=tf.Variable([1.,2.]); r=v.assign(['a','b'])", "!TypeError", "!TypeError"),
    (
        "shape_none",
        (
            "v=tf.Variable([1.,2.],shape=[None]); "
            "v.assign([1.,2.,3.]); "
            "r=(tf.identity(v), tf.shape(v))"
        ),
        ([("float32", [1.0, 2.0, 3.0]), ("int32", [3])], ("float32", [1.0, 2.0, 3.0])),
        ([("float32", [1.0, 2.0, 3.0]), ("int32", [3])], ("float32", [1.0, 2.0, 3.0])),
    ),
    (
        "shape_unknown",
        "v=tf.Variable(1.,shape=tf.TensorShape(None)); v.assign([[1.,2.]]); r=v.read_value()",
        (("float32", [[1.0, 2.0]]), ("float32", [[1.0, 2.0]])),
        (("float32", [[1.0, 2.0]]), ("float32", [[1.0, 2.0]])),
    ),
    (
        "shape_bad",
        "v=tf.Variable([1.,2.],shape=[None]); r=v.assign([[1.]])",
        "!ValueError",
        "!ValueError",
    ),
    (
        "slice_assign",
        "v=tf.Variable([1.,2.,3.,4.]); r=v[1:3].assign([9.,8.])",
        (("float32", [1.0, 9.0, 8.0, 4.0]), ("float32", [1.0, 9.0, 8.0, 4.0])),
        (("float32", [1.0, 9.0, 8.0, 4.0]), ("float32", [1.0, 9.0, 8.0, 4.0])),
    ),
    (
        "slice_assign_bc",
        "v=tf.Variable([[1.,2.],[3.,4.]]); r=v[:,1].assign(7.)",
        (("float32", [[1.0, 7.0], [3.0, 7.0]]), ("float32", [[1.0, 7.0], [3.0, 7.0]])),
        (("float32", [[1.0, 7.0], [3.0, 7.0]]), ("float32", [[1.0, 7.0], [3.0, 7.0]])),
    ),
    (
        "slice_step",
        "v=tf.Variable([1,2,3,4,5]); r=v[::-2].assign([7,8,9])",
        (("int32", [9, 2, 8, 4, 7]), ("int32", [9, 2, 8, 4, 7])),
        (("int32", [9, 2, 8, 4, 7]), ("int32", [9, 2, 8, 4, 7])),
    ),
    (
        "slice_bad",
        "v=tf.Variable([1.,2.,3.,4.]); r=v[1:3].assign([9.,8.,7.])",
        "!InvalidArgumentError",
        "!InvalidArgumentError",
    ),
    (
        "slice_add",
        "v=tf.Variable([1.,2.,3.]); r=v[1:].assign_add([1.,1.])",
        "!AttributeError",
        "!AttributeError",
    ),
    (
        "alias",
        "v=tf.Variable(1.); a=tf.identity(v); v.assign(5.); b=tf.identity(v); r=(a,b)",
        ([("float32", 1.0), ("float32", 5.0)], ("float32", 5.0)),
        ([("float32", 1.0), ("float32", 5.0)], ("float32", 5.0)),
    ),
    (
        "alias2",
        (
            "v=tf.Variable([1.,2.]); "
            "a=v.read_value(); "
            "v.assign_add([1.,1.]); "
            "v.scatter_nd_add([[0]],[5.]); "
            "r=(a,v.read_value())"
        ),
        ([("float32", [1.0, 2.0]), ("float32", [7.0, 3.0])], ("float32", [7.0, 3.0])),
        ([("float32", [1.0, 2.0]), ("float32", [7.0, 3.0])], ("float32", [7.0, 3.0])),
    ),
    (
        "alias3",
        "v=tf.Variable([1.,2.]); a=v+0.; w=v; w.assign([9.,9.]); r=(a,v+0.)",
        ([("float32", [1.0, 2.0]), ("float32", [9.0, 9.0])], ("float32", [9.0, 9.0])),
        ([("float32", [1.0, 2.0]), ("float32", [9.0, 9.0])], ("float32", [9.0, 9.0])),
    ),
    (
        "complex",
        "v=tf.Variable([1+2j]); r=v.assign_add([1j])",
        (("complex128", [(1 + 3j)]), ("complex128", [(1 + 3j)])),
        (("complex128", [(1 + 3j)]), ("complex128", [(1 + 3j)])),
    ),
    (
        "half",
        (
            "v=tf.Variable(tf.constant([1.,2.],tf.float16)); "
            "r=v.scatter_nd_sub([[1]],tf.constant([.5],tf.float16))"
        ),
        (("float16", [1.0, 1.5]), ("float16", [1.0, 1.5])),
        (("float16", [1.0, 1.5]), ("float16", [1.0, 1.5])),
    ),
    (
        "uint8",
        "v=tf.Variable(tf.constant([250],tf.uint8)); r=v.assign_add(tf.constant([10],tf.uint8))",
        (("uint8", [4]), ("uint8", [4])),
        (("uint8", [4]), ("uint8", [4])),
    ),
    (
        "boolassign",
        "v=tf.Variable([True,False]); r=v.assign([False,True])",
        (("bool", [False, True]), ("bool", [False, True])),
        (("bool", [False, True]), ("bool", [False, True])),
    ),
    (
        "stringassign",
        "v=tf.Variable('a'); r=v.assign('b')",
        (("string", b"b"), ("string", b"b")),
        (("string", b"b"), ("string", b"b")),
    ),
    (
        "initialized",
        "v=tf.Variable(1.); r=tf.convert_to_tensor(v.is_initialized())",
        (("bool", True), ("float32", 1.0)),
        (("bool", True), ("float32", 1.0)),
    ),
    (
        "raw",
        (
            "v=tf.Variable([1.,2.]); "
            "tf.raw_ops.ResourceScatterMul(resource=v.handle,indices=[0],updates=3.); "
            "r=v.read_value()"
        ),
        (("float32", [3.0, 2.0]), ("float32", [3.0, 2.0])),
        (("float32", [3.0, 2.0]), ("float32", [3.0, 2.0])),
    ),
    (
        "raw_nd",
        (
            "v=tf.Variable([1.,2.]); "
            "tf.raw_ops.ResourceScatterNdMax(ref=v.handle,indices=[[0]],updates=[3.]); "
            "r=v.read_value()"
        ),
        (("float32", [3.0, 2.0]), ("float32", [3.0, 2.0])),
        (("float32", [3.0, 2.0]), ("float32", [3.0, 2.0])),
    ),
    (
        "grad_gather_nd",
        (
            "v=tf.Variable([[1.,2.],[3.,4.]])\n"
            "with tf.GradientTape() as g:\n"
            " y=tf.reduce_sum(v.gather_nd([[1,0],[1,0]])*[2.,3.])\n"
            "r=tf.convert_to_tensor(g.gradient(y,v))"
        ),
        (("float32", [[0.0, 0.0], [5.0, 0.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
        (("float32", [[0.0, 0.0], [5.0, 0.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
    ),
    (
        "grad_sparse",
        (
            "v=tf.Variable([[1.,2.],[3.,4.]])\n"
            "with tf.GradientTape() as g:\n"
            " y=tf.reduce_sum(v.sparse_read([1,1]))\n"
            "r=tf.convert_to_tensor(g.gradient(y,v))"
        ),
        (("float32", [[0.0, 0.0], [2.0, 2.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
        (("float32", [[0.0, 0.0], [2.0, 2.0]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])),
    ),
    (
        "grad_assign",
        (
            "v=tf.Variable(3.)\n"
            "with tf.GradientTape() as g:\n"
            " a=v*v; "
            "v.assign(5.); "
            "y=a+v*v\n"
            "r=g.gradient(y,v)"
        ),
        (("float32", 16.0), ("float32", 5.0)),
        (("float32", 16.0), ("float32", 5.0)),
    ),
    (
        "tensor_scatter_sub",
        "r=tf.tensor_scatter_nd_sub([1,2,3],[[0],[0]],[1,1])",
        (("int32", [-1, 2, 3]), None),
        (("int32", [-1, 2, 3]), None),
    ),
    (
        "tensor_scatter_max",
        "r=tf.tensor_scatter_nd_max([1,2,3],[[0],[0]],[7,5])",
        (("int32", [7, 2, 3]), None),
        (("int32", [7, 2, 3]), None),
    ),
    (
        "tensor_scatter_min",
        "r=tf.tensor_scatter_nd_min([1,2,3],[[0],[0]],[-7,5])",
        (("int32", [-7, 2, 3]), None),
        (("int32", [-7, 2, 3]), None),
    ),
]


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


def told(value):
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    elements = value.numpy()
    return value.dtype.name, elements if isinstance(elements, bytes) else elements.tolist()


def tensors(value):
    if isinstance(value, (list, tuple)):
        return [tensors(item) for item in value]
    return None if value is None else tf.convert_to_tensor(value)


def parts(program):
    """The statement that makes the variable, and the rest."""
    if not program.startswith("v="):
        return "", program
    first_line = program.split("\n")[0]
    head, _, rest = program.partition(";" if ";" in first_line else "\n")
    return head, rest.strip()


def run(program, staged):
    names = {"tf": tf, "S": slices}
    head, body = parts(program)
    exec(head, names)

    def evaluate():
        inner = dict(names)
        exec(body, inner)
        return tensors(inner.get("r"))

    result = tf.function(evaluate, autograph=False)() if staged else evaluate()
    return told(result), told(names.get("v"))


def error_class(name):
    return getattr(tf.errors, name, None) or getattr(__builtins__, name, None) or eval(name)


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("program", "eager", "in_graph"),
    [row[1:] for row in PROGRAMS],
    ids=[row[0] for row in PROGRAMS],
)
def test_programs(program, eager, in_graph, staged):
    expected = in_graph if staged else eager
    if isinstance(expected, str):
        with pytest.raises(error_class(expected[1:])):
            run(program, staged)
    else:
        assert run(program, staged) == expected


def test_assignments_without_their_value():
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3.0, 4.0], use_locking=True, name="n", read_value=False) is None
    assert v.assign_add([1.0, 1.0], read_value=False) is None
    assert v.assign_sub([0.5, 0.5], read_value=False) is None
    assert v.numpy().tolist() == [3.5, 4.5]


def test_writes_in_loops_happen_in_order():
    v = tf.Variable([0, 0, 0])

    @tf.function
    def loop():
        for i in tf.range(3):
            v.scatter_nd_add([[i]], [i + 1])
            if i > 0:
                v.scatter_update(tf.IndexedSlices([0], [i - 1]))
            v.assign_add([1, 1, 1])
        return v.read_value()

    # i=0: [1,0,0]+1; i=1: [2,3,1] -> [0,3,1]+1; i=2: [1,4,5] -> [1,0,5]+1
    assert loop().numpy().tolist() == [2, 1, 6]


def test_copies():
    v = tf.Variable([1.0, 2.0])
    twin = copy.deepcopy(v)
    v.assign([5.0, 6.0])
    assert (twin.numpy().tolist(), v.numpy().tolist()) == ([1.0, 2.0], [5.0, 6.0])
