"""Fail unless a wheel holds exactly the files of src/akjax."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"

with zipfile.ZipFile(sys.argv[1]) as wheel:
    packed = {name for name in wheel.namelist() if name.startswith("akjax/")}
there = {
    path.relative_to(SRC).as_posix()
    for path in (SRC / "akjax").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
if packed != there:
    sys.exit(f"missing: {sorted(there - packed)}; too many: {sorted(packed - there)}")
print(f"{len(packed)} files")
