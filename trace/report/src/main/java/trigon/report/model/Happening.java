package trigon.report.model;

import trigon.report.read.Event;

/**
 * Something that happened beside the data path.
 *
 * @param rank where
 * @param time on the run's clock
 * @param event what
 */
public record Happening(Rank rank, long time, Event event) {}
