package trigon.integration.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.IntegrityContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Random traffic in parts over two links, of which one is worse than the other. */
class StripedIntegrityLabTest extends IntegrityContract {

    private static final List<String> ENDS = List.of("ab", "ba");
    private static final int SECONDS = 3;

    @AfterEach
    void mendTheLink() throws IOException, InterruptedException {
        for (String end : ENDS) {
            GuestLink.change(end, "clear");
        }
    }

    @Test
    void everyByteArrivesInPartsOverTwoLinks(@TempDir Path directory) throws IOException, InterruptedException {
        TestCluster cluster = TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_ca, address: 10.0.13.3/24}]}
                """);
        for (String end : ENDS) {
            GuestLink.change(end, "netem", "delay", "1ms", "loss", "0.3%");
        }
        everyByteArrives(cluster, SECONDS);
    }
}
