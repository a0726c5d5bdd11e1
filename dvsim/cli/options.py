"""Options that several verbs share, and what they do with them."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.terminal import complain, typed, typed_text
from dvsim.errors import OutputError

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation
    from dvsim.evidence.verdicts import Validation
    from dvsim.scenario.spec import Spec
    from dvsim.table.result import Result


MADE = "  [its folder is made if missing]"  # in the help of each option that names a file to write
OVERWRITE = "dvsim.overwrite"  # key of what a command says of reports that are there
# of dvsim.view, which is not loaded for --help
FORMS = ("html", "md", "csv", "parquet", "svg", "png", "pdf")

set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help='Override a value: --set system.card.sram="64 MiB", or --set sram="64 MiB". Repeatable.',
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


QUICK: dict[str, float] = {"scale": 0.01, "replications": 3}
"""What ``--quick`` stands for, by the names of the options."""


def quick_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--quick`` to a verb that has the options of `QUICK`, and gets their values."""
    meant = " ".join(f"--{name} {value:g}" for name, value in QUICK.items())

    @functools.wraps(command)
    def settled(*, quick: bool, **given: Any) -> None:  # noqa: ANN401 - as in click
        if quick:
            source = click.get_current_context().get_parameter_source
            for name in QUICK:
                if source(name) is click.core.ParameterSource.COMMANDLINE:
                    raise click.UsageError(f"--quick is {meant}; give it or --{name}")
            given |= QUICK
        command(**given)

    return click.option("--quick", is_flag=True, help=f"A first look: {meant}.")(settled)


class Share(click.ParamType[float]):
    """A share, as a number or in percent."""

    name = "share"
    example = "share, such as 5% or 0.05"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Return the share as a number."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            self.fail(f"{value!r} is no {self.example}", param, ctx)
        return number / 100 if text.endswith("%") else number


class Scale(Share):
    """A factor, as a number or in percent."""

    name = "float"
    example = "factor, such as 0.01 or 1%"


def with_options(
    command: Callable[..., None], *options: Callable[[Callable[..., None]], Callable[..., None]]
) -> Callable[..., None]:
    """Return a command with options, which its help lists in this order."""
    return functools.reduce(lambda inner, option: option(inner), reversed(options), command)


def precision_option(
    what: str, default: str = "5%"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option ``--precision``, about the interval of what is named."""
    return click.option(
        "--precision",
        type=Share(),
        metavar="SHARE",
        help=f"Instead of --replications: 3 to 30 runs, until {what} is known to ± this share."
        f"  [default: {default}]",
    )


def check_alone(precision: float, replications: int | None) -> None:
    """Refuse a precision that cannot be, or beside what says how many replications there are."""
    from dvsim.study.execute import check_precision

    check_precision(precision)
    if replications is not None:
        message = "--precision says when to end; give it or --replications (--quick has 3)"
        raise click.UsageError(message)


class Output(click.Path):
    """A file or a folder to write to; not the empty name of an unset variable."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(path_type=Path, file_okay=not folder, dir_okay=folder)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Return the path, where something can be written."""
        if value == "":
            kind = "folder" if self.dir_okay else "file"
            self.fail(f"the name of the {kind} is empty", param, ctx)
        from dvsim.atomic import check_place

        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            check_place(path, folder=self.dir_okay)
        except OutputError as error:
            self.fail(str(error), param, ctx)
        return path


class Page(Output):
    """A report to write; one that is there is kept unless ``--overwrite`` is given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Return the path."""
        path = super().convert(value, param, ctx)
        check_free(path, path.suffix.removeprefix(".").lower())
        return path


def check_free(path: Path, form: str) -> None:
    """Refuse to write a report over one that is there, before anything is run."""
    ctx = click.get_current_context(silent=True)
    if ctx is None or ctx.meta.get(OVERWRITE):
        return
    names = path.parent.glob(f"{glob.escape(path.stem)}-*.{form}") if form in FORMS[-3:] else ()
    there = next((file for file in (path, *sorted(names)) if file.is_file()), None)
    if there is not None:
        message = f"{there} is there already; another name, or --overwrite to replace it"
        raise click.BadParameter(message, ctx, param_hint="'--report'")


class HtmlPage(Page):
    """A file to write a page of HTML to."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Return the path."""
        path = super().convert(value, param, ctx)
        if path.suffix.lower() not in ("", ".html", ".htm"):
            near = path.with_suffix(".html")
            self.fail(
                f"{path.suffix!r} is no form of this page; did you mean '{near}'?", param, ctx
            )
        return path


class FormFile(Page):
    """The file to write; its ending gives the form: without an ending it is a page."""

    def __init__(self, forms: Sequence[str]) -> None:
        super().__init__()
        self._forms = forms

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Return the path."""
        path = super().convert(value, param, ctx)
        form = path.suffix.removeprefix(".").lower()
        if form not in ("", "htm", *self._forms):
            endings = ", ".join(f".{known}" for known in self._forms)
            self.fail(f"{path.suffix!r} is no form of a report; there are {endings}", param, ctx)
        return path


seed_option = click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of all random numbers."
)
force_option = click.option("--force", is_flag=True, help="Run again, even if results are kept.")
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="How many processes run.  [default: $DVSIM_WORKERS, or one per core]",
)


def scale_option(default: str = "1") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option ``--scale``; `default` says what is taken without it."""
    help_ = f"Multiply the number of messages or slots.  [default: {default}]"
    return click.option("--scale", type=Scale(), help=help_)


def folder_option(
    name: str, parameter: str, default: str, what: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return an option that names a folder to write to, or where something is kept."""
    return click.option(
        name,
        parameter,
        type=Output(folder=True),
        default=Path(default),
        show_default=True,
        metavar="FOLDER",
        help=what,
    )


out_option = folder_option("--out", "out", "runs", "Where run folders go; made if missing.")


def report_option(
    what: str, form: click.ParamType[Any], name: str = "report"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return ``--report``, whose value is called `name`, and ``--overwrite``."""
    page = click.option("--report", name, metavar="FILE", type=form, help=what + MADE)
    overwrite = click.option(
        "--overwrite",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda ctx, _, given: ctx.meta.update({OVERWRITE: given}),
        help="Let --report replace a file that is there.",
    )
    return lambda command: page(overwrite(command))


def page_option(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the options of a verb that writes a page of HTML and nothing else."""
    return report_option(what, HtmlPage())


@dataclass(frozen=True)
class RunOptions:
    """How scenarios are run, and what becomes of the runs; a field for each option."""

    overrides: tuple[str, ...]
    replications: int | None
    seed: int
    scale: float | None
    out: Path
    force: bool
    workers: int | None
    report: Path | None
    as_json: bool

    def load(self, names: Iterable[str]) -> list[Spec]:
        """Read the scenarios of names, campaigns, patterns and files."""
        from dvsim.contract.load import load_campaign

        return [scenario for name in names for scenario in load_campaign(name, self.overrides)]

    def run(
        self,
        scenarios: Sequence[Spec],
        backend: str | Emulation = "sim",
        precision: float | None = None,
        scale: float | None = None,
    ) -> list[Result]:
        """Run scenarios; one that was named twice is there once. `scale` instead of the option."""
        from dvsim.session import run_scenarios
        from dvsim.study.execute import DEFAULT_REPLICATIONS

        if precision is not None:
            check_alone(precision, self.replications)
            if backend != "sim":
                raise click.UsageError("--precision is of simulated runs; give --replications")
        times = self.replications
        if times is None and precision is None:
            times = DEFAULT_REPLICATIONS["sim" if backend == "sim" else "emu"]
        asked = self.asked() | {"replications": times, "precision": precision}
        asked |= {"scale": self.scale if scale is None else scale, "backend": backend}
        traced = not isinstance(backend, str) and backend.traces is not None
        asked |= {"force": self.force or traced}  # programs that shall leave traces have to run
        return list(dict.fromkeys(run_scenarios(scenarios, **asked)))

    def asked(self) -> dict[str, Any]:
        """Return what `dvsim.session.run_scenarios` takes, but for replications and scale."""
        return {
            "seed": self.seed,
            "out": self.out,
            "force": self.force,
            "workers": self.workers,
            "progress": True,
            "command": typed(),
        }

    def write_report(self, runs: Sequence[Result], validation: Validation | None) -> list[Path]:
        """Write the report about all runs, if one was asked for; return its files."""
        if self.report is None:
            return []
        return write_page(self.report, runs, validation, typed_text())


def run_telling(
    scenarios: Sequence[Spec],
    more: Callable[[Sequence[Result]], Sequence[bool]],
    **asked: Any,  # noqa: ANN401 - as of `run_scenarios`
) -> list[Result]:
    """Run scenarios with as many replications as `more` asks for, and say what goes on and why."""
    from dvsim.session import run_scenarios

    def told(results: Sequence[Result]) -> Sequence[bool]:
        added = more(results)
        if any(added):
            times = max(result.replications for result in results)
            complain(
                f"open verdicts after {times} replications: "
                f"{sum(added)} of {len(added)} scenarios go on"
            )
        return added

    return run_scenarios(scenarios, more=told, **asked)


def write_page(
    path: Path,
    results: Sequence[Result],
    validation: Validation | None,
    command: str,
    form: str | None = None,
    sensitivity: Path | None = None,
) -> list[Path]:
    """Write the report about runs and studies; return the files."""
    from dvsim.view import write_results
    from dvsim.view.sensitivity import sensitivity_figures

    more = [] if sensitivity is None else sensitivity_figures(sensitivity)
    return write_results(path, results, validation, command, form, more)


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `RunOptions` to a verb, which gets them in one as ``options``."""

    @quick_option
    @functools.wraps(command)
    def packed(**given: Any) -> None:  # noqa: ANN401 - as in click
        own = {field.name: given.pop(field.name) for field in fields(RunOptions)}
        command(options=RunOptions(**own), **given)

    return with_options(
        packed,
        set_option,
        click.option(
            "--replications",
            type=int,
            help="Independent runs.  [default: as many as needed; 1 if emulated]",
        ),
        seed_option,
        scale_option("1; smaller if emulated"),
        out_option,
        force_option,
        workers_option,
        report_option(
            "One report for all runs: FILE.html, .md, .csv, .parquet, .svg, .png or .pdf.",
            FormFile(FORMS),
        ),
        json_option,
    )
