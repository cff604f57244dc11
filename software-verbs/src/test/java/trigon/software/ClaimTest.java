package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

@Timeout(20)
class ClaimTest {

    private final Claim claim = new Claim();

    @Test
    void isOnesAtATime() {
        assertThat(claim.take()).isTrue();
        assertThat(claim.take()).isFalse();
        claim.release();
        assertThat(claim.take()).isTrue();
    }

    @Test
    void isNobodysOnceRetired() {
        claim.retire();
        assertThat(claim.take()).isFalse();
        claim.retire();
    }

    /** Or it would touch memory that is gone. */
    @Test
    void isRetiredOnlyWhenNobodyHasIt() throws InterruptedException {
        assertThat(claim.take()).isTrue();
        Thread retires = Thread.ofPlatform().start(claim::retire);
        Await.until("it waits, again and again", () -> retires.getState() == Thread.State.RUNNABLE);
        assertThat(retires.join(Duration.ofMillis(50))).isFalse();
        claim.release();
        retires.join();
        assertThat(claim.take()).isFalse();
    }
}
