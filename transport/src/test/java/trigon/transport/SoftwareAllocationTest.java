package trigon.transport;

import java.nio.file.Path;

/** Over a software link: a message is a SEND. */
class SoftwareAllocationTest extends AllocationContract {

    /** SocketChannel.write of a header and a payload: sun.nio.ch.IOUtil.LinkedRunnable and a Runnable. */
    static final int GATHERING_WRITE_BYTES = 40;

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.software(folder, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
    }

    @Override
    protected int bytesOfALongMessage() {
        return GATHERING_WRITE_BYTES;
    }
}
