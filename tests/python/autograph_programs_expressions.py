# ruff: noqa
# fmt: off
"""Programs whose conversion is compared with TensorFlow's: calls and expressions."""
import dataclasses
import functools

import numpy as np

tf = None  # whoever runs the conversions puts a module here
SCALE = 3
get_state = "a global that clashes with a generated name"


def call_plain(f, x):
    return f(x)


def call_keywords(f, x):
    return f(x, 1, a=2, b=x)


def call_star(f, a, args, kwargs):
    return f(a, *args, 3, *a, k=1, **kwargs)


def call_star_only(f, args, kwargs):
    return f(*args, **kwargs)


def call_nested(f, g, x):
    return f(g(x), g(f(x)))


def call_method(obj, x):
    return obj.method(x).other(x)[0](x)


def call_builtins(xs):
    print(len(xs))
    return sum(xs), max(xs), sorted(xs, key=abs), list(zip(xs, xs)), isinstance(xs, list)


def call_chain(x):
    return tf.nn.relu(tf.matmul(x, x)).numpy()


def call_print_kwargs(x):
    print(x, end='')


def call_super_globals():
    return globals(), locals()


def call_pdb(x):
    breakpoint()
    return x


def ternary(x):
    return 1 if x > 0 else -1


def ternary_nested(x):
    y = (1 if x > 1 else 2) if x > 0 else (3 if x < -1 else 4)
    return y


def ternary_call(f, x):
    return f(x) if f else f(x if x else 1)


def boolean(a, b, c):
    return a and b and c or not a


def comparison_chain(a, b, c):
    return a < b <= c != a


def comparison_call_chain(a, f):
    return 0 < f(a) < 10


def comparisons(a, b):
    return a == b, a != b, a is b, a is not b, a in b, a not in b, not a == b


def arithmetic(a, b):
    return (a + b) * -a ** -b // (a % b) - (a << 2 | b >> 1 ^ ~a & b) @ a / +b


def parentheses(a, b):
    c = a - (b - a), (a - b) - a, (a ** b) ** a, a ** b ** a, -(-a)
    return c, not (not a), (-a) ** 2, (a, b)[0], (a if b else a) + 1


def strings(x):
    a = 'it\'s'
    b = "say \"hi\""
    c = 'both \' and "'
    d = 'line\nbreak\ttab\\'
    e = b'bytes\x00\xff'
    f = u'unicode'
    g = 'é ü \u200b \U0001f600'
    h = r'raw\d'
    i = '''triple
    quoted'''
    return a, b, c, d, e, f, g, h, i


def fstrings(x, y):
    a = f'{x}'
    b = f'{x!r} and {y:>{10}} {{literal}}'
    c = f"{x['k']} it's"
    d = f'{x + y:.3f}\n'
    e = f'{ {1: 2} }'
    g = f'{x if x else y} {(lambda q: q)(x)}'
    h = f"a{x}" "b"
    return a, b, c, d, e, g, h


def numbers():
    return 1, 1.0, 1e100, 1e400, -1e400, 1j, 0x10, 1_000, 1.5e-7, 10 ** 20, True, None, ...


def containers(a, b):
    return [a, b], (a,), (), {a, b}, {a: b, **b}, [*a, b], {'k': [a]}, {}, []


def subscripts(a, i):
    return a[i], a[1:2], a[:, None], a[..., ::2], a[i][0], a[-1], a[i:], a[(1, 2)], a[()]


def subscript_assign(a, i, v):
    a[i] = v
    a[0] = v
    a['k'] = v
    a[i + 1] = v
    a[i:j] = v
    return a


def attribute_assign(a, v):
    a.x = v
    a.y.z = v
    return a.x


def tuple_assign(t):
    a, b = t
    (c, d), *e = t
    [f, g] = t
    h = i = a
    return a, b, c, d, e, f, g, h, i


def augmented(a, x):
    x += 1
    x -= a
    x *= 2
    x **= a + 1
    a.b += x
    a[0] //= x
    a[x] |= 1
    return x


def augmented_calls(f, x):
    x += f(x)
    x -= x if x else f(x)
    f.a += f(x)
    return x


def walrus_free(x):
    y = x
    return y
