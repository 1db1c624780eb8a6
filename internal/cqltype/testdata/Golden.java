import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.*;
import java.util.function.Function;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.Duration;
import org.apache.cassandra.cql3.FieldIdentifier;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.schema.CQLTypeParser;
import org.apache.cassandra.schema.Types;
import org.apache.cassandra.serializers.CollectionSerializer;
import org.apache.cassandra.serializers.SimpleDateSerializer;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.TimeUUID;

/**
 * Writes values.tsv and types.tsv: what Apache Cassandra's own classes make of values and types. Java 17, with the jars of
 * org.apache.cassandra:cassandra-all:5.0 on the class path: java -cp 'lib/*' Golden.java DIR
 *
 * values.tsv: CQL type, serialized bytes in hex, the value as JSON. The JSON comes from the value that was serialized, never from reading
 * bytes back. Floats and doubles are their IEEE bits in hex, blobs hex, dates and times numbers since 1970 or midnight, varints and decimals
 * toString, maps arrays of pairs.
 */
public class Golden {
    static PrintWriter out;
    static final Random random = new Random(20240229);
    static final UserType address = udt("address", List.of("street", "No", "tags"),
        List.of(UTF8Type.instance, Int32Type.instance, SetType.getInstance(UTF8Type.instance, false)));
    static final UserType nested = udt("My Type", List.of("a b", "home"), List.of(IntegerType.instance, address.freeze()));
    static final UserType order = udt("order", List.of("x"), List.of(Int32Type.instance));
    static final UserType quote = udt("a\"b", List.of("x"), List.of(Int32Type.instance));
    static final Types types = Types.of(address, nested, order, quote);

    /** A value as bytes and as JSON; both null for NULL. */
    record Value(ByteBuffer bytes, String json) {}

    static UserType udt(String name, List<String> fields, List<AbstractType<?>> elems) {
        return new UserType("ks", ByteBufferUtil.bytes(name), fields.stream().map(FieldIdentifier::forQuoted).toList(), elems, true);
    }

    public static void main(String[] args) throws Exception {
        DatabaseDescriptor.clientInitialization();
        out = new PrintWriter(args[0] + "/values.tsv", StandardCharsets.UTF_8);
        natives();
        empties();
        numbers();
        nesting();
        out.close();
        out = new PrintWriter(args[0] + "/types.tsv", StandardCharsets.UTF_8);
        types();
        out.close();
        System.exit(0);
    }

    static void line(String type, Value v) {
        out.println(type + "\t" + ByteBufferUtil.bytesToHex(v.bytes) + "\t" + v.json);
    }

    static <T> Value value(AbstractType<T> type, T v, String json) { return new Value(type.decompose(v), json); }

    @SafeVarargs
    static <T> void all(AbstractType<T> type, Function<T, String> json, T... values) {
        for (T v : values) line(type.asCQL3Type().toString(), value(type, v, json.apply(v)));
    }

    static void natives() throws Exception {
        all(AsciiType.instance, Golden::string, "", "a", "The quick brown fox", "\u0000\u007f");
        all(UTF8Type.instance, Golden::string, "", "a", "leaf_spot", "Blattfleck \u00e4\u00f6\u00fc\u00df", "\u8449\u6591\u75c5", "\ud83c\udf3f\ud83d\udd2c",
            "e\u0301", "\u0000", "line\nbreak \"quoted\" \\", "x".repeat(300));
        all(BytesType.instance, v -> "\"" + ByteBufferUtil.bytesToHex(v) + "\"", ByteBufferUtil.hexToBytes(""), ByteBufferUtil.hexToBytes("00"),
            ByteBufferUtil.hexToBytes("cafebabe"), ByteBufferUtil.hexToBytes("ff".repeat(100)));
        all(BooleanType.instance, v -> v.toString(), true, false);
        line("boolean", new Value(ByteBufferUtil.hexToBytes("02"), "" + BooleanType.instance.compose(ByteBufferUtil.hexToBytes("02"))));
        all(ByteType.instance, v -> v.toString(), Byte.MIN_VALUE, (byte) -1, (byte) 0, (byte) 1, Byte.MAX_VALUE);
        all(ShortType.instance, v -> v.toString(), Short.MIN_VALUE, (short) -1, (short) 0, (short) 258, Short.MAX_VALUE);
        all(Int32Type.instance, v -> v.toString(), Integer.MIN_VALUE, -1, 0, 16909060, Integer.MAX_VALUE);
        all(LongType.instance, v -> v.toString(), Long.MIN_VALUE, -1L, 0L, 72623859790382856L, Long.MAX_VALUE);
        for (long v : new long[]{Long.MIN_VALUE, -7, 0, 42, Long.MAX_VALUE}) line("counter", new Value(ByteBufferUtil.bytes(v), "" + v));
        all(FloatType.instance, v -> string(String.format("%08x", Float.floatToRawIntBits(v))), 0f, -0f, 1.5f, -3.4028235e38f, Float.MIN_VALUE,
            Float.MAX_VALUE, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN, Float.intBitsToFloat(0x7fc00001));
        all(DoubleType.instance, v -> string(String.format("%016x", Double.doubleToRawLongBits(v))), 0d, -0d, Math.PI, -Double.MAX_VALUE,
            Double.MIN_VALUE, Double.MAX_VALUE, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN,
            Double.longBitsToDouble(0xfff8000000000001L));
        for (String s : List.of("1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "2024-02-29T12:34:56.789Z", "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999Z", "+292278994-08-17T07:12:55.807Z", "-292275055-05-16T16:47:04.192Z"))
            line("timestamp", value(TimestampType.instance, new Date(Instant.parse(s).toEpochMilli()), "" + Instant.parse(s).toEpochMilli()));
        for (String s : List.of("1970-01-01", "1969-12-31", "2024-02-29", "0000-01-01", "9999-12-31", "+5881580-07-11", "-5877641-06-23"))
            line("date", date(LocalDate.parse(s).toEpochDay()));
        line("date", value(SimpleDateType.instance, SimpleDateSerializer.dateStringToDays("2024-12-31"), "" + LocalDate.of(2024, 12, 31).toEpochDay()));
        for (String s : List.of("00:00:00", "12:34:56.789", "00:00:00.000000001", "23:59:59.999999999"))
            line("time", value(TimeType.instance, LocalTime.parse(s).toNanoOfDay(), "" + LocalTime.parse(s).toNanoOfDay()));
        all(UUIDType.instance, v -> string(v.toString()), new UUID(0, 0), new UUID(-1, -1), UUID.fromString("123e4567-e89b-42d3-a456-426614174000"));
        for (String s : List.of("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-1000-8080-808080808080", "ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f"))
            line("timeuuid", value(TimeUUIDType.instance, TimeUUID.fromString(s), string(s)));
        for (String s : List.of("0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::ff00:42:8329", "fe80::1:0:0:1",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
            line("inet", value(InetAddressType.instance, InetAddress.getByName(s), string(s)));
        line("inet", new Value(ByteBufferUtil.hexToBytes("00000000000000000000ffffc0000201"), string("::ffff:192.0.2.1")));
        all(DurationType.instance, Golden::duration, Duration.newInstance(0, 0, 0), Duration.newInstance(1, 2, 3), Duration.newInstance(-1, -2, -3),
            Duration.newInstance(14, 0, 3_600_000_000_000L), Duration.newInstance(0, 63, 64), Duration.newInstance(0, -64, -65),
            Duration.newInstance(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE),
            Duration.newInstance(Integer.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE));
        for (long v = 1; v > 0; v <<= 7) // vints of every length
            all(DurationType.instance, Golden::duration, Duration.newInstance(0, 0, v - 1), Duration.newInstance(0, 0, v), Duration.newInstance(0, 0, -v));
    }

    /** Values of no bytes: the server shows those as null that it calls meaningless, and others only where no reader could differ. */
    static void empties() {
        for (AbstractType<?> t : List.of(AsciiType.instance, UTF8Type.instance, BytesType.instance, BooleanType.instance, Int32Type.instance,
            LongType.instance, FloatType.instance, DoubleType.instance, TimestampType.instance, UUIDType.instance, TimeUUIDType.instance,
            InetAddressType.instance, IntegerType.instance, DecimalType.instance, CounterColumnType.instance))
            line(t.asCQL3Type().toString(), new Value(ByteBufferUtil.EMPTY_BYTE_BUFFER, t.isEmptyValueMeaningless() ? "null" : "\"\""));
    }

    static void numbers() {
        for (String s : List.of("0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "9999999999999999999",
            "10000000000000000000", "99999999999999999999999999999999999999", "100000000000000000000000000000000000000",
            "-100000000000000000000000000000000000000", "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
            "170141183460469231731687303715884105728", "-170141183460469231731687303715884105729"))
            varint(new BigInteger(s));
        varint(BigInteger.TEN.pow(200).negate());
        for (int bytes = 1; bytes <= 20; bytes++) {
            BigInteger lowest = BigInteger.ONE.shiftLeft(8 * bytes - 1).negate();
            varint(lowest);
            varint(lowest.not());
            varint(lowest.add(BigInteger.valueOf(random.nextInt(128))));
            for (int i = 0; i < 4; i++) varint(integer(bytes));
        }
        for (String s : List.of("0", "0.0", "0.000000", "0E-7", "0E+3", "1", "-1", "1.0", "1.00", "123.45", "-123.45", "0.5", "-0.001", "0.000001",
            "0.0000001", "1E+400", "-1E-400", "1.5E+10", "1234567890123456789012345678901234567890.123456789", "9.999E-6", "9.999E-7", "100E+2",
            "1E+2147483647", "1E-2147483647", "-12345678901234567890E-2147483640", "12E+2147483647", "0E-2147483647"))
            decimal(new BigDecimal(s));
        decimal(new BigDecimal(BigInteger.TWO, Integer.MIN_VALUE));
        decimal(new BigDecimal(BigInteger.valueOf(-22), Integer.MAX_VALUE));
        for (int i = 0; i < 200; i++) decimal(new BigDecimal(integer(1 + random.nextInt(20)), random.nextInt(60) - 15));
    }

    static BigInteger integer(int bytes) { return new BigInteger(8 * bytes, random).subtract(BigInteger.ONE.shiftLeft(8 * bytes - 1)); }

    static void varint(BigInteger v) { line("varint", value(IntegerType.instance, v, string(v.toString()))); }

    static void decimal(BigDecimal v) { line("decimal", value(DecimalType.instance, v, string(v.toString()))); }

    static Value date(long day) { return value(SimpleDateType.instance, (int) (day + (1L << 31)), "" + day); }

    static String duration(Duration d) {
        return "{\"months\":" + d.getMonths() + ",\"days\":" + d.getDays() + ",\"nanoseconds\":" + d.getNanoseconds() + "}";
    }

    static String string(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray())
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c == 0x7f) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        return b.append('"').toString();
    }

    static void nesting() throws Exception {
        for (String s : List.of("list<int>", "set<text>", "map<text, text>", "map<int, blob>", "frozen<tuple<int, text, timestamp>>", "frozen<address>",
            "frozen<\"My Type\">", "vector<float, 3>", "vector<smallint, 2>", "vector<text, 2>", "vector<vector<int, 2>, 2>",
            "vector<vector<text, 2>, 3>", "vector<frozen<list<int>>, 2>", "vector<frozen<tuple<int, text>>, 2>", "vector<frozen<map<int, text>>, 2>",
            "vector<frozen<address>, 2>", "vector<boolean, 9>", "vector<decimal, 2>", "vector<duration, 2>", "list<frozen<vector<timestamp, 2>>>",
            "list<frozen<list<frozen<list<int>>>>>", "map<frozen<tuple<int, text>>, frozen<map<uuid, frozen<set<varint>>>>>",
            "map<frozen<vector<int, 2>>, frozen<\"My Type\">>", "frozen<tuple<frozen<tuple<frozen<address>, duration>>, frozen<list<decimal>>>>",
            "list<duration>", "set<inet>", "map<date, time>", "map<timeuuid, double>", "set<frozen<tuple<boolean>>>", "map<bigint, tinyint>"))
            for (int i = 0; i < 12; i++) {
                AbstractType<?> t = CQLTypeParser.parse("ks", s, types);
                Value v = compose(t, i);
                ((AbstractType<Object>) t).validate(v.bytes);
                line(s, v);
            }
        // A tuple and a UDT written before fields were added.
        line("frozen<tuple<int, text, timestamp>>", new Value(TupleType.buildValue(Int32Type.instance.decompose(7)), "{\"0\":7,\"1\":null,\"2\":null}"));
        line("frozen<address>", new Value(TupleType.buildValue(UTF8Type.instance.decompose("x"), null), "{\"street\":\"x\",\"No\":null,\"tags\":null}"));
        line("list<int>", new Value(CollectionSerializer.pack(Arrays.asList(Int32Type.instance.decompose(1), null), 2), "[1,null]"));
    }

    /** A random value of t of at most n elements in each collection. */
    static Value compose(AbstractType<?> t, int n) throws Exception {
        if (t instanceof UserType || t instanceof TupleType) {
            TupleType tt = (TupleType) t;
            List<ByteBuffer> parts = new ArrayList<>();
            StringJoiner json = new StringJoiner(",", "{", "}");
            for (int i = 0; i < tt.size(); i++) {
                Value v = random.nextInt(4) == 0 ? new Value(null, "null") : compose(tt.type(i), n);
                parts.add(v.bytes);
                json.add(string(t instanceof UserType u ? u.fieldNameAsString(i) : "" + i) + ":" + v.json);
            }
            return new Value(TupleType.buildValue(parts.toArray(new ByteBuffer[0])), json.toString());
        }
        if (t instanceof VectorType<?> vt) {
            List<ByteBuffer> parts = new ArrayList<>();
            StringJoiner json = new StringJoiner(",", "[", "]");
            for (int i = 0; i < vt.dimension; i++) {
                Value v = compose(vt.elementType, n);
                parts.add(v.bytes);
                json.add(v.json);
            }
            return new Value(vt.decomposeRaw(parts), json.toString());
        }
        if (t instanceof CollectionType<?> ct) {
            boolean map = t instanceof MapType;
            AbstractType<?> key = map || t instanceof SetType ? ct.nameComparator() : ct.valueComparator();
            TreeMap<ByteBuffer, Value[]> sorted = new TreeMap<>(key);
            List<Value[]> entries = new ArrayList<>();
            for (int i = n == 0 ? 0 : random.nextInt(n) / 2 + 1; i > 0; i--) {
                Value k = compose(key, n / 2), v = map ? compose(ct.valueComparator(), n / 2) : null;
                entries.add(new Value[]{k, v});
                sorted.put(k.bytes, new Value[]{k, v});
            }
            if (!(t instanceof ListType)) entries = new ArrayList<>(sorted.values());
            List<ByteBuffer> parts = new ArrayList<>();
            StringJoiner json = new StringJoiner(",", "[", "]");
            for (Value[] e : entries) {
                parts.add(e[0].bytes);
                if (map) parts.add(e[1].bytes);
                json.add(map ? "[" + e[0].json + "," + e[1].json + "]" : e[0].json);
            }
            return new Value(CollectionSerializer.pack(parts, entries.size()), json.toString());
        }
        if (t == UTF8Type.instance) {
            String s = List.of("", "a", "gr\u00fcn", "\u8449", "\ud83c\udf3f").get(random.nextInt(5)) + (random.nextBoolean() ? "" : random.nextInt(1000));
            return value(UTF8Type.instance, s, string(s));
        }
        if (t == BytesType.instance) {
            byte[] b = new byte[random.nextInt(5)];
            random.nextBytes(b);
            return new Value(ByteBuffer.wrap(b), string(ByteBufferUtil.bytesToHex(ByteBuffer.wrap(b))));
        }
        if (t == BooleanType.instance) { boolean v = random.nextBoolean(); return value(BooleanType.instance, v, "" + v); }
        if (t == ByteType.instance) { byte v = (byte) random.nextInt(); return value(ByteType.instance, v, "" + v); }
        if (t == ShortType.instance) { short v = (short) random.nextInt(); return value(ShortType.instance, v, "" + v); }
        if (t == Int32Type.instance) { int v = random.nextInt(); return value(Int32Type.instance, v, "" + v); }
        if (t == LongType.instance) { long v = random.nextLong(); return value(LongType.instance, v, "" + v); }
        if (t == TimestampType.instance) { long v = random.nextLong(); return value(TimestampType.instance, new Date(v), "" + v); }
        if (t == TimeType.instance) { long v = random.nextLong(86_400_000_000_000L); return value(TimeType.instance, v, "" + v); }
        if (t == SimpleDateType.instance) return date(random.nextInt());
        if (t == FloatType.instance) {
            float v = (float) random.nextGaussian();
            return value(FloatType.instance, v, string(String.format("%08x", Float.floatToRawIntBits(v))));
        }
        if (t == DoubleType.instance) {
            double v = random.nextGaussian();
            return value(DoubleType.instance, v, string(String.format("%016x", Double.doubleToRawLongBits(v))));
        }
        if (t == IntegerType.instance) { BigInteger v = integer(1 + random.nextInt(18)); return value(IntegerType.instance, v, string(v.toString())); }
        if (t == DecimalType.instance) {
            BigDecimal v = new BigDecimal(integer(1 + random.nextInt(18)), random.nextInt(40) - 10);
            return value(DecimalType.instance, v, string(v.toString()));
        }
        if (t == UUIDType.instance) {
            UUID v = new UUID(random.nextLong() & ~0xf000L | 0x4000L, random.nextLong() & ~(3L << 62) | 2L << 62);
            return value(UUIDType.instance, v, string(v.toString()));
        }
        if (t == TimeUUIDType.instance) {
            UUID v = new UUID(random.nextLong() & ~0xf000L | 0x1000L, random.nextLong() & ~(3L << 62) | 2L << 62);
            return value(TimeUUIDType.instance, TimeUUID.fromUuid(v), string(v.toString()));
        }
        if (t == InetAddressType.instance) {
            InetAddress v = InetAddress.getByAddress(new byte[]{10, (byte) random.nextInt(), (byte) random.nextInt(), 1});
            return value(InetAddressType.instance, v, string(v.getHostAddress()));
        }
        if (t == DurationType.instance) {
            int sign = random.nextBoolean() ? 1 : -1;
            Duration v = Duration.newInstance(sign * random.nextInt(1000), sign * random.nextInt(1000), sign * random.nextLong(1L << 40));
            return value(DurationType.instance, v, duration(v));
        }
        throw new IllegalArgumentException(t.toString());
    }

    /** types.tsv: text as a user may write it, the server's text, its class string, the fixed length of values (-1 if they vary). */
    static void types() {
        for (String s : List.of("ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float", "inet", "int",
            "smallint", "text", "time", "timestamp", "timeuuid", "tinyint", "uuid", "varchar", "varint", "list<int>", "SET < Text >", "map<text,text>",
            "frozen<list<int>>", "frozen<list<list<int>>>", "list<frozen<list<int>>>", "map<text,frozen<set<int>>>", "tuple<int,text>",
            "frozen<tuple<int,tuple<text,list<int>>>>", "list<tuple<int>>", "list<frozen<tuple<int>>>", "vector<float,3>", "frozen<vector<float,3>>",
            "vector<boolean,9>", "vector<frozen<list<int>>,2>", "vector<vector<text,2>,2>", "vector<vector<int,2>,3>", "list<vector<float,3>>",
            "vector<tuple<int,text>,2>", "tuple<vector<float,2>,list<int>>", "vector<smallint,2>", "vector<timestamp,2>", "vector<uuid,2>", "address",
            "frozen<address>", "list<frozen<address>>", "frozen<list<address>>", "frozen<\"My Type\">", "\"My Type\"", "frozen<\"a\"\"b\">",
            "frozen<\"order\">", "vector<frozen<address>,2>", "frozen<map<frozen<address>,frozen<\"My Type\">>>", "frozen<frozen<list<int>>>",
            "FROZEN<List<INT>>", "map<timeuuid,frozen<map<varchar,frozen<tuple<inet,frozen<\"My Type\">>>>>>")) {
            AbstractType<?> t = CQLTypeParser.parse("ks", s, types);
            out.println(s + "\t" + t.asCQL3Type() + "\t" + t + "\t" + t.valueLengthIfFixed());
        }
    }
}
