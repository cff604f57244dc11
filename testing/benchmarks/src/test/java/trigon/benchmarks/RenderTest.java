package trigon.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page made of known figures. */
class RenderTest {

    @TempDir
    Path directory;

    @Test
    void comparesLongMessagesWithNcclsOwnTransportWhereThatWasMeasured() throws IOException {
        Files.writeString(directory.resolve("instant.json"), """
                {"plugins": [{"name": "Trigon", "results": [
                  {"question": "message", "comms": 1, "bytes": 8, "window": 1, "unit": "ns", "median": 420.0},
                  {"question": "message", "comms": 1, "bytes": 65536, "window": 1, "unit": "ns", "median": 1500.0}]},
                 {"name": "device alone", "results": [
                  {"question": "message", "comms": 1, "bytes": 65536, "window": 1, "unit": "ns", "median": 1250.0}]},
                 {"name": "IB", "results": [
                  {"question": "message", "comms": 1, "bytes": 8, "window": 1, "unit": "ns", "median": 200.0},
                  {"question": "message", "comms": 1, "bytes": 65536, "window": 1, "unit": "ns", "median": 1400.0}]}]}
                """);

        Render.main(
                new String[] {directory.toString(), directory.resolve("docs").toString()});

        assertThat(Files.readString(directory.resolve("docs/results.md")))
                .contains("message of 8 B, to NCCL's own IB transport | 2.10 times | at most 2.00 times | **no** |")
                .contains("to NCCL's own IB transport | 1.07 times | at most 1.10 times | yes |")
                .doesNotContain("of 64 KiB, to the device alone");
    }

    @Test
    void showsHowLongConnectionsTakeUntilTheyAreWarmAndSaysIfTheyWereNot() throws IOException {
        Files.writeString(directory.resolve("links.json"), """
                {"plugins": [{"name": "Trigon", "results": [
                  {"question": "connect_early", "comms": 0, "unit": "us", "median": 9000, "span_seconds": 2.0,
                     "span_medians": [4321.0, 1234.0]},
                  {"question": "connect", "comms": 0, "unit": "us", "median": 1100, "warm": false}]},
                 {"name": "other", "results": [
                  {"question": "connect_early", "comms": 0, "unit": "us", "median": 300, "span_seconds": 2.0,
                     "span_medians": [250.0]},
                  {"question": "connect", "comms": 0, "unit": "us", "median": 240, "warm": true}]}]}
                """);

        Render.main(
                new String[] {directory.toString(), directory.resolve("docs").toString()});

        assertThat(Files.readString(directory.resolve("docs/results.md")))
                .contains("software links, warm connection, both ends | 1100 us | at most 2000 us | yes |")
                .contains("Trigon: connections still became faster when they were timed")
                .doesNotContain("other: connections still")
                .contains("![](links-connections.svg)");
        assertThat(Files.readString(directory.resolve("docs/links-connections.svg")))
                .contains(">2 s<", ">4 s<", ">4321<", ">1234<", ">250<");
    }

    @Test
    void judgesByTheBudgets() throws IOException {
        Files.writeString(directory.resolve("instant.json"), """
                {"machine": {"processor": "P", "cores": 2, "kernel": "6", "load": 0.5},
                   "rdma_drivers": {"instant0": "mlx5_core"},
                 "jvm": {"pauses": 3, "longest_ns": 2000000, "pauses_while_measuring": 0,
                    "longest_while_measuring_ns": 0},
                 "plugins": [{"name": "Trigon", "api": 12, "init_seconds": 0.5, "results": [
                  {"question": "connect", "comms": 0, "unit": "us", "median": 2500.0, "p10": 1, "p90": 2},
                  {"question": "test_empty", "comms": 1, "unit": "ns", "median": 34.9, "p10": 1, "p90": 2},
                  {"question": "message", "comms": 1, "bytes": 8, "window": 8, "unit": "ns", "median": 999.0, "p10": 1,
                     "p90": 2},
                  {"question": "message", "comms": 1, "bytes": 8, "window": 1, "unit": "ns", "median": 240.0, "p10": 1,
                     "p90": 2},
                  {"question": "message", "comms": 1, "bytes": 65536, "window": 1, "unit": "ns", "median": 1500.0,
                     "p10": 1, "p90": 2}]},
                 {"name": "device alone", "api": 12, "init_seconds": 0.0, "results": [
                  {"question": "message", "comms": 1, "bytes": 8, "window": 1, "unit": "ns", "median": 90.0, "p10": 1,
                     "p90": 2},
                  {"question": "message", "comms": 1, "bytes": 65536, "window": 1, "unit": "ns", "median": 1250.0,
                     "p10": 1, "p90": 2}]}]}
                """);
        Files.writeString(directory.resolve("instant-floor.json"), """
                {"results": [{"operation": "write", "bytes": 8, "median": 66.8}]}
                """);
        Files.writeString(directory.resolve("lab.json"), """
                {"latency": {"trigon_us": 44, "ib_write_lat_us": 40},
                 "bandwidth": [{"bytes": 1048576, "trigon_mb_per_second": 90, "trigon_asleep_mb_per_second": 96,
                    "ib_write_bw_mb_per_second": 100}]}
                """);

        Files.writeString(directory.resolve("steady-links.json"), """
                {"jvm": {"pauses_while_measuring": 2, "longest_while_measuring_ns": 3000000,
                   "collections_while_measuring": 1},
                 "plugins": [{"name": "Trigon", "results": [{"question": "test_call", "comms": 1, "seconds": 60.0,
                    "messages": 1000,
                  "calls": 9000, "p50": 400, "p99": 900, "p99_9": 1900, "p99_99": 5000, "max": 60000}]}]}
                """);
        Files.writeString(directory.resolve("growth.json"), """
                {"plugins": [{"name": "Trigon", "results": [
                  {"question": "growth", "comms": 16, "per_second": 1000, "kib_each": 5, "descriptors_each": 2,
                     "threads": 9},
                  {"question": "test_empty", "comms": 16, "median": 33.0},
                  {"question": "growth", "comms": 256, "per_second": 600, "kib_each": 20, "descriptors_each": 2,
                     "threads": 9},
                  {"question": "growth", "comms": 1024, "per_second": 500, "kib_each": 22, "descriptors_each": 2,
                     "threads": 9},
                  {"question": "test_empty", "comms": 1024, "median": 34.0},
                  {"question": "test_empty_of_one", "comms": 1024, "median": 31.5},
                  {"question": "test_empty", "comms": 1, "median": 30.0},
                  {"question": "growth", "comms": 1, "per_second": 500, "kib_each": 22, "descriptors_each": 2,
                     "threads": 9}]},
                 {"name": "device alone", "results": [
                  {"question": "test_empty", "comms": 1, "median": 10.0},
                  {"question": "test_empty_of_one", "comms": 1024, "median": 15.0},
                  {"question": "test_empty", "comms": 1024, "median": 12.0}]}]}
                """);
        Files.writeString(directory.resolve("growth-one-of-few.json"), """
                {"plugins": [{"name": "Trigon", "results": [
                  {"question": "test_empty_of_one", "comms": 1, "median": 20.0},
                  {"question": "message_of_one", "comms": 1, "bytes": 8, "window": 1, "median": 300.0}]},
                 {"name": "IB", "results": [{"question": "test_empty_of_one", "comms": 1, "median": 10.0}]}]}
                """);
        Files.writeString(directory.resolve("growth-one-of-many.json"), """
                {"plugins": [{"name": "Trigon", "results": [
                  {"question": "test_empty_of_one", "comms": 1024, "median": 21.0},
                  {"question": "message_of_one", "comms": 1024, "bytes": 8, "window": 1, "median": 390.0}]},
                 {"name": "IB", "results": [{"question": "test_empty_of_one", "comms": 1024, "median": 25.0}]}]}
                """);
        Files.writeString(directory.resolve("nodes-1.json"), """
                [{"benchmark": "trigon.routing.NodesBenchmark.readClusterFile", "params": {"nodes": "64"},
                   "primaryMetric": {"score": 64000}},
                 {"benchmark": "trigon.routing.NodesBenchmark.readClusterFile", "params": {"nodes": "1024"},
                    "primaryMetric": {"score": 1536000}},
                 {"benchmark": "trigon.routing.NodesBenchmark.pathsToAllPeers", "params": {"nodes": "64"},
                    "primaryMetric": {"score": 9900, "scorePercentiles": {"50.0": 6400}}},
                 {"benchmark": "trigon.routing.NodesBenchmark.pathsToAllPeers", "params": {"nodes": "1024"},
                    "primaryMetric": {"score": 102400}},
                 {"benchmark": "trigon.handshake.HandshakeNodesBenchmark.connectionsOfAllNodes",
                    "params": {"nodes": "64"}, "primaryMetric": {"score": 6400000}},
                 {"benchmark": "trigon.handshake.HandshakeNodesBenchmark.connectionsOfAllNodes",
                    "params": {"nodes": "1024"}, "primaryMetric": {"score": 112640000}}]
                """);
        // of the two passes of the files the median, of the others the only one
        Files.writeString(directory.resolve("nodes-2.json"), """
                [{"benchmark": "trigon.routing.NodesBenchmark.readClusterFile", "params": {"nodes": "64"},
                   "primaryMetric": {"score": 128000}},
                 {"benchmark": "trigon.routing.NodesBenchmark.readClusterFile", "params": {"nodes": "1024"},
                    "primaryMetric": {"score": 3072000}}]
                """);

        Render.main(
                new String[] {directory.toString(), directory.resolve("docs").toString()});

        assertThat(Files.readString(directory.resolve("docs/results.md")))
                .contains("| instant device, message of 8 B | 240 ns | at most 350 ns | yes |")
                .contains("to the device alone | 1.20 times | at most 1.10 times | **no** |")
                .contains("`test()` that finds nothing | 34.9 ns | at most 35.0 ns | yes |")
                .contains("instant device, warm connection, both ends | 2500 us | at most 2000 us | **no** |")
                .contains("to `ib_write_lat` | 1.10 times | at most 1.15 times | yes |")
                .contains("bandwidth at 1 MiB, to `ib_write_bw` | 0.90 times | at least 0.95 times | **no** |")
                .contains("with a receiver that sleeps, as `ib_write_bw`'s | 0.96 times | at least 0.95 times | yes |")
                .contains("software links, 60 s at full rate: collections | 1.00  | at most 0.00  | **no** |")
                .contains(
                        "software links, 60 s at full rate: 99.9 % of the `test()` calls | 1900 ns | at most 2000 ns |"
                                + " yes |")
                .contains(
                        "growth, memory of one more: with 1024 connections, to 256 | 1.10 times | at most 1.20 times |"
                                + " yes |")
                .contains("growth, setting one up: with 1024 connections, to 16 | 2.00 times | at most 1.20 times |"
                        + " **no** |")
                .contains(
                        "growth, cluster file, for each node: with 1024 nodes, to 64 | 1.50 times | at most 1.20 times"
                                + " | **no** |")
                .contains("growth, paths, for each node: with 1024 nodes, to 64 | 1.00 times | at most 1.20 times | yes"
                        + " |")
                .contains(
                        "growth, handshakes, for each node: with 1024 nodes, to 64 | 1.10 times | at most 1.20 times |"
                                + " yes |")
                .contains("| 64 | 1500 | 100 | 100000 |")
                .contains("growth, `test()` that finds nothing, all used in turns: with 1024 connections, to 1 | 1.13"
                        + " times | at most 1.20 times | yes |")
                .contains("growth, `test()` that finds nothing, all used in turns, less the device alone: with 1024"
                        + " connections, to 1 | 1.10 times | at most 1.20 times | yes |")
                .contains("growth, `test()` that finds nothing, one used: with 1024 connections, to 1 | 1.05 times | at"
                        + " most 1.20 times | yes |")
                .contains("growth, message of 8 B, one used: with 1024 connections, to 1 | 1.30 times | at most 1.20"
                        + " times | **no** |")
                .contains("| IB | `test()` that finds nothing | 1 | 10.0 | 1024 | 25.0 | 2.50 |")
                .contains("| write | 8 | 66.8 |")
                // 240 - 90 = 150 ns are added to 8 B
                .contains("| 64 KiB | 1500 | 1250 | 1.20 | 250 | 1.07 |")
                .contains("growth, message of 8 B to 64 KiB, the worst: to the device and what is added to 8 B | 1.07"
                        + " times | at most 1.20 times | yes |")
                .contains("The JVM stopped 3 times, the longest 2.00 ms")
                .contains("Not measured: there is no `jmh.json`");
        assertThat(Files.readString(directory.resolve("docs/nodes.svg"))).contains(">1024 nodes<", "cluster file");
        assertThat(Files.readString(directory.resolve("docs/growth-each.svg")))
                .contains(">1024 connections<", "to set up, us");
        assertThat(Files.readString(directory.resolve("docs/instant.svg")))
                .startsWith("<svg")
                .contains(">64 KiB<")
                .contains("device alone")
                .endsWith("</svg>\n");
    }
}
