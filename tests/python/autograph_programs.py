# ruff: noqa
# fmt: off
"""Programs whose conversion is compared with TensorFlow's: loops, conditionals, jumps.

Every function here is one; so in the modules autograph_programs_*.
"""
import dataclasses
import functools

import numpy as np

tf = None  # whoever runs the conversions puts a module here
SCALE = 3
get_state = "a global that clashes with a generated name"


def straight(x):
    y = x + 1
    return y


def docstring(x):
    """A docstring.

    With more lines.
    """
    return x


def docstring_low(x):
    """Starts here
  and goes on further out
    """
    return x


def only_docstring_and_pass(x):
    'short "quoted" one'
    pass


def no_return(x):
    print(x)


def defaults(a, b=1, *args, c, d=SCALE, **kwargs):
    return a, b, args, c, d, kwargs


def positional_only(a, b=2, /, c=3, *, d):
    return a + b + c + d


def annotated(a: int, b: "str" = 'x') -> float:
    c: int = a
    d: float
    return c


def while_simple(x):
    while tf.reduce_sum(x) > 1:
        tf.print(x)
        x = tf.tanh(x)
    return x


def while_two_vars(n):
    i = 0
    s = 0.0
    while i < n:
        s += i
        i += 1
    return s


def while_nested(n):
    i = 0
    total = 0
    while i < n:
        j = 0
        while j < i:
            total = total + j
            j = j + 1
        i = i + 1
    return total


def while_undefined(n):
    i = 0
    while i < n:
        last = i
        i += 1
    return last


def while_local(n):
    i = 0
    while i < n:
        t = i * 2
        i = t + 1


def while_no_state(q):
    while q:
        print('x')


def while_true_break(x):
    while True:
        if x > 10:
            break
        x = x * 2
    return x


def while_complex_condition(a, b):
    while a > 0 and not b or a == 3:
        a -= 1
    return a


def if_simple(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def if_no_else(x):
    if x > 0:
        x = x * 2
    return x


def if_elif(x):
    if x > 2:
        y = 1
    elif x > 1:
        y = 2
    elif x > 0:
        y = 3
    else:
        y = 4
    return y


def if_undefined(x):
    if x > 0:
        y = 1
    return y


def if_local(x):
    if x > 0:
        t = x + 1
        print(t)


def if_nested(x, y):
    if x:
        if y:
            z = 1
        else:
            z = 2
        w = z
    else:
        z = 3
        w = 4
    return z, w


def if_in_while(n):
    i = 0
    even = 0
    odd = 0
    while i < n:
        if i % 2 == 0:
            even += 1
        else:
            odd += 1
        i += 1
    return even, odd


def if_pass(x):
    if x:
        pass
    else:
        x = 1
    return x


def for_range(n):
    s = 0
    for i in range(n):
        s += i
    return s


def for_tf_range(n):
    s = 0
    for i in tf.range(n):
        s = s + i
    return s


def for_tuple_target(pairs):
    total = 0
    for a, (b, *c) in pairs:
        total += a * b
    return total


def for_loop_var_used_after(n):
    for i in range(n):
        pass
    return i


def for_nested(n):
    s = 0
    for i in range(n):
        for j in range(i):
            s += i * j
    return s


def for_attribute_target(obj, xs):
    for obj.field in xs:
        print(obj.field)


def for_subscript_target(d, xs):
    for d['k'] in xs:
        pass
    return d


def for_enumerate(xs):
    r = []
    for i, x in enumerate(xs):
        r.append((i, x))
    return r


def fizzbuzz(n):
    for i in tf.range(n):
        print('Tracing for loop')
        if i % 15 == 0:
            print('Tracing fizzbuzz branch')
            tf.print('fizzbuzz')
        elif i % 3 == 0:
            tf.print('fizz')
        elif i % 5 == 0:
            tf.print('buzz')
        else:
            tf.print(i)


def break_for(xs):
    for x in xs:
        if x > 3:
            break
        print(x)
    return x


def break_while(n):
    i = 0
    while i < n:
        i += 1
        if i > 5:
            break
        print(i)
    return i


def continue_for(xs):
    s = 0
    for x in xs:
        if x < 0:
            continue
        s += x
    return s


def continue_while(n):
    i = 0
    s = 0
    while i < n:
        i += 1
        if i % 2:
            continue
        s += i
        if i % 3:
            continue
        s += 1
    return s


def break_and_continue(xs):
    s = 0
    for x in xs:
        if x < 0:
            continue
        if x > 100:
            break
        s += x
        print(s)
    return s


def nested_breaks(xs, ys):
    for x in xs:
        for y in ys:
            if y == x:
                break
            if y > 3:
                continue
            print(x, y)
        if x > 2:
            break
    return x


def break_in_with(xs, m):
    for x in xs:
        with m:
            if x:
                break
            print(x)
        print('after')


def break_in_try(xs):
    for x in xs:
        try:
            if x:
                break
            print(x)
        except ValueError:
            continue
        finally:
            print('done')
        print('after')


def return_early(x):
    if x > 0:
        return x
    return -x


def return_early_else(x):
    if x > 0:
        return x
    else:
        y = x * 2
        return y


def return_middle(x):
    if x > 0:
        return 1
    x = x + 1
    if x > 0:
        return 2
    x = x + 2
    return x


def return_in_else(x):
    if x > 0:
        y = 1
    else:
        return 0
    return y


def return_nested(x, y):
    if x:
        if y:
            return 1
        z = 2
    else:
        z = 3
    return z


def return_in_while(n):
    i = 0
    while i < n:
        if i == 5:
            return i
        i += 1
    return -1


def return_in_for(xs):
    for x in xs:
        if x > 3:
            return x
        print(x)
    return None


def return_in_for_and_break(xs):
    for x in xs:
        if x > 3:
            return x
        if x < 0:
            break
        print(x)
    return 0


def return_none(x):
    if x:
        return
    print(x)


def return_in_with(m):
    with m as v:
        return v


def return_in_try(x):
    try:
        return x()
    except ValueError as e:
        return e
    finally:
        print('f')


def return_twice(x):
    return x
    return -x


def return_sibling_loop(x, xs):
    if x:
        return 0
    while x < 3:
        x += 1
    for i in xs:
        x += i
    return x
