package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.verbs.ResourceLedger;
import trigon.verbs.ResourceLedger.Kind;
import trigon.verbs.VerbsException;

class NativeHandleTest {

    private static final long ADDRESS = 0x1234;

    private final ResourceLedger ofProvider = new ResourceLedger();
    private final ResourceLedger ofOwner = new ResourceLedger();
    private boolean deviceIsGone;
    private final NativeHandle handle = new NativeHandle(
            Kind.QUEUE_PAIR, "queue pair 7 of rxe_ab", ADDRESS, ofProvider, ofOwner, () -> deviceIsGone);

    private int destroyed;

    private int destroy(long address) {
        assertThat(address).isEqualTo(ADDRESS);
        destroyed++;
        return 0;
    }

    @Test
    void isCountedUntilClosed() {
        assertThat(ofProvider.count(Kind.QUEUE_PAIR)).isEqualTo(1);
        assertThat(ofOwner.count(Kind.QUEUE_PAIR)).isEqualTo(1);
        assertThat(handle.address()).isEqualTo(ADDRESS);

        assertThat(handle.close("ibv_destroy_qp", this::destroy)).isTrue();

        assertThat(ofProvider.outstanding()).isEmpty();
        assertThat(ofOwner.outstanding()).isEmpty();
    }

    @Test
    void isDestroyedOnce() {
        handle.close("ibv_destroy_qp", this::destroy);

        assertThat(handle.close("ibv_destroy_qp", this::destroy)).isFalse();
        assertThat(destroyed).isEqualTo(1);
    }

    @Test
    void refusesItsAddressWhenClosed() {
        handle.close("ibv_destroy_qp", this::destroy);

        assertThatIllegalStateException().isThrownBy(handle::address).withMessage("queue pair 7 of rxe_ab is closed");
    }

    @Test
    void staysOpenWhereDestroyingFailed() {
        assertThat(handle.close("ibv_destroy_qp", address -> Errno.EBUSY)).isFalse();
        assertThat(ofProvider.count(Kind.QUEUE_PAIR)).isEqualTo(1);

        assertThat(handle.close("ibv_destroy_qp", this::destroy)).isTrue();
        assertThat(ofProvider.outstanding()).isEmpty();
    }

    @Test
    void isDestroyedWithItsDevice() {
        deviceIsGone = true;

        assertThat(handle.close("ibv_destroy_qp", address -> Errno.EBUSY)).isFalse();
        assertThat(handle.close("ibv_destroy_qp", address -> Errno.EIO)).isTrue();

        assertThat(ofProvider.outstanding()).isEmpty();
        assertThat(ofOwner.outstanding()).isEmpty();
    }

    @Test
    void aRefusalIsThrownToWhoHasToKnow() {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> handle.destroy("ibv_destroy_qp", address -> Errno.EIO))
                .withMessage("ibv_destroy_qp failed on queue pair 7 of rxe_ab: EIO");
        assertThat(handle.address()).isEqualTo(ADDRESS);

        assertThat(handle.destroy("ibv_destroy_qp", this::destroy)).isTrue();
        assertThat(handle.destroy("ibv_destroy_qp", this::destroy)).isFalse();
        assertThat(destroyed).isEqualTo(1);
    }
}
