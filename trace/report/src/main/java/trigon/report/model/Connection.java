package trigon.report.model;

import java.util.SequencedCollection;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.trace.Fields;

/** Messages from a sender's comm to a receiver's, with each end's description of itself. */
public final class Connection {

    private final String key;

    @Nullable
    Rank sender;

    @Nullable
    Rank receiver;

    /** The streams of its two ends, each in its process. */
    int senderStream;

    int receiverStream;
    Fields senderFields = Fields.NONE;
    Fields receiverFields = Fields.NONE;
    private final TreeMap<Long, Message> messages = new TreeMap<>();

    Connection(String key) {
        this.key = key;
    }

    /** The same at both ends. */
    public String key() {
        return key;
    }

    /** The sending rank; null if its trace is missing. */
    public @Nullable Rank sender() {
        return sender;
    }

    /** The receiving rank; null if its trace is missing. */
    public @Nullable Rank receiver() {
        return receiver;
    }

    /** The communicator, by NCCL's number of it. */
    public String communicator() {
        return any("communicator");
    }

    /** The protocol of the messages. */
    public String protocol() {
        return any("protocol");
    }

    /** Tells whether another node is between the two. */
    public boolean isRelayed() {
        return !any("relay").isEmpty();
    }

    /** The links at the sender, or else at the receiver. */
    public String links() {
        return any("links");
    }

    /** The sender's description of its end; nothing if its trace is missing. */
    public Fields senderFields() {
        return senderFields;
    }

    /** The receiver's description of its end; nothing if its trace is missing. */
    public Fields receiverFields() {
        return receiverFields;
    }

    private String any(String name) {
        return senderFields.get(name).isEmpty() ? receiverFields.get(name) : senderFields.get(name);
    }

    /** From whom to whom, for example {@code 0→1}. */
    public String direction() {
        return name(sender) + "→" + name(receiver);
    }

    private static String name(@Nullable Rank rank) {
        return rank == null ? "?" : Integer.toString(rank.number());
    }

    /** In words: from whom to whom, and over what. */
    public String describe() {
        return direction() + " over " + links();
    }

    /** Messages that records tell of, in the order of their numbers, which may have gaps. */
    public SequencedCollection<Message> messages() {
        return messages.sequencedValues();
    }

    /** The message of a number; null where no record tells of it. */
    public @Nullable Message message(long number) {
        return messages.get(number);
    }

    /** The message of a record's number, from 0 on: a new one for the first record that has it. */
    Message messageOf(long number) {
        return messages.computeIfAbsent(number, each -> new Message(this, each));
    }
}
