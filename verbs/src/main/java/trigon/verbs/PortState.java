package trigon.verbs;

/** Logical state of a port ({@code enum ibv_port_state}), reduced to what matters for choosing one. */
public enum PortState {
    DOWN,
    INITIALIZING,
    ARMED,
    ACTIVE
}
