"""Small studies for the tests of their report: real switches, run for a moment."""

from dataclasses import replace

from manifests import manifest_of

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.evidence.verdicts import ClaimVerdict, Validation
from dvsim.kinds.switch.spec import Compare, Record, SwitchScenario, SwitchTable, TrafficTable


def scenario_of(name, *, switch=None, traffic=None, vary=(), compare=(), record=None, **texts):
    """A scenario of a 4 x 3 switch at load 0.3, but for what is given."""
    return SwitchScenario(
        name=f"switch/{name}",
        path="",
        title=texts.get("title", f"The {name} of a switch"),
        question=texts.get("question", "What does it do?"),
        source=texts.get("source", "A paper"),
        switch=SwitchTable(**({"height": 4, "angles": 3} | (switch or {}))),
        traffic=TrafficTable(**({"slots": 300, "warmup": 50, "load": 0.3} | (traffic or {}))),
        vary=tuple(vary),
        theory=Compare(tuple(compare)) if compare else None,
        record=None if record is None else Record(*record),
    )


def study_of(scenario, replications=3, seed=1):
    """Run a scenario in this process."""
    how = How("0.1.0", seed, replications)
    (study,) = kind_of(scenario).made([scenario], Job(how, 1, False, "", {}))
    about = manifest_of(command=f"dvsim run {scenario.name}", backend=study.backend)
    return replace(study, manifest=about)


def load_latency(**how):
    """Latency over load, through saturation, for two crossings."""
    vary = ({"crossing": ("brc", "xor")}, {"load": (0.05, 0.15, 0.25, 0.6)})
    return study_of(
        scenario_of(
            "load-latency",
            switch={"height": 16, "angles": 2, "slot_ps": 22_000},
            traffic={"injection": "queue", "slots": 2000, "warmup": 300},
            vary=vary,
            compare=("mean-field", "zero-load"),
            **how,
        )
    )


def saturation():
    """Saturation over heights, for two numbers of angles."""
    vary = ({"angles": (1, 2)}, {"height": (2, 4, 8, 16)})
    return study_of(
        scenario_of(
            "saturation",
            traffic={"injection": "saturate", "load": None, "slots": 1000, "warmup": 200},
            vary=vary,
            compare=("mean-field",),
        )
    )


def recorded(packets=60, slots=40, **texts):
    """One point at high load, and its first slots."""
    return study_of(
        scenario_of(
            "record",
            traffic={"load": 0.5, "injection": "queue"},
            record=(packets, slots),
            **texts,
        ),
        replications=1,
    )


def claims_of(*verdicts):
    """A validation with nothing but claims."""
    return Validation(
        tuple(
            ClaimVerdict(
                f"DV-{number}", "abstract", "a claim", "", "5 hops", "5.0", verdict, "", "dvsim run"
            )
            for number, verdict in enumerate(verdicts, start=1)
        )
    )
