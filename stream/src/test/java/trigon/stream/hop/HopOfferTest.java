package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import trigon.verbs.Gid;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

class HopOfferTest {

    private static final HopOffer OFFER = new HopOffer.Chunks(
            new QueuePairEndpoint(0x123456, 0xabcdef, new Gid(1, 2), 7, Mtu.MTU_4096), SlotGeometry.FORWARD);

    @Test
    void comesBackAsItWasSaid() {
        assertThat(HopOffer.decode(OFFER.encode())).contains(OFFER);
        assertThat(HopOffer.decode(new HopOffer.Stay().encode())).contains(new HopOffer.Stay());
        assertThat(OFFER.encode()).hasSize(HopOffer.BYTES);
    }

    @Test
    void takesNothingThatIsOutOfBounds() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 100_000; round++) {
            byte[] bytes = OFFER.encode();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            if (HopOffer.decode(bytes).orElse(OFFER) instanceof HopOffer.Chunks(var endpoint, var slots)) {
                assertThat(slots.slots()).isBetween(1, SlotGeometry.MAX_SLOTS);
                assertThat(slots.slotBytes()).isBetween(SlotGeometry.MIN_BYTES, SlotGeometry.MAX_BYTES);
                assertThat(endpoint.number()).isLessThan(1 << 24);
            }
        }
    }

    @Test
    void isOfThisVersion() {
        byte[] later = OFFER.encode();
        later[4] = 2;
        assertThat(HopOffer.decode(later)).isEmpty();
        byte[] other = OFFER.encode();
        other[0] = 0;
        assertThat(HopOffer.decode(other)).isEmpty();
    }
}
