package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LayoutCheckTest {

    @Test
    void constantsOfTheDataPathAreThoseOfTheHeader() {
        assertThat(LayoutCheck.structMismatches()).isEmpty();
    }

    @Test
    void namesBothNumbersOfAMismatch() {
        LayoutCheck check = new LayoutCheck();

        check.compare("ibv_wc.wr_id", 8, 0);
        check.compare("ibv_wc.status", 8, 8);

        assertThat(check.found()).containsExactly("ibv_wc.wr_id is 0 in the header and 8 here");
    }
}
