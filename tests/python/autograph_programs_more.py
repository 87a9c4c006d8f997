# ruff: noqa
# fmt: off
"""Programs whose conversion is compared with TensorFlow's: everything else."""
import dataclasses
import functools

import numpy as np

tf = None  # whoever runs the conversions puts a module here
SCALE = 3
get_state = "a global that clashes with a generated name"


def comprehension_list(xs):
    return [x * 2 for x in xs if x > 0]


def comprehension_calls(xs, f):
    return [f(x) for x in f(xs) if f(x) and not x]


def comprehension_nested(xss):
    return [[y for y in xs] for xs in xss], [y for xs in xss for y in xs]


def comprehension_dict_set(xs):
    return {x: x + 1 for x in xs}, {x for x in xs}, sum(x for x in xs), list((x for x in xs))


def comprehension_ternary(xs):
    return [x if x > 0 else -x for x in xs]


def comprehension_in_loop(xs, n):
    i = 0
    ys = []
    while i < n:
        ys = [y + i for y in xs]
        i += 1
    return ys


def lambda_simple(x):
    f = lambda y, z=1, *a, k, **kw: y + x
    return f(x, k=1)


def lambda_in_loop(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return fs


def lambda_calls(f, xs):
    return list(map(lambda v: f(v) if v else 0, xs))


def lambda_reads_loop_var(n):
    i = 0
    while i < n:
        g = lambda a: a + i
        i = g(1)
    return i


def nested_function(x):
    def inner(y):
        return x + y
    return inner(1)


def nested_function_loop(n):
    def body(i, s):
        if i > 2:
            s += i
        return s
    s = 0
    for i in range(n):
        s = body(i, s)
    return s


def nested_function_closure(n):
    total = 0
    def add(i):
        nonlocal total
        if i > 0:
            total += i
    for i in range(n):
        add(i)
    return total


def nested_decorated(x):
    @functools.lru_cache(maxsize=None)
    def inner(y: int = 3) -> int:
        """Inner doc."""
        return y
    return inner(x)


def nested_function_in_if(x):
    if x:
        def f():
            return 1
    else:
        def f():
            return 2
    return f()


def nested_function_reads_state(n):
    i = 0
    def show():
        print(i)
    while i < n:
        show()
        i += 1
    return i


def nested_two_deep(x):
    def a():
        def b():
            while x:
                print(x)
            return 1
        return b()
    return a()


def nested_class(x):
    class Inner(object):
        attr = x

        def __init__(self, v):
            self.v = v
            if v:
                self.w = v
            else:
                self.w = 0

        def method(self):
            return self.v
    return Inner(x).method()


def composite_attribute(a, n):
    i = 0
    while i < n:
        a.x = a.x + i
        i += 1
    return a


def composite_subscript(a, n):
    i = 0
    while i < n:
        a[i] = a[i] + 1
        a['k'] = i
        i += 1
    return a


def composite_if(a, c):
    if c:
        a.x = 1
        a.b.y = 2
    else:
        a.x = 2
    return a.x


def composite_local(n, f):
    i = 0
    while i < n:
        x = f()
        x.y = i
        i = i + x.y
    return i


def composite_nested(a, n):
    for i in range(n):
        if i > 2:
            a.b[i].c = i
    return a


def self_attribute(self, x):
    if x:
        self.count = self.count + 1
        self.items[0] = x
    return self.count


def global_read(x):
    if x:
        y = SCALE
    else:
        y = 0
    return y


def global_write(x):
    global SCALE
    if x:
        SCALE = x
    while SCALE > 3:
        SCALE = SCALE - 1
    return SCALE


def clashing_names(fscope, do_return, n):
    break_ = 0
    loop_body = 1
    while n > 0:
        if n == loop_body:
            break
        n -= break_
    if n:
        return fscope
    return do_return


def clashing_itr(itr, get_state_1):
    for x in itr:
        print(x, get_state_1)


def delete_name(x):
    y = x
    del y
    return x


def delete_mixed(x, d):
    y = z = x
    del y, d['k'], z, d.attr
    return x


def delete_in_if(x, y):
    if x:
        del y
        z = 1
    else:
        z = 2
    return z


def try_except(f):
    try:
        x = f()
    except (ValueError, TypeError) as e:
        x = str(e)
    except Exception:
        raise RuntimeError('no') from None
    else:
        x = x + 1
    finally:
        print('end')
    return x


def try_with_control(f, n):
    i = 0
    try:
        while i < n:
            i += 1
    except ValueError:
        if i:
            i = 0
    return i


def raise_plain(x):
    if x < 0:
        raise ValueError('negative: {}'.format(x))
    return x


def with_statement(m, x):
    with m.scope(x), tf.name_scope('s') as s:
        y = m(x)
    return y, s


def with_control(m, x):
    with m:
        if x:
            y = 1
        else:
            y = 2
    return y


def with_gradient_tape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def assert_statement(x):
    assert x > 0, 'must be positive'
    assert x
    return x


def import_inside(x):
    import os
    import os.path as p, sys
    from collections import OrderedDict as O, abc
    return os, p, sys, O, abc


def starred(xs):
    a, *b = xs
    print(*b)
    return [*b, a]


def pass_only():
    pass


def expression_statements(x):
    x
    x.y
    x + 1
    'a string'
    x()


def conditional_with_side_effects(x, acc):
    if x:
        acc.append(x)
    return acc


def loop_with_everything(xs, n):
    total = 0
    seen = []
    for i, x in enumerate(xs):
        if x is None:
            continue
        k = 0
        while k < n:
            if k > x:
                break
            total += k if k % 2 else -k
            k += 1
        else_value = total
        if total > 100:
            return seen
        seen.append(else_value)
    return total


def state_order(b, a, c):
    while a < 3:
        c = b
        a = a + 1
        z = c
        b = z + a
    return c, z


def live_only_inside(n):
    i = 0
    acc = 0
    while i < n:
        acc = acc + i
        i = i + 1
    return i


def if_input_only(x, y):
    if x:
        y = y + 1
        z = y
    else:
        z = 0
    return z


def loop_in_if(x, n):
    if x:
        for i in range(n):
            x = x + i
    else:
        while x < n:
            x += 1
    return x


def dead_code(x):
    raise ValueError(x)
    y = x
    return y


def power_iteration(m, v, tolerance):
    difference = tf.constant(1.0)
    steps = 0
    while difference > tolerance:
        w = tf.linalg.matvec(m, v)
        w = w / tf.norm(w)
        difference = tf.reduce_max(tf.abs(w - v))
        v = w
        steps += 1
    return v, steps


def dynamic_rnn(cell, inputs, state):
    inputs = tf.transpose(inputs, [1, 0, 2])
    n = tf.shape(inputs)[0]
    outputs = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        output, state = cell(inputs[i], state)
        outputs = outputs.write(i, output)
    return tf.transpose(outputs.stack(), [1, 0, 2]), state


def loop_options(n):
    i = 0
    while i < n:
        tf.autograph.experimental.set_loop_options(
            maximum_iterations=10, shape_invariants=[(i, tf.TensorShape([]))])
        i += 1
    for j in range(n):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
    return i


def recursive(n):
    if n > 0:
        return recursive(n - 1)
    return 1


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def matrix(n):
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(i * j)
        rows.append(row)
    return rows


def multiple_targets_loop(n):
    a = b = 0
    for i in range(n):
        a, b = b, a + b
    return a


def unused_loop_result(n):
    s = 0
    for i in range(n):
        s = i


def lambda_global():
    pass


lambda_one = lambda x: x if x > 0 else -x
lambda_call = lambda x, f=abs: f(x) and x
lambda_default = lambda: (lambda y: y)(1)


class Model:
    def call(self, x, training=False):
        if training:
            x = self.dropout(x)
        for layer in self.layers:
            x = layer(x)
        self.last = x
        return x

    def with_super(self, x):
        super().call(x)
        return super(Model, self).call(x)


method_call = Model.call
method_super = Model.with_super


def make_closure():
    captured = 5
    def closure(x):
        while x < captured:
            x += captured
        return x
    return closure


closure_function = make_closure()


def walrus(x):
    if (y := x + 1) > 2:
        x = y
    while (z := x - 1) > 0:
        x = z
    return x


def match_statement(x):
    match x:
        case 0:
            y = 'zero'
        case [a, *rest] if a:
            y = rest
        case {'k': v, **others}:
            y = v, others
        case Model(layers=q) | Model(last=q):
            y = q
        case None | True as w:
            y = w
        case 'text' | -1:
            y = 1
        case _:
            y = x
    return y


def match_in_loop(xs):
    n = 0
    for x in xs:
        match x:
            case 0:
                continue
            case 1:
                n = n + x
        n += 1
    return n


def async_inside(x):
    async def inner():
        await x
    return inner


def conditional_delete(d, k):
    for i in range(3):
        if k:
            del d[i]
    return d


def global_in_loop(n):
    global COUNTER
    for i in range(n):
        COUNTER = i
        if i > 2:
            COUNTER = 0


def nonlocal_in_loop(n):
    count = 0
    def step():
        nonlocal count
        while count < n:
            count += 1
        for i in range(n):
            count = i
        return count
    return step()


def class_body_control(x):
    class Inner:
        if x:
            a = 1
        for i in range(3):
            b = i
    return Inner


def lambda_default_reads(x):
    f = lambda y=x: y
    g = lambda: x.attr[0]
    while x:
        x = f() + g()
    return x


def returns_in_with_and_if(m, x):
    with m:
        if x:
            return 1
    return 2


def return_tuple_in_loops(xs):
    for x in xs:
        for y in x:
            if y:
                return x, y
    else_ = 1
    return None, else_


def star_args_everywhere(f, *args, **kwargs):
    x = f(1, *args, *args, y=2, **kwargs, **{'z': 3})
    return x


def method_chain_assign(a):
    a.b().c = 1
    a.b()[0] = 2
    a[0].b[a.i].c = 3
    while a.n:
        a[0].b[a.i].c = a.n
        a.b().c = a.n
    return a


def subscript_expression_state(a, i):
    while i < 3:
        a[i + 1] = i
        a[i, 0] = i
        a[1:2] = i
        a[-1] = i
        i += 1
    return a


def string_subscripts(d):
    for k in d:
        d['a']['b'] = d['a']['c'] + 1
        d[k] = d["it's"]
    return d


def nested_try(f):
    while f():
        try:
            try:
                x = f()
            finally:
                y = 1
        except ValueError:
            x = y
    return x


def raise_in_try(f):
    try:
        if f:
            raise ValueError('x')
        y = 1
    except ValueError:
        y = 2
    return y


def finally_return(f):
    try:
        f()
    finally:
        if f:
            return 1
    return 2


def if_expression_statement(f, g):
    f() if g else g()
    f() and g()
    not f


def long_boolean(a, b, c, d):
    return a and (b or c) and not (d and a) or (a or b) and c


def not_comparisons(a, b):
    return not a < b < 3, -(not a), (not a) + 1, not a == b


def yield_like_names(x):
    ag = x
    fscope_1 = ag
    if fscope_1:
        get_state_2 = 1
        loop_test = get_state_2
    else:
        loop_test = 2
    while loop_test:
        loop_test -= 1
    return loop_test


def decorated_nested_call(x):
    @functools.partial(functools.wraps, x)
    @functools.cache
    def inner(a, b=x, *c, d=x.y, **e):
        return a
    return inner


def annotated_nested(x):
    def inner(a: x.T, *b: int, c: 'q' = None) -> x:
        z: x.U = a
        w: int
        return z
    return inner


def uses_after_loop_only(n):
    x = 0
    for i in range(n):
        x = i
        y = i
    z = x
    return z, y


def set_in_both_loops(n):
    for i in range(n):
        x = i
    for i in range(n):
        x = x + i
    return x


def while_else_if_mix(a, b):
    while a:
        if a > b:
            a -= 1
            if a == 3:
                return b
            else:
                continue
        elif b:
            break
        b = a
    return a


def unicode_names(été):
    while été:
        été -= 1
    return été


def many_loops(n):
    for a in range(n): print(a)
    for b in range(n): print(b)
    for c in range(n):
        for d in range(c):
            if d: break
    while n: n -= 1


# Not converted: an error that names the construct.
def unsupported_for_else(xs):
    for x in xs:
        pass
    else:
        print('none')


def unsupported_while_else(x):
    while x:
        x -= 1
    else:
        print('none')


def unsupported_generator(xs):
    for x in xs:
        yield x


def unsupported_mangled(x):
    return x.__hidden
