package trigon.report.view;

import java.math.BigDecimal;
import java.util.Map;
import java.util.stream.Collectors;

/** Prometheus' text format 0.0.4: families of samples, each with its help and type. */
public final class PrometheusWriter {

    private static final int NANOS_OF_A_SECOND = 9;

    private final StringBuilder page = new StringBuilder();

    /**
     * Begins a family with its help and type.
     *
     * @param type counter, gauge or histogram
     */
    public void family(String name, String type, String help) {
        page.append("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type));
    }

    /** A sample of the family, with its labels in their order. */
    public void sample(String name, Map<String, String> labels, Object value) {
        page.append(name)
                .append(labels.entrySet().stream()
                        .map(label -> label.getKey() + "=\"" + escaped(label.getValue()) + "\"")
                        .collect(Collectors.joining(",", "{", "} ")))
                .append(value)
                .append('\n');
    }

    /** As Prometheus has times. */
    public static String seconds(long nanos) {
        return BigDecimal.valueOf(nanos, NANOS_OF_A_SECOND).toPlainString();
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    @Override
    public String toString() {
        return page.toString();
    }
}
