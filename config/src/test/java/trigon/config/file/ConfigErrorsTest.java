package trigon.config.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every error names file, line, key, value and rule. */
class ConfigErrorsTest {

    private static final String NODES = """
        version: 1
        nodes:
          a:
            nics:
              - {device: rxe_ab, address: 10.0.12.1/24}
              - {address: 10.0.13.1/24}
          b:
            nics:
              - {device: rxe_ba, address: 10.0.12.2/24}
        """;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "link: auto | :10: unknown key link with value \"auto\": known here are version, nodes, peers, links,"
                        + " queuePair, handshake, ports, failover, lanes, stripes, relay, circuits, routes, topology,"
                        + " policy, tuning, oneSided, devices, gpuMemory; did you mean links?",
                "queuePair: {gidindex: 3} | :10: unknown key queuePair.gidindex with value 3: ... did you mean"
                        + " gidIndex?",
                "handshake: {zzz: 3} | unknown key handshake.zzz with value 3: known here are timeout, peerTimeout",
            })
    void rejectsUnknownKey(String line, String message) {
        assertThat(errorOf(NODES + line)).contains("trigon.yaml").contains(message.split(" \\.\\.\\. "));
    }

    @Test
    void rejectsUnknownKeyOfANic() {
        assertThat(errorOf(NODES.replace("{address: 10.0.13.1/24}", "{adress: 10.0.13.1/24}")))
                .contains(":6: unknown key nodes.a.nics[1].adress with value \"10.0.13.1/24\"")
                .endsWith("known here are device, address, speedMbps; did you mean address?");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "links: foo | :10: links is \"foo\": must be one of auto, rdma, software",
                "links: 1 | links is 1: must be one of auto, rdma, software",
                "links: true | links is true: must be one of",
                "links: | links is empty: must be one of",
                "links: [auto] | links is a list: must be one of",
                "queuePair: 5 | queuePair is 5: must be a mapping",
                "queuePair: | queuePair is empty: must be a mapping",
                "queuePair: {timeout: 40} | queuePair.timeout is 40: must be a whole number from 1 to 31",
                "queuePair: {timeout: 14s} | queuePair.timeout is \"14s\": must be a whole number from 1 to 31",
                "queuePair: {timeout: '14'} | queuePair.timeout is \"14\": must be a whole number",
                "queuePair: {timeout: 1.5} | queuePair.timeout is 1.5: must be a whole number",
                "queuePair: {timeout: 0x10} | queuePair.timeout is ",
                "queuePair: {timeout: 99999999999999999999} | queuePair.timeout is 99999999999999999999: must be a"
                        + " whole",
                "queuePair: {timeout: } | queuePair.timeout is empty: must be a whole number",
                "queuePair: {retryCount: 7} | queuePair.retryCount is 7: must be a whole number from 0 to 6",
                "queuePair: {port: -1} | queuePair.port is -1: must be a whole number from 1 to 255",
                "handshake: {timeout: 10} | handshake.timeout is 10: must be a number with its unit",
                "handshake: {timeout: 10 s} | handshake.timeout is \"10 s\": must be a number with its unit",
                "handshake: {timeout: 10d} | handshake.timeout is \"10d\": must be a number with its unit",
                "handshake: {timeout: 99ms} | handshake.timeout is \"99ms\": ... from 100ms to 1h",
                "handshake: {timeout: 999999999h} | handshake.timeout is \"999999999h\": ... from 100ms to 1h",
                "ports: 30999-30000 | ports is \"30999-30000\": must be a range of TCP ports from 1 to 65535",
                "ports: 30000-65536 | ports is \"30000-65536\": must be a range of TCP ports from 1 to 65535",
                "stripes: all | stripes is \"all\": must be a mapping",
                "stripes: {links: 2} | stripes.links is 2: must be one of auto, one, all",
                "stripes: {links: both} | stripes.links is \"both\": must be one of auto, one, all",
                "stripes: {queuePairsPerLink: 5} | stripes.queuePairsPerLink is 5: must be a whole number from 1 to 4",
                "stripes: {link: all} | unknown key stripes.link with value \"all\": ... did you mean links?",
                "peers: {a: {b: rxe_ab, z: rxe_ab}} | peers.a.z is \"rxe_ab\": there is no node \"z\"; the nodes are"
                        + " a, b",
                "peers: {q: {b: rxe_ab}} | peers.q is a mapping: there is no node \"q\"",
                "peers: {a: {b: 10.0.99.1}} | peers.a.b is \"10.0.99.1\": must be a device, an interface or an address"
                        + " of"
                        + " a NIC of node a: rxe_ab 10.0.12.1/24, 10.0.13.1/24",
                "peers: {a: {b: 10.0.12}} | peers.a.b is \"10.0.12\": it must be an IPv4 or IPv6 address",
                "peers: {a: {b: }} | peers.a.b is empty: must be",
                "peers: {a: {b: 10.0.12.1/99}} | peers.a.b is \"10.0.12.1/99\": the prefix length is not in 0..32",
                "peers: {a: {b: 'x y'}} | peers.a.b is \"x y\": must be",
                "peers: [a] | peers is a list: must be a mapping such as",
            })
    void rejectsBadValue(String line, String message) {
        assertThat(errorOf(NODES + line)).contains("trigon.yaml:10: ").contains(message.split(" \\.\\.\\. "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.13.0/24 | host bits are all zero",
                "10.0.13.255/24 | broadcast",
                "10.0.13.1/33 | the prefix length is not in 0..32",
                "10.0.13.1 | the prefix length is missing",
                "10.0.12.1/16 | that address is nodes.a.nics[0].address already",
                "host-a/24 | must be an IPv4 or IPv6 address, not a name",
                "fe80::1/64 | link-local",
                "12 | must be an address with its prefix",
            })
    void rejectsBadAddress(String address, String rule) {
        assertThat(errorOf(NODES.replace("10.0.13.1/24", address)))
                .contains("trigon.yaml:6: nodes.a.nics[1].address is ", address, rule);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "10000001", "fast", "25G"})
    void rejectsABadSpeed(String speed) {
        assertThat(errorOf(NODES.replace("10.0.13.1/24", "10.0.13.1/24, speedMbps: " + speed)))
                .contains("trigon.yaml:6: nodes.a.nics[1].speedMbps is ", speed)
                .contains("must be a whole number from 1 to 10000000");
    }

    @Test
    void rejectsAnAddressThatTwoNodesHave() {
        assertThat(errorOf(NODES.replace("10.0.12.2/24", "10.0.12.1/24")))
                .contains(":9: nodes.b.nics[0].address is \"10.0.12.1/24\": that address is nodes.a.nics[0].address")
                .contains("trigon.yaml:5)");
    }

    @Test
    void rejectsADeviceTwiceUnlessItsAddressesDiffer() {
        String nodes = "version: 1\nnodes: {a: {nics: [%s, %s]}}\n";

        assertThat(errorOf(nodes.formatted("{device: x}", "{device: x}"))).contains("the NIC x is there already");
        assertThat(errorOf(nodes.formatted("{device: x}", "{device: x, address: 10.0.0.1/24}")))
                .contains("the NIC x is there already");
        assertThat(TestFile.of(
                                directory,
                                nodes.formatted(
                                        "{device: x, address: 10.0.0.1/24}", "{device: x, address: 10.0.1.1/24}"))
                        .load()
                        .thisNode()
                        .orElseThrow()
                        .nics())
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nodes: {} | nodes is a mapping: must be a mapping of one host name or more",
                "nodes: | nodes is empty: must be a mapping",
                "nodes: [a] | nodes is a list: must be a mapping",
                "nodes: {a: } | nodes.a is empty: must be a mapping with keys of nics",
                "nodes: {a: {}} | nodes.a is a mapping: its nics are missing",
                "nodes: {a: {nics: []}} | nodes.a.nics is a list: must be a list of one NIC or more",
                "nodes: {a: {nics: {device: x}}} | nodes.a.nics is a mapping: must be a list",
                "nodes: {a: {nics: [x]}} | nodes.a.nics[0] is \"x\": must be a mapping with keys of device, address",
                "nodes: {a: {nics: [{}]}} | nodes.a.nics[0] is a mapping: a NIC needs a device, an address, or both",
                "nodes: {a: {nics: [{device: 5}]}} | nodes.a.nics[0].device is 5: must be the name",
                "nodes: {a: {nics: [{device: 'x y'}]}} | nodes.a.nics[0].device is \"x y\": must be the name",
                "nodes: {'a b': {nics: [{device: x}]}} | nodes.a b is a mapping: a node's name is made of",
                "peers: {a: {b: x}} | peers is a mapping: it refers to nodes: add nodes",
            })
    void rejectsMalformedNodes(String line, String message) {
        assertThat(errorOf("version: 1\n" + line)).contains("trigon.yaml:2: " + message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "version: 2 | :1: version is 2: must be 1, the only known version",
                "version: '1' | version is \"1\": must be 1",
                "version: | version is empty: must be 1",
                "links: auto | the document is a mapping: its version is missing",
                "5 | the document is 5: must be a mapping that begins with version: 1",
                "[] | the document is a list: must be a mapping",
                "--- | the document is empty: must be a mapping",
            })
    void rejectsWrongVersion(String text, String message) {
        assertThat(errorOf(text)).contains("trigon.yaml:", message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n\n", "# only a comment\n"})
    void rejectsEmptyFile(String text) {
        assertThat(errorOf(text)).contains("trigon.yaml is empty");
    }

    @Test
    void rejectsDuplicateKeys() {
        assertThat(errorOf(NODES + "version: 1\n")).contains(":10: the key \"version\" is there already, on line 1");
        assertThat(errorOf(NODES + "queuePair: {port: 1, port: 2}\n"))
                .contains(":10: the key \"port\" is there already, on line 10");
        assertThat(errorOf(NODES + "  a: {nics: [{device: x}]}\n"))
                .contains(":10: the key \"a\" is there already, on line 3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "links: *x | anchors",
                "queuePair: &x {port: 1} | anchors",
                "links: !!str auto | tags",
                "links: auto\\n---\\nversion: 1 | a second document",
                "<<: {links: auto} | unknown key <<",
                "links: 'auto | not valid YAML",
                "links: [auto | not valid YAML",
                "\\tlinks: auto | not valid YAML",
                "links: @auto | not valid YAML",
                "[[[[[[[[[[[[[[[[[[[[ | not valid YAML",
                "links: \\u0007 | not valid YAML",
            })
    void rejectsMoreThanPlainYaml(String line, String message) {
        String text = line.replace("\\n", "\n").replace("\\t", "\t").replace("\\u0007", "\u0007");

        assertThat(errorOf("version: 1\n" + text)).contains("trigon.yaml", message);
    }

    /** SnakeYAML says on several lines what it was about to do, what was in the way, and where. */
    @Test
    void tellsWhatIsWrongWithTheTextAndWhere() {
        assertThat(errorOf("version: 1\nqueuePair:\n\tport: 1\n"))
                .contains("trigon.yaml:3:1 is not valid YAML", "(TAB)", "; indent with blanks instead of the tab");
        assertThat(errorOf("version: 1\nqueuePair:\n    port: 1\n  timeout: 14\n"))
                .contains("trigon.yaml:4:", "expected <block end>", "; the line is not indented as those above");
        assertThat(errorOf("version: 1\nlinks: auto\n  nodes: {}\n"))
                .contains("trigon.yaml:3:", "mapping values are not allowed", "; the line is not indented");
        assertThat(errorOf("version: 1\nlinks: 'auto\n")).contains("trigon.yaml:", "found unexpected end of stream");
    }

    @Test
    void rejectsDeepNesting() {
        assertThat(errorOf("version: 1\nlinks: " + "[".repeat(20) + "]".repeat(20)))
                .contains("trigon.yaml", "not valid YAML", "depth");
    }

    @Test
    void keepsHostileTextOutOfTheLog() {
        assertThat(errorOf("version: 1\nlinks: \"" + "\\u001b[31m\\n".repeat(100) + "\"\n"))
                .contains("?[31m?", "...")
                .doesNotContain("\n", "\u001b")
                .hasSizeLessThan(400);
    }

    private String errorOf(String text) {
        return TestFile.of(directory, text).error();
    }
}
