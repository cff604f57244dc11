package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnwindingTest {

    private final List<String> undone = new ArrayList<>();

    @Test
    void undoesTheLastStepFirst() {
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(() -> undone.add("first"));
            unwinding.onFailure(() -> undone.add("second"));
        }

        assertThat(undone).containsExactly("second", "first");
    }

    @Test
    void undoesNothingAfterSuccess() {
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(() -> undone.add("first"));
            unwinding.succeeded();
        }

        assertThat(undone).isEmpty();
    }

    @Test
    void aStepThatFailsDoesNotKeepTheOthersFromBeingUndone() {
        IllegalStateException failure = new IllegalStateException("second");

        assertThatThrownBy(() -> {
                    try (Unwinding unwinding = new Unwinding()) {
                        unwinding.onFailure(() -> undone.add("first"));
                        unwinding.onFailure(() -> {
                            throw failure;
                        });
                        unwinding.onFailure(() -> undone.add("third"));
                    }
                })
                .isSameAs(failure);
        assertThat(undone).containsExactly("third", "first");
    }
}
