package trigon.transport.failure;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.LinkKind;

/** A process that receives all that comes until it is killed. For {@link PausedPeerTest}. */
final class PausedReceiver {

    static final int TAG = 7;
    static final int BYTES = 512;

    /** Where it puts its listen handle, in the directory. */
    static final String HANDLE = "handle";

    private PausedReceiver() {}

    /**
     * Receives.
     *
     * @param arguments the directory with the cluster's file
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        TestNode b = new TestCluster(directory.resolve("trigon.yaml"), LinkKind.SOFTWARE).open("b");
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        long listenComm = b.plugin.listen(b.context, 0, handle);
        Path written = Files.write(
                directory.resolve("writing"),
                Memory.segment(handle, NetPlugin.HANDLE_BYTES).toArray(ValueLayout.JAVA_BYTE));
        Files.move(written, directory.resolve(HANDLE), StandardCopyOption.ATOMIC_MOVE);
        long comm = 0;
        while (comm == 0) {
            comm = b.plugin.accept(listenComm);
        }
        long memory = b.allocate(BYTES);
        long memoryHandle = b.register(comm, memory, BYTES);
        while (true) {
            long request = b.plugin.irecv(comm, memory, BYTES, TAG, memoryHandle);
            while (request > 0 && b.plugin.test(request) == NetPlugin.NOT_DONE) {
                Thread.onSpinWait();
            }
        }
    }
}
