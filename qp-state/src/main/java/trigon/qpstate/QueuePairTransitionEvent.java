package trigon.qpstate;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The flight recorder's record of one transition; its duration is that of the verb. */
@Name(QueuePairTransitionEvent.NAME)
@Label("Queue Pair Transition")
@Description("A queue pair changed its state, or failed to")
@Category("Trigon")
@StackTrace(false)
final class QueuePairTransitionEvent extends Event {

    static final String NAME = "trigon.QueuePairTransition";

    @Label("Device")
    String device = "";

    @Label("Queue Pair Number")
    int number;

    @Label("From")
    String from = "";

    @Label("To")
    String to = "";

    @Label("Peer")
    @Description("The peer's queue pair; empty where none is known yet")
    String peer = "";
}
