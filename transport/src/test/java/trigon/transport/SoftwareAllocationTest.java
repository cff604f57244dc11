package trigon.transport;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

/** Over a software link: a message is a SEND. */
class SoftwareAllocationTest extends AllocationContract {

    /**
     * Of a header and a payload to the socket, and of a payload with the next header from it: for each of the two calls
     * sun.nio.ch.IOUtil makes a LinkedRunnable and a Releaser.
     */
    static final int MESSAGE_BYTES = 2 * 40;

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.software(folder, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
    }

    @Override
    protected int bytesOfALongMessage() {
        return MESSAGE_BYTES;
    }
}
