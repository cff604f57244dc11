package trigon.transport;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

class SoftwareAbortTest extends AbortContract {

    private static final int ABORTS = Integer.getInteger("trigon.aborts", 60);

    @Test
    void abortsAtRandomPointsLeaveNothing(@TempDir Path directory) throws InterruptedException {
        abortsLeaveNothing(TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """), ABORTS);
    }

    @Test
    void abortsOfSeveralQueuePairsLeaveNothing(@TempDir Path directory) throws InterruptedException {
        abortsLeaveNothing(TestCluster.striped(directory, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """), Math.ceilDiv(ABORTS, 5));
    }
}
