# SPDX-License-Identifier: Apache-2.0
"""The command line ``aclnn-py``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO, cast

from aclnn_py.tools.foreign_text import Escaping

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of ``aclnn-py``.

    Parameters
    ----------
    arguments : Sequence[str], optional
        Words after the name of the program; default is ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit status: 0 for success, 1 for a negative answer or a failure, 2 for wrong usage. ``run``
        returns the status of the first rank that failed.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    with (
        contextlib.redirect_stdout(cast(TextIO, Escaping(sys.stdout))),
        contextlib.redirect_stderr(cast(TextIO, Escaping(sys.stderr))),
    ):
        return _main(words)


def _main(words: list[str]) -> int:
    try:
        if words[:1] == ["headers"]:
            # Both pass their words on, and argparse cannot do so with words that look like options.
            status = _headers(words[1:])
        elif words[:1] == ["gdb"] and not {"-h", "--help"}.intersection(words[1:2]):
            status = _gdb(words[1:])
        else:
            options = _parser().parse_args(words)
            status = int(options.command(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader has ended (`aclnn-py ops | head`). Python would complain again at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aclnn-py", description="Run and examine programs that call CANN operators."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_run,
        _add_doctor,
        _add_explain,
        _add_trace,
        _add_dump,
        _add_replay,
        _add_verify,
        _add_ops,
        _add_config,
        _add_cann,
        _add_headers,
        _add_gdb,
    ):
        add(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="start N ranks of a program on this host",
        description="Start N ranks of a program on this host, so that Communicator.from_env()"
        " works in them. Each line of output begins with the rank. When a rank fails, the others"
        " are ended, and the exit status is that of the first rank that failed.",
    )
    parser.add_argument("-n", "--ranks", type=_count, required=True, help="number of ranks")
    parser.add_argument(
        "--device",
        choices=("auto", "npu", "emulator"),
        help="set ACLNN_PY_DEVICE for the ranks",
    )
    parser.add_argument(
        "--grace",
        type=_seconds,
        default=5.0,
        metavar="S",
        help="seconds between asking the ranks to end and killing them (default 5)",
    )
    parser.add_argument(
        "--no-prefix", action="store_true", help="do not begin each line with the rank"
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="the program is the name of a Python module"
    )
    parser.add_argument("program", help="a Python file (.py), or an executable file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from aclnn_py.tools.run import run_ranks

    if options.module:
        command = [sys.executable, "-m", options.program]
    elif options.program.endswith(".py"):
        command = [sys.executable, options.program]
    else:
        command = [options.program]
    environment = dict(os.environ)
    if options.device:
        environment["ACLNN_PY_DEVICE"] = options.device
    try:
        return run_ranks(
            command + options.arguments,
            options.ranks,
            grace_s=options.grace,
            prefix=not options.no_prefix,
            environment=environment,
        )
    except (FileNotFoundError, PermissionError) as error:
        print(f"aclnn-py run: {options.program}: {error.strerror}", file=sys.stderr)
        return 127


def _add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="report versions, libraries and devices",
        description="Report what is installed, whether the parts fit together, and whether a device"
        " can be used. Each finding says what was seen, why it matters and what to do. The exit"
        " status is 1 when a finding is an error.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--smoke", action="store_true", help="also run one operator")
    parser.add_argument(
        "--all-reduce", action="store_true", help="also sum a tensor over two ranks of this host"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=120.0,
        metavar="S",
        help="seconds after which each trial of the device is killed (default 120)",
    )
    parser.set_defaults(command=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    from aclnn_py.tools import doctor

    return doctor.run(
        as_json=options.json,
        smoke=options.smoke,
        all_reduce=options.all_reduce,
        timeout_s=options.timeout,
    )


def _add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "explain",
        help="say what a status code, a message or a log means",
        description="Say what a code or a log means, what usually causes it and what to check. Of"
        " a log the cause that its words name comes first, with the words and what they name; then"
        " its codes. If nothing names a cause, the answer says so and where to read on. Files may"
        " have any size. The exit status is 1 when nothing in the text is known.",
    )
    parser.add_argument(
        "text",
        nargs="*",
        metavar="CODE|TEXT|FILE",
        help="a number (161002), a name (ACLNN_ERR_PARAM_INVALID), a message code (EZ1001), a text,"
        " or log files; nothing or - reads standard input; write a number of HCCL as 'hccl 9'",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(command=_explain)


def _explain(options: argparse.Namespace) -> int:
    from aclnn_py.tools import explain

    return explain.run(options.text, as_json=options.json)


def _add_trace(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "trace",
        help="sum up a trace by operator",
        description="Print how much host time of a trace each operator took, or how much host and"
        " device time of a profile. aclnn_py.tools.trace(FILE) and ACLNN_PY_TRACE=FILE write"
        " traces; aclnn_py.tools.profile, aclprofStart and CANN's msprof write profiles.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a trace, text or JSON; or a profile: a folder PROF_..., or its op_summary_*.csv",
    )
    parser.add_argument(
        "--shapes", action="store_true", help="of a profile: a row for each shape of the inputs"
    )
    parser.add_argument(
        "--host", action="store_true", help="of a profile: also the calls of the host"
    )
    parser.add_argument(
        "--functions",
        action="store_true",
        help="show functions of the runtime and of HCCL instead of operators",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(command=_trace)


def _trace(options: argparse.Namespace) -> int:
    from aclnn_py.tools.profiles import command, files
    from aclnn_py.tools.traces import table

    if any(files.is_profile(path) for path in options.files):
        return command.run(
            options.files, by_shape=options.shapes, host=options.host, as_json=options.json
        )
    return table.run(options.files, functions=options.functions, as_json=options.json)


def _add_dump(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "dump",
        help="show what operators read and wrote",
        description="Print the tensors in dumps of operators, which aclInit and aclmdlSetDump ask"
        ' for with {"dump": {"dump_path": FOLDER, "dump_list": [], "dump_op_switch": "on"}}.',
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a dump, or a folder with dumps")
    parser.add_argument("--npy", metavar="FOLDER", help="also write each tensor as a .npy file")
    parser.set_defaults(command=_dump)


def _dump(options: argparse.Namespace) -> int:
    from aclnn_py.tools.dumps import command

    return command.run(options.paths, arrays=options.npy)


def _add_replay(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "replay",
        help="run recorded calls again and compare",
        description="Run the calls of a record on either device, compare statuses and data, and"
        " say where they differ. aclnn_py.tools.record(FILE) and the method save(FILE) of an"
        " exception write records. The exit status is 1 when a call differs from the record.",
    )
    parser.add_argument("file", metavar="FILE", help="a record")
    parser.add_argument(
        "--device",
        choices=("auto", "npu", "emulator"),
        help="device to run them on, instead of ACLNN_PY_DEVICE",
    )
    parser.add_argument("--call", type=int, metavar="N", help="only call number N, counted from 0")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--cpp",
        action="store_true",
        help="print a C++ program that makes the first call that failed, or --call; it needs only"
        " CANN's headers",
    )
    parser.add_argument(
        "--minimize",
        metavar="OUT",
        help="write a record of that call with the smallest shapes that still fail the same way",
    )
    parser.add_argument(
        "--max-mib",
        type=_mebibytes,
        metavar="N",
        help="limit of what the file may unpack to (default: 4096, and above 256 at most 300 times"
        " its size)",
    )
    parser.set_defaults(command=_replay)


def _replay(options: argparse.Namespace) -> int:
    from aclnn_py.tools.records import command

    return command.run(
        options.file,
        device=options.device,
        as_json=options.json,
        cpp=options.cpp,
        call=options.call,
        minimize=options.minimize,
        max_mib=options.max_mib,
    )


def _add_verify(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "verify",
        help="compare the operators of the device with the emulator",
        description="Run operators with the same inputs on the device and on the emulator, compare"
        " results, statuses and refusals, and write a report as HTML and as JSON. A fault of the"
        " device ends one process, and the next goes on. The exit status is 1 when a call differs.",
    )
    _add_patterns(parser)
    parser.add_argument("--html", default="verify.html", metavar="FILE", help="default verify.html")
    parser.add_argument(
        "--json", dest="as_json", default="verify.json", metavar="FILE", help="default verify.json"
    )
    parser.add_argument(
        "--records",
        metavar="DIR",
        help="write a record of each call whose results differ, for `aclnn-py replay`",
    )
    parser.add_argument(
        "--device",
        choices=("npu", "emulator"),
        default="npu",
        help="device to compare with the emulator (default npu)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random contents (default 0)")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="seconds after which a call counts as hung (default 60)",
    )
    parser.set_defaults(command=_verify)


def _verify(options: argparse.Namespace) -> int:
    from aclnn_py.tools.verify import command

    return command.run(
        options.patterns,
        html=options.html,
        as_json=options.as_json,
        seed=options.seed,
        timeout_s=options.timeout,
        device=options.device,
        records=options.records,
    )


def _add_ops(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "ops",
        help="list operators",
        description="List operators: name, C function, first CANN release, where the prototype"
        " comes from, and whether the device in use has the operator. The exit status is 1 when"
        " nothing matches.",
    )
    _add_patterns(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument(
        "--parameters", action="store_true", help="also show the parameters of each operator"
    )
    parser.set_defaults(command=_ops)


def _add_patterns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="an operator's Python or C name, a part that no operator has as its name, or a shell"
        " pattern for the whole name such as 'quant*' (default: every operator)",
    )


def _ops(options: argparse.Namespace) -> int:
    from aclnn_py.tools import operators

    return operators.run(options.patterns, as_json=options.json, with_parameters=options.parameters)


def _add_config(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from aclnn_py.tools.config import CHOICES

    parser = commands.add_parser(
        "config",
        help="print compiler and linker flags",
        description="Print what a C or C++ program needs to build against the installed package:"
        " cc $(aclnn-py config --cflags) program.c $(aclnn-py config --libs)",
    )
    for name, (help_, _) in CHOICES.items():
        parser.add_argument(
            f"--{name}", action="append_const", dest="wanted", const=name, help=help_
        )
    parser.set_defaults(command=_config)


def _config(options: argparse.Namespace) -> int:
    from aclnn_py.tools import config

    return config.run(*(options.wanted or ()))


def _add_cann(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from aclnn_py.tools.cann.versions import DEFAULT_RELEASE, RELEASES

    parser = commands.add_parser(
        "cann",
        help="write a tree in which builds find CANN",
        description="Write a directory as an installed toolkit has it, with the emulator behind"
        " CANN's names: after `source DIR/set_env.sh` builds and programs that look for CANN find"
        " it. A directory written before is brought up to date.",
    )
    parser.add_argument("directory", nargs="?", metavar="DIR", help="where to write it")
    parser.add_argument(
        "--release",
        choices=[release.short for release in RELEASES],
        default=DEFAULT_RELEASE,
        help=f"the release that its version files name (default {DEFAULT_RELEASE})",
    )
    parser.add_argument(
        "--copy", action="store_true", help="copy files instead of linking them, for containers"
    )
    parser.add_argument(
        "--run",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="run a command that sees the tree; without DIR, one in the user's cache",
    )
    parser.set_defaults(command=_cann)


def _cann(options: argparse.Namespace) -> int:
    from aclnn_py.tools.cann.command import run

    return run(options.directory, release=options.release, copy=options.copy, command=options.run)


def _add_headers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "headers",
        help="compare the headers with an installed CANN",
        add_help=False,
    )
    parser.set_defaults(command=lambda _: _headers([]))


def _add_gdb(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "gdb",
        help="start gdb so that it prints tensors and executors",
        description="Start gdb with printers of aclTensor, aclOpExecutor, lists, scalars and"
        " arrays, and the command `acl EXPRESSION` for any handle or address. What follows goes to"
        " gdb: `aclnn-py gdb --args ./program`. `aclnn-py gdb --path` prints the file instead, for"
        " `source` in a gdb that runs.",
    ).set_defaults(command=lambda _: _gdb([]))


def _gdb(words: list[str]) -> int:
    from aclnn_py.tools.gdb.command import run

    return run(words, path_only=words == ["--path"])


def _headers(words: list[str]) -> int:
    from aclnn_py.tools import headers

    return headers.main(words)


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError("must be in 1..1024")
    return value


def _mebibytes(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1 << 24:
        raise argparse.ArgumentTypeError("must be in 1..16777216")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError("must be in 0..3600")
    return value


if __name__ == "__main__":
    sys.exit(main())
