package trigon.handshake;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import trigon.handshake.message.HandshakeException;

/** What the tests ask of futures. */
public final class HandshakeAssert {

    private HandshakeAssert() {}

    /** The failure that the future has, or gets in time. */
    public static HandshakeException failureOf(CompletableFuture<?> future)
            throws InterruptedException, TimeoutException {
        try {
            throw new AssertionError("no failure, but " + future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HandshakeException failure) {
                return failure;
            }
            throw new AssertionError("another failure", e);
        }
    }
}
