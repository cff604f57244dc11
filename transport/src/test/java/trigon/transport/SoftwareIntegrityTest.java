package trigon.transport;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SoftwareIntegrityTest extends IntegrityContract {

    @Test
    void everyByteOfRandomTrafficArrives(@TempDir Path directory) throws InterruptedException {
        everyByteArrives(TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """), 5);
    }
}
