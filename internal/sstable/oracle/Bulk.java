import java.io.File;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Date;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.sstable.CQLSSTableWriter;
import org.apache.cassandra.utils.StorageCompatibilityMode;

/** Writes one SSTable of image metadata: java Bulk.java ROWS DIR big|bti */
public class Bulk
{
    private static final String TABLE =
        "CREATE TABLE ks.image_metadata (image_id timeuuid PRIMARY KEY, object_store text, object_key text, content_hash text,"
        + " width int, height int, capture_time timestamp, upload_time timestamp, attributes map<text, text>)";
    private static final String INSERT =
        "INSERT INTO ks.image_metadata (image_id, object_store, object_key, content_hash, width, height, capture_time, upload_time,"
        + " attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final int[][] SIZES = { { 1920, 1080 }, { 3840, 2160 }, { 1280, 720 }, { 4032, 3024 }, { 640, 480 } };
    private static final long START = 1746057600000L; // 2025-05-01
    private static final int DAYS = 60;
    private static final int DAY = 86400000;

    public static void main(String[] args) throws Exception
    {
        int rows = Integer.parseInt(args[0]);
        new File(args[1]).mkdirs();
        DatabaseDescriptor.clientInitialization(false, () -> {
            Config config = new Config();
            config.storage_compatibility_mode = StorageCompatibilityMode.NONE;
            config.sstable.selected_format = args[2];
            return config;
        });
        Random random = new Random(42);
        long[] time = new long[rows], msb = new long[rows], lsb = new long[rows];
        for (int i = 0; i < rows; i++)
        {
            time[i] = START + (long) random.nextInt(DAYS) * DAY + random.nextInt(DAY);
            msb[i] = timeUUID(time[i], i);
            lsb[i] = 0x8000000000000000L | (random.nextLong() >>> 2);
        }
        try (CQLSSTableWriter writer = CQLSSTableWriter.builder().inDirectory(args[1]).forTable(TABLE).using(INSERT).sorted().build())
        {
            for (int i : inTokenOrder(msb, lsb))
                writer.addRow(row(random, new UUID(msb[i], lsb[i]), time[i]));
        }
        System.exit(0);
    }

    private static int[] inTokenOrder(long[] msb, long[] lsb)
    {
        ByteBuffer key = ByteBuffer.allocate(16);
        long[] tokens = new long[msb.length];
        Integer[] order = new Integer[msb.length];
        for (int i = 0; i < msb.length; i++)
        {
            key.clear().putLong(msb[i]).putLong(lsb[i]).flip();
            tokens[i] = (Long) Murmur3Partitioner.instance.getToken(key).getTokenValue();
            order[i] = i;
        }
        Arrays.sort(order, (a, b) -> Long.compare(tokens[a], tokens[b]));
        return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    private static Object[] row(Random random, UUID id, long time)
    {
        int device = Math.min(random.nextInt(1000), random.nextInt(1000));
        byte[] hash = new byte[32];
        random.nextBytes(hash);
        int[] size = SIZES[Math.min(4, (int) Math.abs(random.nextGaussian() * 1.5))];
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("device_id", String.format("cam-%04d", device));
        attributes.put("region", "region-" + device % 12);
        attributes.put("fmt", "jpeg");
        if (random.nextInt(4) == 0)
            attributes.put("weather", "rain");
        String key = String.format("raw/cam-%04d/2025/%02d/%s.jpg", device, (time - START) / DAY, id);
        return new Object[] { id, "s3://img-prod", key, "sha256:" + HexFormat.of().formatHex(hash), size[0], size[1],
                              new Date(time), new Date(time + random.nextInt(60000)), attributes };
    }

    /** The first half of a version 1 UUID of a time in milliseconds. */
    private static long timeUUID(long millis, int sequence)
    {
        long t = (millis + 12219292800000L) * 10000 + sequence % 10000;
        return t << 32 | (t & 0x0000FFFF00000000L) >>> 16 | t >>> 48 & 0x0FFF | 0x1000;
    }
}
