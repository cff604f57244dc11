package trigon.policy.commands.tune;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import trigon.policy.commands.tune.Sample.Asked;

class SelectionTest {

    private static final Choice USUAL = new Choice(1, 0, 1);
    private static final Choice OTHER = new Choice(1, 2, 2);
    private static final Choice THIRD = new Choice(0, 2, 4);
    private static final Asked WHAT = new Asked(4, 4, 4, 65_536);

    private static final int TIMES = 7;

    private final List<Sample> samples = new ArrayList<>();

    private void add(Asked what, Choice choice, int count, long nanos) {
        IntStream.range(0, count).forEach(_ -> samples.add(new Sample(what, choice, nanos, TIMES)));
    }

    private List<Row> explored() {
        Collections.shuffle(samples, new Random(1));
        return Selection.explored(samples, TableObject.MAX_ROWS);
    }

    @Test
    void nothingComesOfNothing() {
        assertThat(explored()).isEmpty();
        assertThat(Selection.confirmed(List.of(), samples)).isEmpty();
    }

    @Test
    void theFastestChoiceIsARow() {
        add(WHAT, USUAL, 100, 1000);
        add(WHAT, OTHER, 20, 900);
        add(WHAT, THIRD, 20, 800);

        assertThat(explored()).containsExactly(new Row(WHAT, THIRD, USUAL, 1000, 800, 20 * TIMES));
        assertThat(explored().getFirst().gain()).isEqualTo(20);
    }

    @Test
    void theMedianCounts() {
        add(WHAT, USUAL, 100, 1000);
        add(WHAT, OTHER, 11, 900);
        add(WHAT, OTHER, 9, 1_000_000);
        add(WHAT, THIRD, 11, 1_000_000);
        add(WHAT, THIRD, 9, 1);

        assertThat(explored()).extracting(Row::choice).containsExactly(OTHER);
    }

    @Test
    void lessThanFivePercentIsNoRow() {
        add(WHAT, USUAL, 100, 1000);
        add(WHAT, OTHER, 20, 951);

        assertThat(explored()).isEmpty();

        add(WHAT, THIRD, 20, 950);

        assertThat(explored()).extracting(Row::choice).containsExactly(THIRD);
    }

    @Test
    void fewSamplesDoNotCount() {
        add(WHAT, USUAL, 100, 1000);
        add(WHAT, OTHER, 2, 1);

        assertThat(explored()).isEmpty();

        add(WHAT, OTHER, 1, 1);

        assertThat(explored()).hasSize(1);
    }

    @Test
    void fewTimesDoNotCount() {
        add(WHAT, USUAL, 100, 1000);
        samples.addAll(Collections.nCopies(19, new Sample(WHAT, OTHER, 1, 1)));

        assertThat(explored()).isEmpty();
    }

    @Test
    void withoutEnoughOfTheUsualChoiceNothingIsCompared() {
        samples.addAll(Collections.nCopies(2, new Sample(WHAT, USUAL, 1000, 100)));
        add(WHAT, OTHER, 3, 1);

        assertThat(explored()).isEmpty();
    }

    @Test
    void ofEqualChoicesTheOneWithFewerChannelsIsTaken() {
        add(WHAT, USUAL, 100, 1000);
        add(WHAT, THIRD, 20, 800);
        add(WHAT, OTHER, 20, 800);

        assertThat(explored()).extracting(Row::choice).containsExactly(OTHER);
    }

    @Test
    void eachThingIsDecidedByItself() {
        Asked larger = new Asked(4, 4, 4, 200_000);
        Asked ofTwo = new Asked(4, 2, 2, 65_536);
        for (Asked what : List.of(larger, ofTwo, WHAT)) {
            add(what, USUAL, 100, 1000);
        }
        add(larger, OTHER, 20, 500);
        add(ofTwo, THIRD, 20, 500);

        assertThat(explored()).extracting(Row::what).containsExactly(ofTwo, larger);
        assertThat(larger.minBytes()).isEqualTo(131_072);
        assertThat(larger.maxBytes()).isEqualTo(262_143);
    }

    /** Another size may have another usual choice, with which less is quicker. */
    @Test
    void onlyTheMostFrequentSizeOfAPowerOfTwoCounts() {
        Asked smaller = new Asked(4, 4, 4, 70_000);
        Asked frequent = new Asked(4, 4, 4, 120_000);
        add(smaller, OTHER, 50, 500);
        add(smaller, USUAL, 20, 1000);
        add(frequent, USUAL, 100, 1000);
        add(frequent, OTHER, 20, 990);

        assertThat(explored()).isEmpty();

        add(frequent, THIRD, 20, 700);

        assertThat(explored()).containsExactly(new Row(frequent, THIRD, USUAL, 1000, 700, 20 * TIMES));
    }

    @Test
    void theLargestGainsFitIntoTheTable() {
        for (int exponent = 10; exponent < 20; exponent++) {
            add(new Asked(4, 4, 4, 1L << exponent), USUAL, 50, 1000);
            add(new Asked(4, 4, 4, 1L << exponent), OTHER, 20, 900 - exponent);
        }

        assertThat(Selection.explored(samples, 3))
                .extracting(row -> row.what().bytes())
                .containsExactly(1L << 17, 1L << 18, 1L << 19);
    }

    @Test
    void whatGainsAgainIsConfirmed() {
        Row row = new Row(WHAT, OTHER, USUAL, 1000, 800, 20);
        add(WHAT, USUAL, 30, 1000);
        add(WHAT, OTHER, 20, 970);

        assertThat(Selection.confirmed(List.of(row), samples))
                .containsExactly(new Row(WHAT, OTHER, USUAL, 1000, 970, 20 * TIMES));
    }

    @Test
    void whatGainsLessThanThreePercentIsDropped() {
        Row row = new Row(WHAT, OTHER, USUAL, 1000, 800, 20);
        add(WHAT, USUAL, 30, 1000);
        add(WHAT, OTHER, 20, 971);

        assertThat(Selection.confirmed(List.of(row), samples)).isEmpty();
    }

    @Test
    void whatIsNotTriedAgainIsDropped() {
        Row row = new Row(WHAT, OTHER, USUAL, 1000, 800, 20);
        add(WHAT, OTHER, 20, 1);
        add(WHAT, USUAL, 9, 1000);

        assertThat(Selection.confirmed(List.of(row), samples)).isEmpty();
        assertThat(Selection.confirmed(List.of(row), List.of())).isEmpty();
    }
}
