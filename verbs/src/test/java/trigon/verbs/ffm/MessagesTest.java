package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;

/** What the user is told: advice on failed verbs, the limit it names, and speeds. */
class MessagesTest {

    @Test
    void readsTheLimitOnLockedMemory() {
        List<String> limits = List.of(
                "Limit                     Soft Limit           Hard Limit           Units     ",
                "Max open files            1024                 1048576              files     ",
                "Max locked memory         8388608              unlimited            bytes     ");

        assertThat(MemoryLockLimit.parse(limits)).isEqualTo("8388608 bytes");
        assertThat(MemoryLockLimit.parse(List.of("Max locked memory         unlimited            unlimited  bytes")))
                .isEqualTo("unlimited");
        assertThat(MemoryLockLimit.parse(List.of())).isEqualTo("unknown");
        assertThat(MemoryLockLimit.ofThisProcess()).matches("unlimited|\\d+ bytes");
    }

    @Test
    void namesTheLimitOnLockedMemoryUnlessThereIsNone() {
        assertThat(Advice.onRegistering(Errno.ENOMEM, "8388608 bytes")).contains("ulimit -l", "8388608 bytes");
        assertThat(Advice.onRegistering(Errno.ENOMEM, MemoryLockLimit.UNLIMITED))
                .doesNotContain("ulimit -l")
                .contains("not mapped");
    }

    @Test
    void pointsAtPermissionsCableAndRoute() {
        QueuePairAttributes toReceive =
                QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE).build();

        assertThat(Advice.onOpening(Errno.EACCES)).contains("/dev/infiniband");
        assertThat(Advice.onModifying(Errno.ETIMEDOUT, toReceive)).contains("cable");
        assertThat(Advice.onModifying(Errno.ENODATA, toReceive)).contains("still has its address");
        assertThat(Advice.onModifying(Errno.ENETUNREACH, toReceive)).contains("route");
        assertThat(Advice.onDestroying(Errno.EBUSY)).contains("close what was created");
        assertThat(Advice.onDestroying(Errno.EIO)).isEmpty();
    }
}
