package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.TunerChoice;

/** Whatever is in the page that ranks share, each comes to an outcome, and whatever table that is can be asked. */
@Tag("fuzz")
class AgreementFuzzTest {

    private static final String POLICY = "5fe0b0c7f1b45fe0";
    private static final PolicyCommunicator COMMUNICATOR = new PolicyCommunicator(1, 2, 1);

    @TempDir
    static Path directory;

    @FuzzTest
    void anyPageHasAnOutcome(byte[] data) throws IOException {
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path page = directory.resolve("trigon-agreement-1-%s-1-2".formatted(user));
        Files.write(page, data);
        try {
            DecisionTable own = DecisionTable.of(new long[DecisionTable.ENTRIES]);
            switch (new Agreement(directory, Duration.ZERO).reach(COMMUNICATOR, POLICY, () -> own)) {
                case Agreement.Outcome.Agreed(DecisionTable table) -> ask(table);
                case Agreement.Outcome.TooFew _, Agreement.Outcome.DifferentPolicies _ -> {}
            }
        } finally {
            Files.deleteIfExists(page);
        }
    }

    private static void ask(DecisionTable table) {
        for (int collective = -1; collective < 8; collective++) {
            for (long bytes = 1; bytes > 0; bytes <<= 7) {
                long choice = table.decide(0, collective, bytes, 1, 0);
                assertThat(TunerChoice.channels(choice)).isBetween(0, 255);
            }
        }
    }
}
