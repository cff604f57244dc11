package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.handshake.connect.OutgoingConnectionFuzzTest;
import trigon.handshake.listen.IncomingConnectionFuzzTest;

/** The fuzz tests' corpus, by file name: that it reaches the states it was written for. */
class CorpusTest {

    private static final Path RESOURCES = Path.of("src", "test", "resources", "trigon", "handshake");
    private static final Set<String> ESTABLISHING = Set.of("as-it-should-be", "garbage-after-the-link");

    @Test
    void aPeerThatDoesAsItShouldIsConnected() throws IOException {
        assertCorpus("listen/IncomingConnectionFuzzTestInputs", IncomingConnectionFuzzTest::establishes);
        assertCorpus("connect/OutgoingConnectionFuzzTestInputs", OutgoingConnectionFuzzTest::establishes);
    }

    private static void assertCorpus(String directory, Predicate<byte[]> establishes) throws IOException {
        try (Stream<Path> files = Files.walk(RESOURCES.resolve(directory)).filter(Files::isRegularFile)) {
            for (Path file : files.toList()) {
                assertThat(establishes.test(Files.readAllBytes(file)))
                        .as(file.toString())
                        .isEqualTo(ESTABLISHING.contains(file.getFileName().toString()));
            }
        }
    }
}
