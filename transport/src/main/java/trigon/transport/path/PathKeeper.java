package trigon.transport.path;

/** Looks after a path whose connection may go on over another one. Any thread; it returns at once. */
@FunctionalInterface
public interface PathKeeper {

    /** The keeper of paths whose connections end with them. */
    PathKeeper NONE = _ -> false;

    /** Tells whether it takes care of what would lose the path, which is not lost then. Called without a lock. */
    boolean takeOver(PathLoss loss);

    /** Nothing is heard from the peer, or the link has gone down; again and again. */
    default void suspect() {} // its lifeline will tell
}
