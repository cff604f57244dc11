#!/usr/bin/env python3
"""Asks every query of the shipped Grafana dashboard, as Grafana would, of a Prometheus with the data of a run.

The run is the demo whose cable is cut and comes back, scraped each second. Prometheus is Debian's package, installed in
a mount namespace unless this machine has it. Needs root, for network namespaces, and Debian's archive.
"""

import http
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from walk import INSIDE, StepFailed, in_own_mounts, run

START_SECONDS = 60
DEMO_SECONDS = 240
STEP_SECONDS = 1
AWAY_SECONDS = 8
CONFIG = """global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: trigon
  static_configs: [{{targets: ['{target}']}}]
"""
# What Grafana puts for the variables of a query: all instances, and four times the interval of the scrapes.
VARIABLES = {"$instance": ".+", "$__rate_interval": f"{4 * STEP_SECONDS}s"}
# Panels that a run with a cut cable moves, by how their titles begin; the others may show zeros.
MOVED = ("Traffic", "Share", "Open", "Links", "Failovers", "Pauses")


class Observed:
    """A run, and the Prometheus that has watched it."""

    def __init__(self, folder, home):
        self.folder = Path(folder)
        self.trigon = Path(home) / "bin/trigon"
        self.programs = []
        self.begin = time.time()

    def start(self, name, *command):
        with open(self.folder / f"{name}.log", "w") as log:
            self.programs.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log))
        return self.folder / f"{name}.log"

    def close(self):
        for program in reversed(self.programs):
            program.kill()
            program.wait()

    def watch(self):
        """Starts what scrapes, and returns when it does."""
        log = self.start("metrics", self.trigon, "metrics", "--listen", "0")
        await_true("an address of trigon metrics", lambda: re.search(r"http://(\S+)/metrics", log.read_text()))
        target = re.search(r"http://(\S+)/metrics", log.read_text()).group(1)
        config = self.folder / "prometheus.yml"
        config.write_text(CONFIG.format(target=target))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.start("prometheus", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                   f"--web.listen-address={self.address}")
        await_true("a scrape", lambda: self.series("up == 1"))

    def cut(self):
        """Runs the demo to its end."""
        text = run(self.trigon, "demo", "--cut", "--away", AWAY_SECONDS, seconds=DEMO_SECONDS)
        if "is cut" not in text:
            raise StepFailed("the demo made no network namespaces:\n" + text)

    def ask(self, what, **parameters):
        address = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(address, timeout=START_SECONDS) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.SERVICE_UNAVAILABLE:
                return None  # it still starts
            raise StepFailed(f"{parameters}: {error.read().decode()}") from error
        except OSError:
            return None  # it does not listen yet

    def series(self, query):
        """What Grafana would draw: for each series its labels and values, from the run's begin until now."""
        answer = self.ask("query_range", query=query, start=self.begin, end=time.time(), step=STEP_SECONDS)
        return answer["result"] if answer else []


def await_true(what, condition):
    """Waits until it is."""
    end = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise StepFailed(f"no {what} within {START_SECONDS} s")
        time.sleep(0.2)


def filled(text):
    """With values for Grafana's variables."""
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    if "$" in text:
        raise StepFailed(f"a variable that Grafana or the dashboard does not have: {text}")
    return text


def legend(pattern, labels):
    """As Grafana names a series."""
    return re.sub(r"{{\s*(\w+)\s*}}", lambda name: labels.get(name.group(1), ""), pattern)


def check(panel, target, observed):
    """Returns a sentence on a query's data."""
    series = observed.series(filled(target["expr"]))
    if not series:
        raise StepFailed(f"{panel['title']}: no data for {target['expr']}")
    names = [legend(target["legendFormat"], each["metric"]) for each in series]
    if len(set(names)) < len(names) or any("  " in f" {name} " or name != name.strip() for name in names):
        raise StepFailed(f"{panel['title']}: {target['legendFormat']} gives {names}")
    values = [float(value) for each in series for _, value in each["values"]]
    most = max(values)
    if panel["title"].startswith(MOVED) and not most > 0:
        raise StepFailed(f"{panel['title']}: nothing but zeros: {names}")
    return f"{panel['title']}: {len(series)} series, such as {names[0]}, up to {most:.6g} {panel_unit(panel)}"


def panel_unit(panel):
    return panel["fieldConfig"]["defaults"]["unit"]


def main():
    if len(sys.argv) != 2 or os.geteuid():
        sys.exit("usage, as root: dashboard.py DISTRIBUTION")
    if INSIDE not in os.environ:
        in_own_mounts(__file__, sys.argv[1:])
    if not shutil.which("prometheus"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        services = Path("/usr/sbin/policy-rc.d")  # keeps the package from starting one
        services.write_text("#!/bin/sh\nexit 101\n")
        services.chmod(0o755)
        run("apt-get", "install", "--yes", "--no-install-recommends", "prometheus", seconds=600)
    home = Path(sys.argv[1]).resolve()
    dashboard = json.loads((home / "share/grafana/trigon.json").read_text())
    status = 0
    with tempfile.TemporaryDirectory(prefix="trigon-dashboard-") as folder:
        observed = Observed(folder, home)
        try:
            observed.watch()
            observed.cut()
            for panel in dashboard["panels"]:
                for target in panel["targets"]:
                    try:
                        print("ok     ", check(panel, target, observed), flush=True)
                    except StepFailed as error:
                        print("FAILED ", error, flush=True)
                        status = 1
        except (StepFailed, subprocess.SubprocessError) as error:
            print("FAILED ", error, flush=True)
            status = 1
        finally:
            observed.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
