package trigon.report.read;

import trigon.trace.Fields;

/**
 * Something that happened beside the data path.
 *
 * @param what a word
 * @param time nanoseconds of the machine's clock
 * @param fields what is known of it
 */
public record Event(String what, long time, Fields fields) {}
