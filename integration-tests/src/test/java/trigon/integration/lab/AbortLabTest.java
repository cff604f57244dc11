package trigon.integration.lab;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.AbortContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Aborts over SoftRoCE; fewer than on software links, as the machine is emulated. */
class AbortLabTest extends AbortContract {

    private static final int ABORTS = Integer.getInteger("trigon.aborts", 60);

    @Test
    void abortsAtRandomPointsLeaveNothing(@TempDir Path directory) throws InterruptedException {
        abortsLeaveNothing(TestCluster.patient(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """), ABORTS);
    }
}
