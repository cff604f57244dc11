package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.transport.metrics.Metrics;
import trigon.transport.testsupport.ReadingVerbs;
import trigon.verbs.AccessFlag;
import trigon.verbs.DmaBuf;
import trigon.verbs.LinkKind;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;

class RegisteredMemoryTest {

    private static final int STANDARD_ERROR = 2;
    private static final long ADDRESS = 0x7000;

    private final ReadingVerbs verbs = new ReadingVerbs();
    private final Metrics metrics = Metrics.unshared();
    private final Links links = Links.open(
            List.of(ReadingVerbs.link("one", LinkKind.RDMA, 1), ReadingVerbs.link("two", LinkKind.RDMA, 2)),
            Map.of(LinkKind.RDMA, verbs),
            4096,
            metrics);
    private final int idle = regions();
    private final Link one = links.all().get(0);
    private final Link two = links.all().get(1);

    @AfterEach
    void close() {
        links.close();
        metrics.close();
    }

    private int regions() {
        return verbs.ledger().count(ResourceLedger.Kind.MEMORY_REGION);
    }

    private static RegisteredMemory ofGpu(Link link, DmaBuf dmaBuf) {
        return RegisteredMemory.ofGpu(new Link[] {link}, ADDRESS, 64, dmaBuf, EnumSet.of(AccessFlag.LOCAL_WRITE));
    }

    /** NCCL has closed its descriptor long before: what devices that come later register is a duplicate. */
    @Test
    void aDescriptorIsKeptForOtherDevicesUntilTheEnd() {
        DmaBuf dmaBuf = DmaBuf.of(STANDARD_ERROR, 0);
        RegisteredMemory memory = ofGpu(one, dmaBuf);
        memory.moveTo(List.of(two));

        assertThat(verbs.registered).containsExactly(dmaBuf.descriptor(), dmaBuf.descriptor());
        assertThat(memory.region(one.protectionDomain())).isNotNull();
        assertThat(memory.region(two.protectionDomain())).isNotNull();

        memory.close();

        assertThat(dmaBuf.descriptor()).isEqualTo(-1);
        assertThat(regions()).isEqualTo(idle);
    }

    /** The session looks for another path then. */
    @Test
    void aDeviceThatDoesNotReachItRefuses() {
        RegisteredMemory memory = ofGpu(one, DmaBuf.of(STANDARD_ERROR, 0));
        verbs.refusing = "two";

        assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> memory.moveTo(List.of(two)));
        assertThat(memory.region(0)).isSameAs(memory.region(one.protectionDomain()));
        memory.close();
    }
}
