"""The command `akjax`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from akjax.demo.errors import DemoError

__all__ = ["main"]

OK, WRONG_RESULT, WRONG_INPUT = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, without the name of the program.

    Returns:
        The exit code: 0; 1 where a check of the demo failed; 2 where something is wrong with what was given.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return OK
    try:
        return _demo(options.file, options.events, options.out)
    except DemoError as error:
        print(f"akjax demo: {error}", file=sys.stderr)
        return WRONG_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="akjax", description="Awkward Arrays in jax.jit and jax.grad.")
    parser.add_argument("--version", action="version", version=f"akjax {_version()}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="")
    about = (
        "Pair muons of opposite charge and histogram their mass, as ordinary Awkward code and as one "
        "compiled program; check that both count the same; then improve two cuts by the gradient of a figure "
        "of merit."
    )
    demo = commands.add_parser("demo", help="a dimuon analysis, compiled and differentiated", description=about)
    demo.add_argument("--file", type=Path, help="a NanoAOD file (default: synthetic events that come with akjax)")
    demo.add_argument("--events", type=int, help="how many events (default: all there are)")
    demo.add_argument(
        "--out", type=Path, default=Path("akjax-demo"), help="folder for dimuon.png (default: %(default)s)"
    )
    return parser


def _version() -> str:
    try:
        return metadata.version("akjax")
    except metadata.PackageNotFoundError:
        import akjax

        return str(getattr(akjax, "__version__", "(not installed)"))


def _demo(file: Path | None, events: int | None, out: Path) -> int:
    # imported here: help, version and wrong input need not wait for JAX
    from akjax.demo import loading, report

    if events is not None and events <= 0:
        msg = f"--events {events}: there is nothing to do with fewer than one event"
        raise DemoError(msg)
    report.need_matplotlib()
    loaded = loading.load_synthetic(events) if file is None else loading.load_file(file, events)
    _make_folder(out)

    import jax

    import akjax
    from akjax.demo.job import run

    akjax.register()
    # 64-bit numbers in here only: the setting of whoever calls stays as it is
    with jax.enable_x64(True):
        outcome = run(loaded)
    picture = out / "dimuon.png"
    report.draw(outcome, picture)
    print(report.table(outcome))
    print(f"picture: {picture}")
    return OK if outcome.right else WRONG_RESULT


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{out}: cannot be made a folder ({error.strerror})"
        raise DemoError(msg) from None
    if not os.access(out, os.W_OK):
        msg = f"{out}: nothing can be written there"
        raise DemoError(msg)


if __name__ == "__main__":
    sys.exit(main())
