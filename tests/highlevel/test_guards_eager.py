"""What `register` may not change: everything an untraced array does, to the letter."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np

EXPRESSIONS = [
    *(
        "x",
        "str(x)",
        "x.type",
        "x.typestr",
        "x.ndim",
        "x.fields",
        "x.nbytes",
        "x.is_tuple",
        "len(x)",
        "bool(x)",
    ),
    *("x.layout", "x.attrs", "x.behavior", "x.named_axis", "list(x)", "list(iter(flat))", "bytes(flat)"),
    *(
        "x + 1",
        "1 - x",
        "x * x",
        "x ** 2",
        "-x",
        "abs(x)",
        "x / 0",
        "x // 2",
        "x % 2",
        "x == x",
        "x > 1",
        "~(x > 1)",
    ),
    *("x & 1", "x @ x", "flat @ flat", "x + 'a'", "x + None", "x + [1, 2, 3]", "x + bad", "divmod(x, 2)"),
    *("x += 1", "x -= x", "flat *= 2", "flat @= 2"),
    *(
        "x[0]",
        "x[-1]",
        "x[5]",
        "x[1:]",
        "x[::2]",
        "x[:, 0]",
        "x[:, :1]",
        "x[x > 1]",
        "x[[0, 2]]",
        "x['a']",
        "x[None]",
    ),
    *(
        "x[..., 0]",
        "x[0, 1]",
        "x[[True, False, True]]",
        "x[np.array([2, 0])]",
        "x[1.5]",
        "x[{'a': 1}]",
        "x[[[0], [], [1]]]",
    ),
    *(
        "records.a",
        "records['a']",
        "records[['a', 'b']]",
        "records.nothing",
        "records['nothing']",
        "records[0].a",
    ),
    *(
        "records[0]",
        "str(records[0])",
        "records[0]['a', 0]",
        "records[0].b + 1",
        "np.sin(records[0].b)",
        "-records[0]",
    ),
    *(
        "dir(records)",
        "dir(records[0])",
        "records[0].tolist()",
        "records[0].fields",
        "bool(records[0])",
        "len(records[0])",
    ),
    *("records._ipython_key_completions_()", "records + records", "records[0] == records[0]"),
    *(
        "np.sum(x)",
        "np.mean(flat)",
        "np.concatenate([x, x])",
        "np.sort(flat)",
        "np.where(flat > 1, flat, 0)",
        "np.stack([flat, flat])",
    ),
    *(
        "np.asarray(flat)",
        "np.array(x)",
        "np.asarray(flat, dtype='f4')",
        "np.linalg.norm(flat)",
        "np.add.reduce(flat)",
    ),
    *(
        "np.add(x, x, dtype='f4')",
        "np.add(x, x, out=np.zeros(3))",
        "np.modf(x)",
        "np.multiply.outer(flat, flat)",
        "np.isnan(x)",
    ),
    *(
        "ak.sum(x)",
        "ak.sum(x, axis=1)",
        "ak.sum(x, axis=5)",
        "ak.max(x, axis=-1)",
        "ak.num(x)",
        "ak.zip({'u': x, 'v': x})",
    ),
    *(
        "ak.zip([x, flat])",
        "ak.flatten(x)",
        "ak.cartesian([x, x])",
        "ak.combinations(x, 2)",
        "ak.where(x > 1, x, 0)",
    ),
    *(
        "ak.to_list(x)",
        "ak.to_numpy(x)",
        "ak.to_numpy(flat)",
        "ak.from_iter([[1], []])",
        "ak.concatenate([x, x], axis=1)",
    ),
    *(
        "ak.concatenate([])",
        "ak.nothing(x)",
        "ak.fill_none(ak.pad_none(x, 2), 0)",
        "ak.mask(x, x > 1)",
        "x.mask[x > 1]",
    ),
    *(
        "ak.broadcast_arrays(x, flat)",
        "ak.broadcast_arrays(x, bad)",
        "ak.with_field(records, flat, 'c')",
        "ak.sort(x)",
    ),
    *(
        "ak.backend(x)",
        "ak.to_layout(x)",
        "ak.type(x)",
        "ak.is_valid(x)",
        "ak.parameters(named)",
        "ak.fields(records)",
    ),
    *(
        "ak.Array(x)",
        "ak.Array([1, 2])",
        "ak.Array({'a': [1]})",
        "ak.Array(np.arange(3))",
        "ak.Array(3)",
        "ak.Array({1: 2})",
    ),
    *(
        "ak.Array(x, behavior=3)",
        "ak.Array(x, check_valid=True)",
        "ak.Array('no json')",
        "ak.Record({'a': 1})",
        "ak.Record(3)",
    ),
    *(
        "ak.Record(records[0])",
        "ak.Array(x.layout)",
        "ak.contents.NumpyArray(np.arange(3))",
        "ak.contents.NumpyArray(3)",
    ),
    *(
        "copy.copy(x)",
        "copy.deepcopy(x)",
        "pickle.loads(pickle.dumps(x))",
        "pickle.loads(pickle.dumps(records[0]))",
    ),
    *(
        "copy.deepcopy(records[0])",
        "copy.copy(records[0])",
        "x.to_list()",
        "x.tolist()",
        "x.to_numpy()",
        "flat.to_numpy()",
    ),
    *(
        "do(records, 'x[\"c\"] = flat')",
        'do(records, \'x["a", "c"] = 1\')',
        "do(records, 'x[0] = 1')",
        "do(records, 'x[\"c\"] = bad')",
    ),
    *(
        "do(records, 'del x[\"a\"]')",
        "do(records, 'del x[\"nothing\"]')",
        "do(records, 'del x[0]')",
        "do(records[0], 'x[\"c\"] = 1')",
    ),
    *(
        "do(records[0], 'del x[\"a\"]')",
        "do(records, 'x.a = 1')",
        "do(records, 'x.other = 1')",
        "do(records, 'x._private = 1')",
    ),
    *(
        "do(x, 'x.layout = flat.layout')",
        "do(x, 'x.layout = 3')",
        "do(records, 'x.behavior = {}')",
        "do(x, 'x.attrs = {\"k\": 1}')",
    ),
    *(
        "x._repr(30)",
        "show(x)",
        "show(records[0])",
        "x._repr_mimebundle_()",
        "x.__dask_tokenize__",
        "named",
        "named.double",
    ),
    *(
        "named[0]",
        "named + named",
        "np.sqrt(named)",
        "type(named).__name__",
        "type(named[0]).__name__",
        "named.x.named_axis",
    ),
    *(
        "strings",
        "strings + 'a'",
        "strings == 'one'",
        "ak.str.upper(strings)",
        "union",
        "union + 1",
        "options",
        "options + 1",
    ),
    *(
        "x == None",
        "x in [1]",
        "hash(x)",
        "x.real",
        "complex(flat[0])",
        "float(x)",
        "int(flat[0])",
        "float(flat[:1])",
        "x.nothing",
    ),
]


class PointArray(ak.Array):  # type: ignore[misc]
    @property
    def double(self) -> Any:
        return self.x * 2


def names() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    behavior = {("*", "Point"): PointArray}

    def do(x: Any, code: str) -> Any:
        x = copy.deepcopy(x)
        exec(code, {**scope, "x": x})
        return [x, x.fields]

    def show(x: Any) -> Any:
        import io

        x.show(stream=(stream := io.StringIO()))
        return stream.getvalue()

    scope: dict[str, Any] = {
        "ak": ak,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "do": do,
        "show": show,
        "x": ak.Array([[1, 2], [], [3]]),
        "flat": ak.Array([1.5, 2.5, 0.0]),
        "bad": ak.Array([[1], [2], [3, 4]]),
        "records": ak.Array([{"a": [1.0], "b": 1}, {"a": [], "b": 2}, {"a": [2.0, 3.0], "b": 3}]),
        "named": ak.Array(ak.zip({"x": [1.0, 4.0]}, with_name="Point").layout, behavior=behavior),
        "strings": ak.Array(["one", "two"]),
        "union": ak.Array([1, [2, 3], "x"]),
        "options": ak.Array([[1, None], None, []]),
    }
    return scope


def shown(value: Any) -> str:
    if isinstance(value, ak.Array | ak.Record):
        facts = [value, str(value), ak.to_list(value), str(ak.type(value)), value.layout]
        return f"{type(value).__name__} {facts!r}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    return f"{type(value).__name__} {value!r}"


def answers(expressions: list[str]) -> dict[str, str]:
    """What each expression gives, or raises, as text."""
    found = {}
    for text in expressions:
        scope = names()
        try:
            if "= " in text and text.split()[1][:-1] in "+-*@" and text.split()[1].endswith("="):
                exec(text, scope)
                value = scope[text.split()[0]]
            else:
                value = eval(text, scope)
            found[text] = shown(value)
        except Exception as error:
            found[text] = f"{type(error).__name__} {error} {getattr(error, '__notes__', None)}"
    return found


def run(*flags: str) -> dict[str, str]:
    done = subprocess.run([sys.executable, __file__, *flags], capture_output=True, text=True, check=True)
    answered: dict[str, str] = json.loads(done.stdout)
    return answered


def test_untraced_arrays_answer_as_without_akjax() -> None:
    found: dict[str, dict[str, str]] = {}
    threads = [
        threading.Thread(target=lambda flags=flags: found.update({" ".join(flags): run(*flags)}))  # type: ignore[misc]
        for flags in ((), ("register",))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before, after = found[""], found["register"]
    assert list(before) == EXPRESSIONS
    differ = {text: (before[text], after[text]) for text in before if before[text] != after[text]}
    assert not differ


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
    if "register" in sys.argv:
        import akjax

        akjax.register()
    print(json.dumps(answers(EXPRESSIONS)))
