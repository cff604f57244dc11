package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AnsweredOffersTest {

    private final AnsweredOffers<String> answered = new AnsweredOffers<>();

    @Test
    void areThereWhenAllAreUp() {
        answered.put(1, "second");
        answered.put(0, "first");

        assertThat(answered.ready("second", 2)).isEmpty();
        assertThat(answered.ready("first", 2)).containsExactly("first", "second");
        assertThat(answered.has("first")).isFalse();
    }

    @Test
    void oneThatIsOfferedAgainLeavesTheOthers() {
        answered.put(0, "first");
        answered.put(1, "second");
        assertThat(answered.ready("second", 2)).isEmpty();

        answered.withdraw("first");
        answered.put(0, "again");

        assertThat(answered.has("second")).isTrue();
        assertThat(answered.ready("again", 2)).containsExactly("again", "second");
    }

    @Test
    void oneThatTakesAnothersPlaceHasToComeUpItself() {
        answered.put(0, "first");
        answered.put(1, "second");
        assertThat(answered.ready("first", 2)).isEmpty();

        assertThat(answered.put(0, "again")).isEqualTo("first");

        assertThat(answered.ready("second", 2)).isEmpty();
        assertThat(answered.ready("again", 2)).containsExactly("again", "second");
    }
}
