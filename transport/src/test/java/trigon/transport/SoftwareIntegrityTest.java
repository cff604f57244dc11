package trigon.transport;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

class SoftwareIntegrityTest extends IntegrityContract {

    @Test
    void everyByteOfRandomTrafficArrives(@TempDir Path directory) throws InterruptedException {
        everyByteArrives(TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """), 5);
    }

    @Test
    void everyByteArrivesInPartsOverTwoLinks(@TempDir Path directory) throws InterruptedException {
        everyByteArrives(TestCluster.striped(directory, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """), 3);
    }
}
