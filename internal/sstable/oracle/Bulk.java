import java.io.File;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Date;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;

import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CompositeType;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.sstable.CQLSSTableWriter;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.StorageCompatibilityMode;

/**
 * Writes one SSTable of image metadata, or of the tag index of the same images: java Bulk.java images|tags IMAGES ROWS DIR big|bti
 * Metadata has a row of each image. The index has ROWS rows: each image has as many tags as the next, give or take one.
 */
public class Bulk
{
    private static final String IMAGES =
        "CREATE TABLE ks.image_metadata (image_id timeuuid PRIMARY KEY, object_store text, object_key text, content_hash text,"
        + " width int, height int, capture_time timestamp, upload_time timestamp, attributes map<text, text>)";
    private static final String INSERT_IMAGE =
        "INSERT INTO ks.image_metadata (image_id, object_store, object_key, content_hash, width, height, capture_time, upload_time,"
        + " attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final String INDEX =
        "CREATE TABLE ks.tag_image_index (tag text, day_bucket date, capture_time timestamp, image_id timeuuid, object_store text,"
        + " object_key text, device_id text, PRIMARY KEY ((tag, day_bucket), capture_time, image_id))"
        + " WITH CLUSTERING ORDER BY (capture_time DESC, image_id DESC)";
    private static final String INSERT_TAG =
        "INSERT INTO ks.tag_image_index (tag, day_bucket, capture_time, image_id, object_store, object_key, device_id)"
        + " VALUES (?, ?, ?, ?, ?, ?, ?)";
    private static final int[][] SIZES = { { 1920, 1080 }, { 3840, 2160 }, { 1280, 720 }, { 4032, 3024 }, { 640, 480 } };
    /** The earlier ones are used more. Their number has no factor in common with STEP, so that an image's tags are different. */
    private static final String[] TAGS = { "healthy", "blurry", "night", "rust", "leaf_spot", "mildew", "aphid", "blight", "叶片病斑",
                                           "wilt", "flower" };
    private static final int STEP = 3;
    private static final String STORE = "s3://img-prod";
    private static final long FIRST_DAY = LocalDate.of(2025, 5, 1).toEpochDay();
    private static final int DAYS = 60;
    private static final int DAY = 86400000;

    private final Random random = new Random(42);
    private final long[] time, msb, lsb;
    private final short[] device;

    public static void main(String[] args) throws Exception
    {
        int rows = Integer.parseInt(args[2]);
        DatabaseDescriptor.clientInitialization(false, () -> {
            Config config = new Config();
            config.storage_compatibility_mode = StorageCompatibilityMode.NONE;
            config.sstable.selected_format = args[4];
            return config;
        });
        Bulk bulk = new Bulk(Integer.parseInt(args[1]));
        if (args[0].equals("images"))
            write(args[3], IMAGES, INSERT_IMAGE, bulk.imagesInTokenOrder(), bulk::image);
        else
            write(args[3], INDEX, INSERT_TAG, bulk.tagsInTokenOrder(rows), bulk::tag);
        System.exit(0);
    }

    private Bulk(int images)
    {
        time = new long[images];
        msb = new long[images];
        lsb = new long[images];
        device = new short[images];
        for (int i = 0; i < images; i++)
        {
            time[i] = (FIRST_DAY + random.nextInt(DAYS)) * DAY + random.nextInt(DAY);
            msb[i] = timeUUID(time[i], i);
            lsb[i] = 0x8000000000000000L | (random.nextLong() >>> 2);
            device[i] = (short) Math.min(random.nextInt(1000), random.nextInt(1000));
        }
    }

    private static void write(String dir, String table, String insert, int[] order, IntFunction<Object[]> row) throws Exception
    {
        new File(dir).mkdirs();
        try (CQLSSTableWriter writer = CQLSSTableWriter.builder().inDirectory(dir).forTable(table).using(insert).sorted().build())
        {
            for (int i : order)
                writer.addRow(row.apply(i));
        }
    }

    private int[] imagesInTokenOrder()
    {
        ByteBuffer key = ByteBuffer.allocate(16);
        long[] tokens = new long[msb.length];
        for (int i = 0; i < msb.length; i++)
            tokens[i] = token(key.clear().putLong(msb[i]).putLong(lsb[i]).flip());
        return inOrder(tokens);
    }

    /** Row i of the index is of image i % images. Rows of a partition may have any order: the writer sorts them. */
    private int[] tagsInTokenOrder(int rows)
    {
        long[] partitions = new long[TAGS.length * DAYS];
        for (int p = 0; p < partitions.length; p++)
            partitions[p] = token(CompositeType.build(ByteBufferAccessor.instance,
                                                      ByteBufferUtil.bytes(TAGS[p / DAYS]), ByteBufferUtil.bytes(date(FIRST_DAY + p % DAYS))));
        long[] tokens = new long[rows];
        for (int i = 0; i < rows; i++)
            tokens[i] = partitions[tagOf(i) * DAYS + (int) (dayOf(i % time.length) - FIRST_DAY)];
        return inOrder(tokens);
    }

    private static long token(ByteBuffer key)
    {
        return (Long) Murmur3Partitioner.instance.getToken(key).getTokenValue();
    }

    private static int[] inOrder(long[] tokens)
    {
        Integer[] order = new Integer[tokens.length];
        for (int i = 0; i < tokens.length; i++)
            order[i] = i;
        Arrays.sort(order, (a, b) -> Long.compare(tokens[a], tokens[b]));
        return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    private Object[] image(int i)
    {
        byte[] hash = new byte[32];
        random.nextBytes(hash);
        int[] size = SIZES[Math.min(4, (int) Math.abs(random.nextGaussian() * 1.5))];
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("device_id", device(i));
        attributes.put("region", "region-" + device[i] % 12);
        attributes.put("fmt", "jpeg");
        if (random.nextInt(4) == 0)
            attributes.put("weather", "rain");
        return new Object[] { id(i), STORE, key(i), "sha256:" + HexFormat.of().formatHex(hash), size[0], size[1],
                              new Date(time[i]), new Date(time[i] + random.nextInt(60000)), attributes };
    }

    private Object[] tag(int row)
    {
        int i = row % time.length;
        return new Object[] { TAGS[tagOf(row)], date(dayOf(i)), new Date(time[i]), id(i), STORE, key(i), device(i) };
    }

    /** The first tag of an image follows from its id, so that it is the same however many there are. */
    private int tagOf(int row)
    {
        Random random = new Random(lsb[row % lsb.length]);
        int first = Math.min(random.nextInt(TAGS.length), random.nextInt(TAGS.length));
        return (first + row / lsb.length * STEP) % TAGS.length;
    }

    private long dayOf(int i) { return time[i] / DAY; }

    private UUID id(int i) { return new UUID(msb[i], lsb[i]); }

    private String device(int i) { return String.format("cam-%04d", device[i]); }

    private String key(int i) { return String.format("raw/%s/2025/%02d/%s.jpg", device(i), dayOf(i) - FIRST_DAY, id(i)); }

    /** A date as Cassandra counts days. */
    private static int date(long day) { return (int) day + Integer.MIN_VALUE; }

    /** The first half of a version 1 UUID of a time in milliseconds. */
    private static long timeUUID(long millis, int sequence)
    {
        long t = (millis + 12219292800000L) * 10000 + sequence % 10000;
        return t << 32 | (t & 0x0000FFFF00000000L) >>> 16 | t >>> 48 & 0x0FFF | 0x1000;
    }
}
