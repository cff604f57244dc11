package trigon.integration.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.transport.IntegrityContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/**
 * Random traffic over a link that loses, repeats, disorders, damages and delays packets, in both directions.
 *
 * <p>SoftRoCE counts each loss and each packet out of order as a retry, and starts to count anew only with an
 * acknowledgement, which it asks for about every 66 packets: a connection whose link is too bad is given up, as it
 * should be. Of runs of 3 s, 4 of 8 were with 3 of 100 packets lost, 2 of 8 with 1.8 of 100 and a delay, none of 31
 * with 0.6 and a delay, but then one in a run of all tests, and two of four with 0.5 on a faster machine; so fewer are
 * lost here.
 */
class IntegrityLabTest extends IntegrityContract {

    private static final List<String> ENDS = List.of("ab", "ba");
    private static final int SECONDS = 3;

    private boolean faulty;

    @AfterEach
    void mendTheLink() throws IOException, InterruptedException {
        if (faulty) {
            for (String end : ENDS) {
                GuestLink.change(end, "clear");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RDMA, none",
        "RDMA, loss 0.2%",
        "RDMA, duplicate 2%",
        "RDMA, delay 1ms reorder 99.9%",
        "RDMA, corrupt 0.2%",
        "RDMA, delay 3ms",
        "RDMA, delay 1ms loss 0.1% duplicate 1% corrupt 0.1% reorder 99.9%",
        "SOFTWARE, none",
        "SOFTWARE, loss 1%",
        "SOFTWARE, duplicate 2%",
        "SOFTWARE, delay 1ms reorder 75% 25%",
        "SOFTWARE, corrupt 1%",
        "SOFTWARE, delay 3ms 2ms",
        "SOFTWARE, delay 1ms loss 0.5% duplicate 1% corrupt 0.5% reorder 90%"
    })
    void everyByteArrivesOverABadLink(LinkKind kind, String fault, @TempDir Path directory)
            throws IOException, InterruptedException {
        TestCluster cluster = TestCluster.of(directory, kind, kind == LinkKind.RDMA ? """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """ : """
                a: {nics: [{address: 10.0.12.1/24}]}
                b: {nics: [{address: 10.0.12.2/24}]}
                """);
        if (!fault.equals("none")) {
            faulty = true;
            String[] netem = ("netem " + fault).split(" ");
            for (String end : ENDS) {
                GuestLink.change(end, netem);
            }
        }
        everyByteArrives(cluster, SECONDS);
    }
}
