package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.transport.failover.QueuePairCutContract;
import trigon.transport.testsupport.TestCluster;

/**
 * Two cables between two nodes, on SoftRoCE: queue pairs fail, and cables are cut and mended, under messages both ways.
 */
class FailoverLabTest extends QueuePairCutContract {

    private static final int CABLE_CUTS = Integer.getInteger("trigon.cableCuts", 3);
    private static final List<String> ENDS = List.of("ab", "ba", "ac", "ca");
    private static final Pattern PAUSE = Pattern.compile("goes on over .* after (\\d+) ms");

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.patientRdma(directory, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_ca, address: 10.0.13.3/24}]}
                """);
    }

    @AfterEach
    void mendTheLinks() throws Exception {
        for (String end : ENDS) {
            GuestLink.change(end, "up");
        }
    }

    @Test
    void everyMessageArrivesOnceHoweverOftenCablesAreCut() throws Exception {
        List<String> log = everyMessageArrivesOnce(CABLE_CUTS, this::cutAndMend);

        List<Integer> pauses = log.stream()
                .flatMap(line -> PAUSE.matcher(line).results())
                .map(match -> Integer.valueOf(match.group(1)))
                .sorted()
                .toList();
        System.out.printf("%d cuts; pauses in ms: %s%n", CABLE_CUTS, pauses);
        assertThat(pauses).isNotEmpty();
    }

    /** The kernel tells both ends at once. */
    private boolean cutAndMend() throws Exception {
        String end = ENDS.get(random.nextInt(ENDS.size()));
        GuestLink.change(end, "down");
        Thread.sleep(random.nextInt(1000)); // what is tried is a length of time
        GuestLink.change(end, "up");
        return true;
    }
}
