"""Counts what passed, failed and was skipped, and prints it as it happens."""

import time


class Report:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []
        self.start = time.monotonic()

    def say(self, text):
        print(f"[{time.monotonic() - self.start:6.1f} s] {text}", flush=True)

    def passes(self, name, detail="", count=1):
        self.passed += count
        self.say(f"ok      {name}{': ' + detail if detail else ''}")

    def fails(self, name, detail):
        self.failed.append(name)
        self.say(f"FAILED  {name}: {detail}")

    def skips(self, name, reason):
        self.skipped.append((name, reason))
        self.say(f"skipped {name}: {reason}")

    def judge(self, name, problem, detail=""):
        if problem:
            self.fails(name, problem)
        else:
            self.passes(name, detail)
        return not problem

    def finish(self):
        """Prints the end; the exit status. Nothing passed is a failure too."""
        for name in self.failed:
            print(f"failed: {name}")
        for name, reason in self.skipped:
            print(f"skipped: {name}: {reason}")
        print(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped", flush=True)
        return 1 if self.failed or not self.passed else 0
