package trigon.transport;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.testsupport.TestCluster;

class SoftwareChurnTest extends ChurnContract {

    private static final int CYCLES = Integer.getInteger("trigon.churn.cycles", 400);
    private static final int COMMUNICATORS = Integer.getInteger("trigon.churn.communicators", 100);

    @TempDir
    Path directory;

    private TestCluster cluster;

    @BeforeEach
    void makeCluster() {
        cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
    }

    @Test
    void connectionsLeaveNothing() throws InterruptedException {
        cyclesLeaveNothing(cluster, CYCLES);
    }

    @Test
    void communicatorsLeaveNothing() {
        communicatorsLeaveNothing(cluster, COMMUNICATORS);
    }
}
