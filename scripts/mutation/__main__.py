"""Breaks lines of the packages, one at a time, and shows which breaks no test notices.

    scripts/mutate                           the standing list: privacy, delivery, cursor, deletion
    scripts/mutate --seed 7 --count 30       a sample, drawn evenly over all packages
    scripts/mutate --package memory.keeping bot.delivery.outbox    of either only what is there
    scripts/mutate --verify                  only look whether the standing list fits the source

Each break is made in a copy of the work tree, never in the tree itself. First the tests that mirror
the broken file's folder run, then those of its package, then with `--tests all` all of them; the
first that fails ends it, and is run once more without the break, to see that it fails for no other
reason. The standing list is scripts/mutation/standing.toml: what stands in a file, what comes instead.

Exit status: 1 when a break of the standing list survives; 2 when the list does not fit the source,
or a test fails without a break. Of a sample a person must judge what survives: it may be a break
that changes no behaviour.
"""

import argparse
import asyncio
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from scripts.mutation.breaks import Break, Unsound, is_within, standing
from scripts.mutation.drawing import drawn
from scripts.mutation.running import SURVIVED, Reach, Result, RunOptions, run_all

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Do what the arguments say; the exit status."""
    options = _options()
    try:
        breaks = _breaks(options)
        if options.verify or options.list:
            _show_all(breaks if options.list else [])
            return 0
        results = asyncio.run(_run(breaks, options))
    except Unsound as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    survived = [one for one in results if one.outcome == SURVIVED]
    if options.json:
        print(json.dumps([asdict(one) for one in results], indent=2, ensure_ascii=False))
    print(f"{len(results)} breaks, {len(survived)} survived", file=sys.stderr)
    return int(any(one.standing for one in survived))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seed", type=int, help="draw a sample with this seed instead of the standing list")
    add("--count", type=int, default=30, help="how many to draw (30)")
    add("--package", nargs="+", default=[], help="only these packages or modules")
    add("--tests", type=Reach, default=Reach.PACKAGE, help="nearest, package (default) or all")
    add("--jobs", type=int, default=1, help="how many breaks to test at once (1)")
    add("--limit-s", type=float, default=300.0, help="longest that one set of tests may take (300)")
    add("--json", action="store_true", help="print the results as JSON; progress goes to stderr")
    add("--verify", action="store_true", help="run nothing")
    add("--list", action="store_true", help="run nothing, show the breaks")
    return parser.parse_args()


def _breaks(options: argparse.Namespace) -> list[Break]:
    if options.seed is not None:
        return drawn(ROOT, options.seed, options.count, options.package)
    found = standing(ROOT)
    return [one for one in found if not options.package or is_within(one.path, options.package)]


def _show_all(breaks: list[Break]) -> None:
    for one in breaks:
        source = (ROOT / one.path).read_bytes()
        print(one.place(source), f"({one.kind})", *one.diff(source), sep="\n    ")


async def _run(breaks: list[Break], options: argparse.Namespace) -> list[Result]:
    task = asyncio.current_task()
    if task is not None:  # as Ctrl-C: the copies and what runs in them go first
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    results: list[Result] = []

    def ended(result: Result) -> None:
        results.append(result)
        outcome = f"{result.outcome} by {result.killer}" if result.killer else result.outcome
        lines = [f"{result.place} ({result.kind})", *result.diff]
        print(
            f"[{len(results)}/{len(breaks)}] {outcome}",
            *(f"    {line}" for line in lines),
            sep="\n",
            file=sys.stderr if options.json else sys.stdout,
            flush=True,
        )

    chosen = RunOptions(reach=options.tests, jobs=options.jobs, limit_s=options.limit_s)
    await run_all(ROOT, breaks, chosen, ended)
    return results


if __name__ == "__main__":
    sys.exit(main())
