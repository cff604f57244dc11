package trigon.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.tools.Run;
import trigon.transport.metrics.LinkCounters;
import trigon.transport.metrics.Metrics;
import trigon.transport.metrics.PathCounters;

class ExplainCommandTest {

    @TempDir
    Path folder;

    private Map<String, String> file() throws Exception {
        Path file = Files.writeString(folder.resolve("trigon.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}
                  b: {nics: [{address: 127.0.12.2/24}]}
                """);
        return Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a");
    }

    @Test
    void theSameSubnetDecides() throws Exception {
        Run run = Run.of(file(), "explain", "--to", "b");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("same subnet /24")
                .contains("not in one subnet")
                .contains("counts as", "unknown"); // the kernel tells no speed of its loopback
    }

    @Test
    void anAddressNeedsNeitherPrefixNorFile() throws Exception {
        assertThat(Run.of(file(), "explain", "--to", "127.0.12.2").out())
                .isEqualTo(Run.of(file(), "explain", "--to", "127.0.12.2/24").out())
                .contains("same subnet /24");
        assertThat(Run.of("explain", "--to", "b").err())
                .contains("no address, such as 10.0.12.2, no host name that resolves", "no node of a cluster file");
        assertThat(Run.of(file(), "explain", "--to", "localhost").out()).contains("127.0.0.1/32");
    }

    @Test
    void noPathSaysWhy() throws Exception {
        Run run = Run.of(file(), "explain", "--to", "203.0.113.9/24");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).contains("no direct path", "the cluster file has no such nodes");
    }

    private Map<String, String> line(String more) throws Exception {
        Path file = Files.writeString(folder.resolve("line.yaml"), """
                version: 1
                links: software
                %s
                nodes:
                  a: {nics: [{address: 127.0.12.1/24}]}
                  b: {nics: [{address: 127.0.12.2/24}, {address: 127.0.23.2/24}]}
                  c: {nics: [{address: 127.0.23.3/24}, {address: 127.0.34.3/24}]}
                  d: {nics: [{address: 127.0.34.4/24}]}
                """.formatted(more));
        return Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a");
    }

    @Test
    void aRelayedPairIsJoinedByTrigonItself() throws Exception {
        Run c = Run.of(line(""), "explain", "--to", "c");
        Run d = Run.of(line(""), "explain", "--from", "d", "--to", "a");

        assertThat(c.status()).as(c.out() + c.err()).isZero();
        assertThat(c.out()).contains("Trigon relays by itself, through b.", "a process of the job");
        assertThat(d.status()).as(d.out() + d.err()).isZero();
        assertThat(d.out()).contains("Trigon relays by itself, through c, b.", "each of these nodes");
        assertThat(Run.of(line(""), "explain", "--to", "c", "--json").out())
                .containsPattern("\"relays\": \\[\\s*\"b\"");
        Run off = Run.of(line("relay: off"), "explain", "--to", "c");
        assertThat(off.status()).isEqualTo(1);
        assertThat(off.out()).contains("relays are off", "relay: on");
    }

    @Test
    void aWrongNodeIsAnError() throws Exception {
        assertThat(Run.of(file(), "explain", "--to", "zz").err())
                .contains("--to is zz")
                .contains("a, b");
        assertThat(Run.of(file(), "explain", "--to", "zz").status()).isEqualTo(2);
        assertThat(Run.of("explain").status()).isEqualTo(2);
    }

    @Test
    void anotherNodesChoiceIsThatOfTheFile() throws Exception {
        Run run = Run.of(file(), "explain", "--from", "b", "--to", "a");
        Run json = Run.of(file(), "explain", "--from", "b", "--to", "a", "--json");

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("nic1", "127.0.12.2/24", "127.0.12.1/24", "same subnet /24")
                .contains("not in one subnet");
        assertThat(json.out()).contains("\"link\": \"nic1\"", "\"order\": 1");
        assertThat(Run.of(file(), "explain", "--from", "zz", "--to", "a").err()).contains("zz", "a, b");
        assertThat(Run.of("explain", "--from", "b", "--to", "a").err()).contains("no cluster file");
    }

    @Test
    void theOwnNodeIsThisMachine() throws Exception {
        assertThat(Run.of(file(), "explain", "--from", "a", "--to", "b").out()).contains("lo");
    }

    /** A library by RCCL's name is what the line goes by. */
    @Test
    void aProcessOfRcclSaysSo() throws Exception {
        Path library = Files.copy(
                Path.of(System.getProperty("java.home"), "lib", "libjimage.so"),
                Files.createDirectory(folder.resolve("rocm")).resolve("librccl.so.1.0.70200"));
        try (Arena arena = Arena.ofConfined();
                Metrics metrics = Metrics.shared(Path.of("/dev/shm"));
                PathCounters path = metrics.link("eth1", "TCP", 10_000).path("sender")) {
            var _ = SymbolLookup.libraryLookup(library, arena);
            path.peer("b");
            path.state(2);
            String pid = Long.toString(ProcessHandle.current().pid());

            assertThat(Run.of("explain", "--pid", pid).out()).contains("It has loaded", library.toString());
            assertThat(Run.of("explain", "--pid", pid, "--json").out()).contains("\"" + library + "\"");
        }
    }

    @Test
    void aRunningProcessShowsItsPaths() {
        String pid = Long.toString(ProcessHandle.current().pid());
        try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"))) {
            LinkCounters link = metrics.link("eth1", "TCP", 10_000);
            try (PathCounters path = link.path("sender")) {
                path.peer("b");
                path.state(2);
                path.message(7_000_000);
                path.noteRelays("c over RDMA");

                Run run = Run.of("explain", "--pid", pid);
                assertThat(run.status()).as(run.out() + run.err()).isZero();
                assertThat(run.out()).contains("b", "sender", "eth1", "relayed by c over RDMA", "up", "7");
                assertThat(Run.of("explain", "--pid", pid, "--json").out())
                        .contains(
                                "\"schema\": \"trigon.explain/1\"",
                                "\"bytes\": 7000000",
                                "\"relays\": \"c over RDMA\"");

                path.state(3);
                assertThat(Run.of("explain", "--pid", pid).status()).isEqualTo(1);
            }
        }
        assertThat(Run.of("explain", "--pid", "999999999").err()).contains("999999999", "trigon jobs");
        assertThat(Run.of("explain", "--pid", pid, "--to", "b").status()).isEqualTo(2);
    }
}
