"""Tests of the tables: python3 test_tables.py"""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import tables


def message(count, median, question="message", comms=1):
    return {"question": question, "comms": comms, "bytes": count, "window": 1, "unit": "ns", "median": median}


def call(question, median, comms=1, unit="ns", **more):
    return {"question": question, "comms": comms, "unit": unit, "median": median, **more}


def grown(comms, per_second, kib_each):
    return {"question": "growth", "comms": comms, "per_second": per_second, "kib_each": kib_each,
            "descriptors_each": 2, "threads": 9}


def run(more=None, **plugins):
    return {"plugins": [{"name": name.replace("_", " "), "results": results} for name, results in plugins.items()],
            **(more or {})}


def printed(printer, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        printer(*arguments)
    return output.getvalue()


class Tables(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.results = Path(scratch.name)

    def page(self, **files):
        for name, content in files.items():
            (self.results / f"{name.replace('_', '-')}.json").write_text(json.dumps(content))
        return printed(tables.Page(self.results).print)

    def has(self, page, *parts):
        for part in parts:
            self.assertIn(part, page)

    def test_what_was_not_measured(self):
        page = self.page()
        for name in ("instant", "growth", "links", "steady-links", "lab"):
            self.assertIn(f"Not measured: there is no `{name}.json`", page)

    def test_device_without_latency(self):
        page = self.page(instant=run(
            {"machine": {"processor": "P", "cores": 2, "kernel": "6", "load": 0.5}, "rdma_drivers": {},
             "jvm": {"pauses": 3, "longest_ns": 2000000, "pauses_while_measuring": 0,
                     "longest_while_measuring_ns": 0}},
            Trigon=[call("connect", 2500.0, 0, "us"), call("test_empty", 99.0, processor_median=34.9),
                    {**message(8, 999.0), "window": 8}, message(8, 240.0), message(65536, 1500.0)],
            device_alone=[message(8, 90.0), message(65536, 1250.0)]))
        self.has(page, "| instant device, message of 8 B | 240 ns | at most 350 ns | yes |",
                 "to the device alone | 1.20 times | at most 1.10 times | **no** |",
                 "`test()` that finds nothing | 34.9 ns | at most 35.0 ns | yes |",
                 "instant device, warm connection, both ends | 2500 us | at most 2000 us | **no** |",
                 "The JVM stopped 3 times, the longest 2.00 ms",
                 "| Trigon | message of 8 B, 8 at a time | ns | 999 |",
                 # 240 - 90 = 150 ns are added to 8 B
                 "| 64 KiB | 1500 | 1250 | 1.20 | 250 | 1.07 |",
                 "to the device and what is added to 8 B | 1.07 times | at most 1.20 times | yes |")

    def test_beside_nccls_transport(self):
        page = self.page(instant=run(Trigon=[message(8, 420.0), message(65536, 1500.0)],
                                     device_alone=[message(65536, 1250.0)],
                                     IB=[message(8, 200.0), message(65536, 1400.0)]))
        self.has(page, "message of 8 B, to NCCL's own IB transport | 2.10 times | at most 1.00 times | **no** |",
                 "message of 64 KiB, to NCCL's own IB transport | 1.07 times | at most 1.10 times | yes |")
        self.assertNotIn("of 64 KiB, to the device alone", page)

    def test_first_messages(self):
        page = self.page(instant=run(Trigon=[{"question": "first_messages", "comms": 1, "bytes": 8, "unit": "us",
                                              "first": 14.0, "from_2": 0.9, "from_11": 0.305, "from_101": 0.3,
                                              "warm": 0.25}]))
        self.has(page, "| Trigon | 14.0 | 0.90 | 0.30 | 0.30 | 0.25 |",
                 "instant device, the first message | 14.0 us | at most 50.0 us | yes |",
                 "messages 11 to 100, to warm ones | 1.22 times | at most 1.20 times | **no** |")

    def test_connections_that_are_not_warm(self):
        page = self.page(links=run(
            Trigon=[call("connect_early", 9000, 0, "us", span_seconds=2.0, span_medians=[4321.0, 1234.0]),
                    call("connect", 1100, 0, "us", warm=False)],
            other=[call("connect", 240, 0, "us", warm=True)]))
        self.has(page, "software links, warm connection, both ends | 1100 us | at most 2000 us | yes |",
                 "Trigon: connections still became faster", "| Trigon | 2.00 | 4321 |", "| Trigon | 4.00 | 1234 |")
        self.assertNotIn("other: connections still", page)

    def test_growth(self):
        few, many = ({"Trigon": [call("test_empty_of_one", empty, comms),
                                 message(8, median, "message_of_one", comms)],
                      "IB": [call("test_empty_of_one", other, comms)]}
                     for comms, empty, median, other in ((1, 20.0, 300.0, 10.0), (1024, 21.0, 390.0, 25.0)))
        page = self.page(growth_one_of_few=run(**few), growth_one_of_many=run(**many), growth=run(
            Trigon=[grown(1, 500, 22), grown(16, 1000, 5), grown(256, 600, 20), grown(1024, 500, 22),
                    call("test_empty", 30.0), call("test_empty", 34.0, 1024),
                    call("test_empty_of_one", 31.5, 1024)],
            device_alone=[call("test_empty", 10.0), call("test_empty", 12.0, 1024)]))
        self.has(page, "| Trigon | 1024 | 31.5 | 34.0 |  |  | 22.0 | 2.00 | 9 | 500 |",
                 "memory of one more: with 1024 connections, to 256 | 1.10 times | at most 1.20 times | yes |",
                 "setting one up: with 1024 connections, to 16 | 2.00 times | at most 1.20 times | **no** |",
                 "all used in turns: with 1024 connections, to 1 | 1.13 times | at most 1.20 times | yes |",
                 "less the device alone: with 1024 connections, to 1 | 1.10 times | at most 1.20 times | yes |",
                 "nothing, one used: with 1024 connections, to 1 | 1.05 times | at most 1.20 times | yes |",
                 "message of 8 B, one used: with 1024 connections, to 1 | 1.30 times | at most 1.20 times | **no** |",
                 "| IB | `test()` that finds nothing | 1 | 10.0 | 1024 | 25.0 | 2.50 |")

    def test_a_minute_at_full_rate(self):
        page = self.page(steady_links=run(
            {"jvm": {"pauses_while_measuring": 2, "longest_while_measuring_ns": 3000000,
                     "collections_while_measuring": 1}},
            Trigon=[{"question": "test_call", "comms": 1, "seconds": 60.0, "messages": 1000, "calls": 9000, "p50": 400,
                     "p99": 900, "p99_9": 1900, "p99_99": 5000, "max": 60000}]))
        self.has(page, "| software links | 60.0 | 1000 | 9000 | 400 | 900 | 1900 | 5000 | 60000 | 1 | 2 | 3.00 |",
                 "software links, 60 s at full rate: collections | 1.00 | at most 0.00 | **no** |",
                 "99.9 % of the `test()` calls | 1900 ns | at most 2000 ns | yes |")

    def test_lab(self):
        page = self.page(lab={
            "rounds": 5, "load": 1.5, "latency": {"trigon_us": 44, "ib_write_lat_us": 40},
            "bandwidth": [{"bytes": 1048576, "trigon_mb_per_second": 90, "trigon_asleep_mb_per_second": 96,
                           "ib_write_bw_mb_per_second": 100}]})
        self.has(page, "to `ib_write_lat` | 1.10 times | at most 1.15 times | yes |",
                 "bandwidth at 1 MiB, to `ib_write_bw` | 0.90 times | at least 0.95 times | **no** |",
                 "with a receiver that sleeps, as `ib_write_bw`'s | 0.96 times | at least 0.95 times | yes |")

    def test_announcements(self):
        file = self.results / "announcements.tsv"
        file.write_text("shape\tnodes\nring\t3\n")
        self.assertEqual("| shape | nodes |\n|---|---|\n| ring | 3 |\n\n", printed(tables.announcements, file))


if __name__ == "__main__":
    unittest.main()
