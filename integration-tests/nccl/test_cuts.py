"""What a failure has cost, and which ones are planted."""

import argparse
import threading
import unittest

import cuts
import main
from network import Fault


class Cable:
    """A network of two nodes whose one cable fails in two ways, which are counted."""

    nodes, cables_each = "ab", 1

    def __init__(self):
        self.planted, self.mended, self.enough = [], [], threading.Event()

    def faults(self, _end, _peer, _cable):
        return [Fault(kind, kind, lambda kind=kind: self.planted.append(kind), lambda kind=kind: self.mend(kind))
                for kind in ("link down", "silence")]

    def mend(self, kind):
        self.mended.append(kind)
        self.enough.set()


class Cuts(unittest.TestCase):
    def test_each_failure_has_the_slowest_all_reduce_that_met_it(self):
        down, silent = Cable().faults("a", "b", 0)
        blocks = [(0, 1, 0.001), (1, 4, 0.5), (4, 5, 0.002), (5, 9, 1.25), (20, 21, 9)]

        found = cuts.stalls([(2, down), (5, silent), (10.5, down)], blocks)

        self.assertEqual(found, {"link down": [0.5], "silence": [1.25]})
        self.assertIn("silence: 1 times, slowest all-reduce 1250 ms in the median", cuts.shown(found, blocks))

    def test_one_kind_alone_is_planted_and_mended(self):
        network = Cable()
        cutter = cuts.Cutter(network, cuts.SEED, "silence")
        cutter.start()
        self.assertTrue(network.enough.wait(60))
        cutter.stop()

        self.assertEqual((set(network.planted), network.planted, cutter.problem), ({"silence"}, network.mended, None))

    def test_a_model_is_a_latency_and_a_rate(self):
        self.assertEqual(main.model_of_time("2us,100G"), "2us 100G")
        for wrong in ("2us", "100G,2us", "2,100G", "2us,100"):
            self.assertRaises(argparse.ArgumentTypeError, main.model_of_time, wrong)


if __name__ == "__main__":
    unittest.main()
