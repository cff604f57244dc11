package trigon.integration.onesided;

import java.nio.file.Path;
import java.util.List;
import trigon.transport.testsupport.TestNode;

/**
 * RDMA devices that differ from peer to peer, and two of them between a and b. Each has keys of its own for a window,
 * and refuses those of others.
 */
class OneSidedKeysTest extends OneSidedContract {

    @Override
    protected List<TestNode> nodes(Path directory) {
        return List.of(
                TestNode.onRdmaLinks("a", "127.1.12.1/24", "127.1.14.1/24", "127.1.13.1/24"),
                TestNode.onRdmaLinks("b", "127.1.12.2/24", "127.1.14.2/24", "127.1.23.2/24"),
                TestNode.onRdmaLinks("c", "127.1.13.3/24", "127.1.23.3/24"));
    }
}
