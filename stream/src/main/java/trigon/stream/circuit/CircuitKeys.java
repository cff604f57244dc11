package trigon.stream.circuit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import trigon.system.NanoClock;

/**
 * The keys that admit to a relay: the cluster key; where there is none, the job's, and the identifiers of the
 * communicators that are open in this process, which is weak, since NCCL does not keep them secret. Both sides have one
 * of these. Thread-safe.
 */
public final class CircuitKeys {

    /** Length of an HMAC with SHA-256. */
    public static final int PROOF_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private static final String OF_JOB = "trigon circuit job";

    private final Optional<byte[]> clusterKey;
    private final JobKeys job;
    private final List<Long> communicators = new ArrayList<>(); // guarded by itself; the newest last

    /** The keys of a process with that cluster key, in a job that has nobody else yet. */
    public CircuitKeys(Optional<byte[]> clusterKey) {
        this(clusterKey, new JobKeys(NanoClock.SYSTEM));
    }

    /** The same in a job. */
    public CircuitKeys(Optional<byte[]> clusterKey, JobKeys job) {
        this.clusterKey = clusterKey.map(key -> mac(key, "trigon circuit cluster".getBytes(StandardCharsets.US_ASCII)));
        this.job = job;
    }

    /** The keys of this process's job, which count where there is no cluster key. */
    public JobKeys job() {
        return job;
    }

    /** A communicator is open; 0 is none, as API versions without identifiers have it. */
    public void opened(long communicator) {
        if (communicator != 0) {
            synchronized (communicators) {
                communicators.add(communicator);
            }
        }
    }

    /** It is open no more. */
    public void closed(long communicator) {
        synchronized (communicators) {
            communicators.remove(Long.valueOf(communicator));
        }
    }

    /** Returns whether there is anything to prove. */
    public boolean isEmpty() {
        return keys(1).isEmpty();
    }

    /** Returns whether it is the cluster key that admits. */
    public boolean hasClusterKey() {
        return clusterKey.isPresent();
    }

    /** Returns whether one of the proofs is by one of the keys. */
    public boolean admits(byte[] greeting, byte[] request, List<byte[]> proofs) {
        List<byte[]> all = new ArrayList<>(keys(Integer.MAX_VALUE));
        if (clusterKey.isEmpty()) {
            job.valid().forEach(key -> all.add(key.derive(OF_JOB)));
        }
        boolean admitted = false;
        for (byte[] key : all) {
            byte[] expected = proof(key, greeting, request);
            for (byte[] proof : proofs) {
                admitted |= MessageDigest.isEqual(expected, proof);
            }
        }
        return admitted;
    }

    /**
     * The keys: the job's, once somebody else has it, then communicators'. Where there are more than so many, half of
     * these are the oldest, which more nodes share, and half the newest.
     */
    List<byte[]> keys(int most) {
        if (clusterKey.isPresent()) {
            return List.of(clusterKey.get());
        }
        List<byte[]> keys = new ArrayList<>();
        if (job.isShared()) {
            keys.add(job.current().derive(OF_JOB));
        }
        synchronized (communicators) {
            List<Long> all = communicators.stream().distinct().toList();
            int room = most - keys.size();
            int left = Math.max(0, all.size() - room);
            int oldest = left == 0 ? all.size() : room / 2;
            Stream.concat(all.stream().limit(oldest), all.stream().skip(oldest + left))
                    .map(id -> ByteBuffer.allocate(Long.BYTES).putLong(id).array())
                    .forEach(keys::add);
        }
        return keys;
    }

    static byte[] proof(byte[] key, byte[] greeting, byte[] request) {
        return mac(key, greeting, request);
    }

    static byte[] mac(byte[] key, byte[]... texts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            for (byte[] text : texts) {
                mac.update(text);
            }
            return mac.doFinal();
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new AssertionError("every Java runtime has " + ALGORITHM, e);
        }
    }
}
