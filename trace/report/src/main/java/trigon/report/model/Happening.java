package trigon.report.model;

import trigon.report.read.Event;

/**
 * An event off the data path.
 *
 * @param rank the process where it happened
 * @param time on the run's clock
 * @param event what happened
 */
public record Happening(Rank rank, long time, Event event) {}
