package trigon.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Rows of a parameterized test that starts processes: {@link Samples}. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(SampledRows.class)
public @interface Sampled {

    /** The rows, each with its arguments between commas. */
    String[] value();
}
