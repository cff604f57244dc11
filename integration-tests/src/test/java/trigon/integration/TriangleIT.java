package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.Triangle;
import trigon.testsupport.Sampled;

/** A ring all-reduce over three processes that load the plugin as NCCL does. The host checks every element. */
@Timeout(300)
class TriangleIT {

    @TempDir
    Path directory;

    @ParameterizedTest
    @Sampled({"0", "1", "2", "3", "4", "5", "6", "7"})
    void reducesInEveryOrderOfListingTheNics(int order) {
        Map<String, String> logs =
                triangle(order).run(HostProgram.QUICK_START, "--api", "11", "--bytes", "1000003", "--iterations", "2");

        // the cable between two nodes, and no other, carries what they send each other
        assertThat(logs.get("a")).contains("sends to b 127.0.12.2 via").contains("receives from c 127.0.13.3");
        assertThat(logs.get("b")).contains("sends to c 127.0.23.3 via").contains("receives from a 127.0.12.1");
        assertThat(logs.get("c")).contains("sends to a 127.0.13.1 via").contains("receives from b 127.0.23.2");
    }

    @ParameterizedTest
    @Sampled({"8", "9", "10", "12"})
    void reducesThroughEveryApiVersion(int api) {
        triangle(0)
                .run(HostProgram.QUICK_START, "--api", Integer.toString(api), "--bytes", "65536", "--iterations", "3");
    }

    @ParameterizedTest
    @Sampled({"0, 1", "4, 1", "1048588, 4", "67108864, 2"})
    void reducesAnySizeOverSeveralChannels(long bytes, int channels) {
        triangle(0).run("--bytes", Long.toString(bytes), "--channels", Integer.toString(channels), "--iterations", "1");
    }

    @Test
    @Tag("long")
    void exchangesMessagesOfAllSizes() {
        triangle(0).run("--test", "exchange", "--bytes", "300000", "--iterations", "200", "--seed", "7");
    }

    /** Long messages in parts; as many as NCCL has requests, many times over. */
    @Test
    @Tag("long")
    void severalQueuePairsPerConnectionCarryMessagesOfAllSizes() {
        Map<String, String> several = Map.of("TRIGON_QUEUE_PAIRS_PER_LINK", "2");

        Map<String, String> logs = triangle(0)
                .run(several, "--test", "exchange", "--bytes", "300000", "--iterations", "200", "--seed", "7");
        triangle(0).run(several, "--bytes", "4000012", "--iterations", "3");

        assertThat(logs.get("a")).contains("sends to b by 2 queue pairs over");
    }

    @Test
    void everyTransitionOfEveryQueuePairIsInTheLogOfWhoAsksForAll() {
        Map<String, String> logs = triangle(0).run(Map.of("NCCL_DEBUG", "TRACE"), "--bytes", "4096");

        logs.values()
                .forEach(log -> assertThat(log)
                        .contains("RESET -> INIT")
                        .contains("INIT -> READY_TO_RECEIVE")
                        .contains("READY_TO_RECEIVE -> READY_TO_SEND")
                        .contains("READY_TO_SEND -> CLOSED"));
    }

    private Triangle triangle(int order) {
        return Triangle.of(directory, HostProgram.distribution(), order);
    }
}
