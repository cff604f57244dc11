package trigon.policyhost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.file.ConfigLoader;
import trigon.config.setting.ConfigException;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSet;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapType;
import trigon.policyhost.decision.Communicator;

/** A rank on which the policy cannot be loaded for a communicator, while others may have it. */
class ProcessPolicyTest {

    private static final Path EXAMPLES = Path.of("../examples");

    @TempDir
    private Path folder;

    private ProcessPolicy open(String example, ProcessPolicy policy) throws Exception {
        Path file = folder.resolve("policy.o");
        Files.write(file, Files.readAllBytes(EXAMPLES.resolve(example + ".o")));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        policy.open(ConfigLoader.load(Map.of("TRIGON_POLICY", file.toString()), "a"));
        return policy;
    }

    /** With maps of the same names, but of another layout. */
    private static MapSet withOtherMaps() {
        MapSet maps = new MapSet();
        try {
            maps.bind(
                    List.of(MapSpec.of("rows", MapType.HASH, 8, 8, 1), MapSpec.of("measured", MapType.ARRAY, 4, 8, 1)));
        } catch (MapException e) {
            throw new IllegalStateException(e);
        }
        return maps;
    }

    @Test
    void failsWhereOtherRanksDecideWithoutAgreement() throws Exception {
        ProcessPolicy policy = open("table", new ProcessPolicy(ProcessPolicyTest::withOtherMaps));

        assertThatThrownBy(() -> policy.forCommunicator(new Communicator(1, 2, 1)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("map rows")
                .hasMessageContaining("unset policy.file on all ranks");
        assertThat(policy.forCommunicator(new Communicator(1, 1, 1))).isNull();
    }

    @Test
    void takesNoPartInAnAgreement() throws Exception {
        ProcessPolicy fails = open("slo", new ProcessPolicy(ProcessPolicyTest::withOtherMaps));
        Communicator communicator = new Communicator(System.nanoTime(), 2, 1);
        assertThat(fails.forCommunicator(communicator)).isNull();

        ProcessPolicy other = open("slo", new ProcessPolicy());
        assertThat(other.forCommunicator(communicator))
                .as("one of two ranks came")
                .isNull();
    }
}
